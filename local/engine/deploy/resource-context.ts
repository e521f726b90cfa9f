import type { ResourceState } from "../../../stack/state/resource-state.ts";
import type { Registration } from "../hosts/registration.ts";
import type { Execution } from "./execution.ts";
import type { Providers } from "./providers.ts";

/** The knowledge of other resources that a decision about one needs. */
export interface ResourceContext {
  readonly execution: Execution;
  readonly providers: Providers;
  /** The resources in state when the program starts, in order. */
  readonly base: readonly ResourceState[];
  /**
   * Lets the policies look at a resource before anything is done with it. They may change its inputs; where a mandatory
   * one is violated the run stops. Undefined where there are none.
   */
  readonly review:
    | ((now: ResourceState, registration: Pick<Registration, "deleteBeforeReplace">) => Promise<void>)
    | undefined;
  readonly operated: Set<string>;
  readonly replaced: Set<string>;
  /**
   * Deleted ahead of their own registration, because something that they need is deleted before it is replaced. By URN,
   * with the keys that made the replacement necessary.
   */
  readonly deletedEarly: Map<string, readonly string[]>;
}
