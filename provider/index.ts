/**
 * The entry of programs: rules as Pulumi resources, and functions that read rules.
 *
 * @module pulumi-merchant-rules
 */
import "./resources/front-door.ts";

export { type ErrorCode, isMerchantRulesError, MerchantRulesError } from "../sdk/errors.ts";
export type { Json, JsonObject } from "../sdk/json/json.ts";
export type { Connection } from "./resources/connection.ts";
export {
  type GetMerchantRuleArgs,
  getMerchantRule,
  getMerchantRuleOutput,
  type ListMerchantRulesArgs,
  type LiveMerchantRule,
  listMerchantRules,
  listMerchantRulesOutput,
} from "./resources/data.ts";
export { type LoadRulesOptions, loadRules } from "./resources/load-rules.ts";
export {
  type DefinitionInput,
  type JsonInput,
  type JsonInputs,
  MerchantRule,
  type MerchantRuleArgs,
} from "./resources/merchant-rule.ts";
export { MerchantRuleSet, type MerchantRuleSetArgs } from "./resources/merchant-rule-set.ts";
export { Provider, type ProviderArgs } from "./resources/provider.ts";
export { ruleTexts } from "./resources/rule-texts.ts";
