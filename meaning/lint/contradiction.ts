import type { Condition } from "../language/normal-form.ts";

/**
 * The parts of a condition that contradict each other: as few of those that must all hold as are enough.
 * @param isNever whether a condition never holds; it must be true of the whole
 */
export function contradictionOf(
  condition: Condition,
  isNever: (condition: Condition) => boolean,
): readonly Condition[] {
  let kept = conjunctsOf(condition);
  for (const part of [...kept]) {
    const others = kept.filter((each) => each !== part);
    if (isNever({ kind: "all", at: condition.at, of: others })) kept = others;
  }
  return kept;
}

/** The conditions that must all hold, through groups that say so. */
function conjunctsOf(condition: Condition): readonly Condition[] {
  return condition.kind === "all" ? condition.of.flatMap(conjunctsOf) : [condition];
}
