export { controlApp, controlPath } from "./control.ts";
export { type CountedFault, Faults, type InjectedFault, type LocalFaults } from "./faults.ts";
export type { HeldRequest } from "./holds.ts";
export type { Fault, FaultInput, FaultKind } from "./schema.ts";
export type { Reply, Visit } from "./visit.ts";
