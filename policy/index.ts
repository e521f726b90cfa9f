/**
 * Imports for a policy pack of your own: the policies of this package, and the parts to write others.
 *
 * @module pulumi-merchant-rules/policy
 */
export { definitionsOf, type Path, type Pointer } from "../sdk/json/index.ts";
export { type AnalyzedResource, AnalyzedRule as DeclaredRule, declaresRules, rulesOf } from "./base/analyzed-rule.ts";
export type { PlacedValue } from "./base/places.ts";
export { type PolicyFinding as Finding, type RuleFinding, rulePolicy, stackPolicy } from "./base/rule-policy.ts";
export { secretValues } from "./base/secrets.ts";
export { policies } from "./policies.ts";
