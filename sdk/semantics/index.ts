export { evaluate } from "./evaluate.ts";
export { defineSemantics, loadSemantics, parseSemantics } from "./load.ts";
export { Payment } from "./payment.ts";
export { readRules, valueListsOf } from "./read-rule.ts";
export type { Semantics, SemanticsInput } from "./schema.ts";
