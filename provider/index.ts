export type { Json, JsonObject } from "../sdk/rules/json.ts";
export { type DefinitionInput, MerchantRule, type MerchantRuleArgs } from "./merchant-rule.ts";
export { MerchantRuleSet, type MerchantRuleSetArgs } from "./merchant-rule-set.ts";
