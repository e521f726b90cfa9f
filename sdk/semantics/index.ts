export type { Decision } from "./decide.ts";
export { Decider } from "./decider/decider.ts";
export { evaluate } from "./evaluate.ts";
export { defineSemantics, loadSemantics, parseSemantics } from "./load.ts";
export { parsePayment } from "./parse-payment.ts";
export { Payment } from "./payment.ts";
export { readRules, type ValueList, valueListsOf } from "./read-rule.ts";
export type { Semantics, SemanticsInput } from "./schema.ts";
export { readValueLists } from "./value-lists.ts";
