import type { Condition } from "../language/normal-form.ts";

/**
 * Returns the parts of a condition that contradict each other: of those that must all hold, none that the contradiction does not need.
 * @param isNever says whether a condition never holds; it must be true of the whole
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

/** Returns the conditions that must all hold, also those inside nested groups of the kind `all`. */
function conjunctsOf(condition: Condition): readonly Condition[] {
  return condition.kind === "all" ? condition.of.flatMap(conjunctsOf) : [condition];
}
