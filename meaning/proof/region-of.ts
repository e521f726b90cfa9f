import { isPossible, not, type Verdict, verdictOfUndecided, yes } from "../evaluate/verdict.ts";
import type { Condition, Rule } from "../language/normal-form.ts";
import { type Box, everything, intersection } from "./box.ts";
import { type Case, casesOfBound, casesOfComparison } from "./cases.ts";
import type { Space } from "./space.ts";

/**
 * How sure it must be that a rule applies. `certain`: it applies. `told`: it applies, or that is unknown although every value that counts
 * is there and has its type. `possible`: it applies, or that is unknown for whatever reason. Each includes the one before.
 */
export type Certainty = "certain" | "told" | "possible";

/** A rule with more boxes is not examined. */
export const mostBoxes = 256;

/**
 * Returns the payments to which a rule applies, exactly as `evaluate` decides, with opaque comparisons as variables of their own. The rule
 * applies to no payment outside the boxes; inside them there may be states that no payment has.
 * @returns undefined where it would have more than {@link mostBoxes} boxes
 */
export function regionOf(
  { when, force }: Pick<Rule, "when" | "force">,
  certainty: Certainty,
  space: Space,
): readonly Box[] | undefined {
  if (!force.isEnabled) return [];
  const counts = countsBy(certainty, verdictOfUndecided(space.semantics));
  const bounds = (["from", "until"] as const).flatMap((side) => {
    const bound = force[side];
    return bound === undefined ? [] : [boxesOf(casesOfBound(bound, side, space), false, counts, space)];
  });
  const conditions = regionOfCondition(when, false, counts, space);
  return conditions && product([...bounds, conditions], space);
}

/** Returns the payments for which a condition is true, as {@link regionOf} does. */
function regionOfCondition(
  condition: Condition,
  isFlipped: boolean,
  counts: Counts,
  space: Space,
): readonly Box[] | undefined {
  switch (condition.kind) {
    case "always":
    case "never":
      return (condition.kind === "always") === isFlipped ? [] : [everything];
    case "not":
      return regionOfCondition(condition.of, !isFlipped, counts, space);
    case "comparison":
      return boxesOf(casesOfComparison(condition, space), isFlipped, counts, space);
    case "all":
    case "any": {
      const parts: (readonly Box[])[] = [];
      for (const each of condition.of) {
        const part = regionOfCondition(each, isFlipped, counts, space);
        if (part === undefined) return undefined;
        parts.push(part);
      }
      if ((condition.kind === "all") !== isFlipped) return product(parts, space);
      const all = space.union(parts.flat());
      return all.length > mostBoxes ? undefined : all;
    }
  }
}

/** Returns whether a case in which a comparison has a verdict counts. */
type Counts = (verdict: Verdict, isCompared: boolean) => boolean;

function countsBy(certainty: Certainty, undecidedIs: Verdict): Counts {
  if (certainty === "certain") return (verdict) => verdict === yes;
  if (certainty === "possible") return (verdict) => isPossible(verdict, undecidedIs);
  return (verdict, isCompared) => verdict === yes || (isCompared && (verdict & yes) !== 0);
}

function boxesOf(cases: readonly Case[], isFlipped: boolean, counts: Counts, space: Space): readonly Box[] {
  return space.union(
    cases
      .filter(({ verdict, isCompared }) => counts(isFlipped ? not(verdict) : verdict, isCompared))
      .map(({ box }) => box),
  );
}

/** Returns the payments that are in at least one box of each part; undefined where these are too many boxes. */
function product(parts: readonly (readonly Box[])[], space: Space): readonly Box[] | undefined {
  let boxes: readonly Box[] = [everything];
  // Parts of few boxes first: they may leave little of the others.
  for (const part of [...parts].sort((one, other) => one.length - other.length)) {
    boxes = space.union(boxes.flatMap((box) => part.flatMap((other) => intersection(box, other) ?? [])));
    if (boxes.length > mostBoxes) return undefined;
  }
  return boxes;
}
