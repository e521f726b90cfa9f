export type { ChangeSummary, RunEvent, Step, StepOp } from "./deploy/step.ts";
export { EngineError, type EngineErrorCode } from "./errors.ts";
export { readExport, readStack, type StackChoice, type StoredStackView } from "./read-stack.ts";
export { exitCodeOf, type RunOptions, type RunResult, runEngine, type Verb } from "./run.ts";
export type { ResourceState } from "./state/resource-state.ts";
export { unsupported, unsupportedTable } from "./unsupported.ts";
export type { DetailedDiff, DiffKind, PropertyDiff } from "./values/diff.ts";
export { type PropertyMap, type PropertyValue, Secret, Unknown } from "./values/value.ts";
