import type { OperationType, ResourceState } from "./resource-state.ts";

/**
 * One thing that happened to the state. Resources are named by handles: a resource of the state file that the run began
 * with by its position in it, a later one by the number that its first entry gives it. What begins with a resource that is known by its
 * handle need not repeat it.
 */
export type JournalEntry =
  | readonly ["begin", handle: number, type: OperationType, resource?: ResourceState]
  | readonly ["put", handle: number, resource: ResourceState]
  | readonly ["end" | "same" | "drop", handle: number]
  /** The create that an earlier run left open. */
  | readonly ["settled", urn: string];

/** The resources of a state file that was written in the course of a journal, by its handles. */
export interface Position {
  /** The handles of the file's resources, in its order; the run has come to the first `touched` of them. */
  readonly order: readonly number[];
  readonly touched: number;
  /** The handles of the first pending operations in the file: those of this run. */
  readonly running: readonly number[];
}
