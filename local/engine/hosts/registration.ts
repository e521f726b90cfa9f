import type { Alias } from "@pulumi/pulumi/proto/alias_pb.js";
import type { ResourceState } from "../../stack/state/resource-state.ts";
import type { PropertyMap } from "../../stack/values/value.ts";

/** What a registration says that is then in state as it is. */
type Kept =
  | "type"
  | "parent"
  | "custom"
  | "inputs"
  | "dependencies"
  | "propertyDependencies"
  | "ignoreChanges"
  | "replaceOnChanges"
  | "additionalSecretOutputs"
  | "customTimeouts"
  | "sourcePosition";

/** What a program says about one resource. */
export interface Registration extends Readonly<Pick<ResourceState, Kept>> {
  readonly name: string;
  readonly aliases: readonly Alias[];
  /** Undefined inherits from the parent. */
  readonly protect: boolean | undefined;
  readonly retainOnDelete: boolean | undefined;
  /** Undefined leaves the choice to the provider. */
  readonly deleteBeforeReplace: boolean | undefined;
  /** Empty inherits from the parent. */
  readonly deletedWith: string;
}

/** What the program gets back. */
export interface Registered {
  readonly urn: string;
  readonly id: string;
  readonly outputs: PropertyMap;
}

export type Severity = "debug" | "info" | "warning" | "error";

/** What the server asks of the run. */
export interface MonitorHandler {
  register(registration: Registration): Promise<Registered>;
  registerOutputs(urn: string, outputs: PropertyMap): Promise<void>;
  /** The program has come to its end. */
  programDone(): void;
  /** A request that cannot be served fails the run; gives the error for the program. */
  fail(error: unknown): Error;
}
