export type { Decision } from "./decide.ts";
export {
  type ConditionTrace,
  type EvaluateOptions,
  type Evaluation,
  evaluate,
  type RuleTrace,
} from "./evaluate.ts";
export { defineSemantics, loadSemantics, parseSemantics } from "./load.ts";
export type { Bound, Comparison, Condition, Force, Operand, Rule, RuleReading, Unreadable } from "./normal-form.ts";
export { Payment } from "./payment.ts";
export { type ReadOptions, readRules, valueListsOf } from "./read-rule.ts";
export { type Semantics, type SemanticsInput, semanticsSchema } from "./schema.ts";
export type { Answer } from "./verdict.ts";
