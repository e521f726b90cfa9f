import type { Semantics } from "../language/schema.ts";
import type { Missing } from "../language/schema-payment.ts";

/**
 * The possible results of a condition, as a set: true, false, and the service's own "undecided". A set of several is unknown: the
 * semantics do not say which. So "undecided by the service" and "unknown" stay apart, and every step is exact.
 */
export type Verdict = number;

export const yes = 1;
export const no = 2;
/** The service's own third value, which a missing field gives. */
export const undecided = 4;
/** Any result is possible. */
export const anything = yes | no | undecided;

export function verdictOf(is: boolean): Verdict {
  return is ? yes : no;
}

export function not(verdict: Verdict): Verdict {
  return ((verdict & yes) << 1) | ((verdict & no) >> 1) | (verdict & undecided);
}

/** Joins verdicts by Kleene's and: false where one is false, else undecided where one is undecided, else true. */
export function all(verdicts: readonly Verdict[]): Verdict {
  return verdicts.reduce(both, yes);
}

/** Joins verdicts by Kleene's or: true where one is true, else undecided where one is undecided, else false. */
export function any(verdicts: readonly Verdict[]): Verdict {
  return not(all(verdicts.map(not)));
}

function both(one: Verdict, other: Verdict): Verdict {
  const canBeTrue = one & other & yes;
  const canBeFalse = (one | other) & no;
  const canBeUndecided =
    ((one & undecided) !== 0 && (other & ~no) !== 0) || ((other & undecided) !== 0 && (one & ~no) !== 0);
  return canBeTrue | canBeFalse | (canBeUndecided ? undecided : 0);
}

/** Returns the verdict on a comparison whose field is missing and has no value by the semantics. */
export function verdictOfMissing(missing: Missing): Verdict {
  return missing === "comparisonFalse" ? no : undecided;
}

/** Returns what an undecided rule is to the service: `no`, or both `yes` and `no` where that is unknown. */
export function verdictOfUndecided({ undecidedRule }: Semantics): Verdict {
  return undecidedRule === "noMatch" ? no : yes | no;
}

/** Returns whether a condition with this verdict may make its rule apply. */
export function isPossible(verdict: Verdict, undecidedIs: Verdict): boolean {
  return (verdict & yes) !== 0 || ((verdict & undecided) !== 0 && (undecidedIs & yes) !== 0);
}

/** Returns a verdict of yes, no, or both where it is unknown: undecided becomes `undecidedIs`, which is what the service makes of it. */
export function settled(verdict: Verdict, undecidedIs: Verdict): Verdict {
  return (verdict & undecided) === 0 ? verdict : (verdict & ~undecided) | undecidedIs;
}

export type TruthValue = "true" | "false" | "unknown";

export function truthOf(verdict: Verdict): TruthValue {
  if (verdict === yes) return "true";
  return verdict === no ? "false" : "unknown";
}
