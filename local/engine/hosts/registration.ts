import type { Alias } from "@pulumi/pulumi/proto/alias_pb.js";
import type { ResourceState } from "../../../stack/state/resource-state.ts";
import type { PropertyMap } from "../../../stack/values/value.ts";

/** The fields of a registration that go into the state as they are. */
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

/** A program's declaration of one resource. */
export interface Registration extends Readonly<Pick<ResourceState, Kept>> {
  readonly name: string;
  /** `<urn>::<id>` of an explicit provider. Empty is the default one. */
  readonly provider: string;
  readonly aliases: readonly Alias[];
  /** Undefined inherits from the parent. */
  readonly protect: boolean | undefined;
  readonly retainOnDelete: boolean | undefined;
  /** Undefined leaves the choice to the provider. */
  readonly deleteBeforeReplace: boolean | undefined;
  /** Empty inherits from the parent. */
  readonly deletedWith: string;
}

/** The response to the program. */
export interface Registered {
  readonly urn: string;
  readonly id: string;
  readonly outputs: PropertyMap;
  /** True where it is not there and is not created in this run: nothing about it is known. */
  readonly isUnknown?: true;
}

export type Severity = "debug" | "info" | "warning" | "error";

/** The run, as the server calls it. */
export interface MonitorHandler {
  register(registration: Registration): Promise<Registered>;
  registerOutputs(urn: string, outputs: PropertyMap): Promise<void>;
  /** Hears that the program has come to its end. */
  programDone(): void;
  /** Fails the run, as a request cannot be served; gives the error for the program. */
  fail(error: unknown): Error;
}
