/**
 * The entry of programs: rules as Pulumi resources, and functions that read rules.
 *
 * @module pulumi-merchant-rules
 */
import "./front-door.ts";

export { type ErrorCode, isMerchantRulesError, MerchantRulesError } from "../sdk/errors.ts";
export type { Json, JsonObject } from "../sdk/rules/json.ts";
export type { Connection } from "./connection.ts";
export {
  type GetMerchantRuleArgs,
  getMerchantRule,
  getMerchantRuleOutput,
  type ListMerchantRulesArgs,
  type LiveMerchantRule,
  listMerchantRules,
  listMerchantRulesOutput,
} from "./data.ts";
export { type LoadRulesOptions, loadRules } from "./load-rules.ts";
export {
  type DefinitionInput,
  type JsonInput,
  type JsonInputs,
  MerchantRule,
  type MerchantRuleArgs,
} from "./merchant-rule.ts";
export { MerchantRuleSet, type MerchantRuleSetArgs } from "./merchant-rule-set.ts";
export { Provider, type ProviderArgs } from "./provider.ts";
export { ruleTexts } from "./rule-texts.ts";
