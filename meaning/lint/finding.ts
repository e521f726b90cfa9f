import type { Condition } from "../language/normal-form.ts";
import type { Witness } from "../proof/witness.ts";

/** What can be wrong with a rule. */
export type LintKind =
  | "never-matches"
  | "ended"
  | "shadowed"
  | "duplicate"
  | "order-conflict"
  | "catch-all"
  | "ends-soon";

/** One fault that is proven. Rules are meant by their index. */
export interface LintFinding {
  readonly kind: LintKind;
  readonly rule: number;
  /** The other rules concerned: those before it, the one like it, the ones of the same number. */
  readonly others: readonly number[];
  /** A payment that shows it, by the evaluator. Undefined of a rule that never matches. */
  readonly witness: Witness | undefined;
  /** never-matches: the conditions that contradict each other, as few as possible; none where the time of force has no instant. */
  readonly because: readonly Condition[];
  /** Fields that a payment needs so that the semantics say whether the rule applies to it. */
  readonly untold: readonly string[];
}

export interface LintResult {
  readonly findings: readonly LintFinding[];
  /** Rules that were read and not examined for every fault, and the rest of a sentence that says why. */
  readonly notExamined: readonly { readonly rule: number; readonly why: string }[];
  /** Rules that are not enabled, and take no part. */
  readonly disabled: readonly number[];
}
