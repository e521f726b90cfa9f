/**
 * The rules service without Pulumi: contracts, a client, errors.
 *
 * @module pulumi-merchant-rules/sdk
 */
export {
  type CallOptions,
  type Connection,
  type CreatedRule,
  type CreateOptions,
  type Credentials,
  type ListOptions,
  type LiveRule,
  RulesClient,
  type RulesClientOptions,
  type UpdateOptions,
} from "./client/index.ts";
export {
  type Contract,
  type ContractInput,
  type ContractUse,
  contractFileNames,
  defineContract,
  isPreset,
  loadContract,
  loadPreset,
  type Preset,
  parseContract,
  presetFile,
  presets,
} from "./contract/index.ts";
export {
  type ErrorCode,
  type Exchange,
  errorCodes,
  isMerchantRulesError,
  type Meaning,
  MerchantRulesError,
  type MerchantRulesErrorContext,
  type MerchantRulesErrorOptions,
} from "./errors.ts";
export { type ExactNumber, isExactNumber, type Json, type JsonObject } from "./json/index.ts";
