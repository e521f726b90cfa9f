export type { ContractUse } from "./consistency.ts";
export { type DefinitionFault, definitionChecker } from "./definition-schema.ts";
export {
  contractFileIn,
  contractFileNames,
  contractLikeFilesIn,
  defineContract,
  isPreset,
  loadContract,
  loadPreset,
  type Preset,
  parseContract,
  parseContractOnce,
  presetFile,
  presets,
  semanticsFile,
  shippedSemantics,
} from "./load.ts";
export { type ByKind, byKind, type Pagination, pagingOf } from "./pagination/kinds.ts";
export type {
  Address,
  PageQuery,
  PageResponse,
  Paging,
} from "./pagination/paging.ts";
export {
  type Contract,
  type ContractInput,
  contractSchema,
  drivenFields,
  type IdentifyBy,
  identityOperation,
  idPointers,
  type Operations,
  sentByUpdate,
  servicePointers,
  type Transition,
  withoutDriven,
} from "./schema.ts";
export { expand, namesIn, presentsClient } from "./template.ts";
