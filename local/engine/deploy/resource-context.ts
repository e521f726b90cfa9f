import type { ProviderHost } from "../hosts/provider-host.ts";
import type { ResourceState } from "../state/resource-state.ts";
import type { Execution } from "./execution.ts";

/** What deciding about one resource needs to know of the others. */
export interface ResourceContext {
  readonly execution: Execution;
  readonly provider: ProviderHost;
  readonly base: readonly ResourceState[];
  readonly seen: ReadonlySet<string>;
  readonly operated: Set<string>;
  readonly replaced: Set<string>;
  /** By URN, with the keys that made the replacement necessary. */
  readonly deletedEarly: Map<string, readonly string[]>;
  settleSame(old: ResourceState, now: ResourceState): void;
}
