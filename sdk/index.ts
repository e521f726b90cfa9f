export {
  type CallOptions,
  type Connection,
  type Credentials,
  type LiveRule,
  RulesClient,
  type RulesClientOptions,
  type UpdateOptions,
} from "./client/index.ts";
export {
  type Contract,
  type ContractInput,
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
  isMerchantRulesError,
  MerchantRulesError,
  type MerchantRulesErrorOptions,
} from "./errors.ts";
export type { Json, JsonObject } from "./rules/index.ts";
