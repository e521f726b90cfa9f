import type { ResourceState } from "../state/resource-state.ts";
import type { PropertyMap } from "../values/value.ts";

/** An alias of a resource: a whole URN, or what of its identity was different. */
export type Alias =
  | { readonly urn: string }
  | {
      readonly name: string;
      readonly type: string;
      readonly stack: string;
      readonly project: string;
      /** Undefined leaves the parent as it is. */
      readonly parent: string | undefined;
      readonly noParent: boolean;
    };

/** What a program says about one resource. */
export interface Registration {
  readonly type: string;
  readonly name: string;
  readonly parent: string;
  readonly custom: boolean;
  readonly inputs: PropertyMap;
  readonly dependencies: readonly string[];
  readonly propertyDependencies: { readonly [property: string]: readonly string[] };
  readonly aliases: readonly Alias[];
  /** Undefined inherits from the parent. */
  readonly protect: boolean | undefined;
  readonly retainOnDelete: boolean | undefined;
  /** Undefined leaves the choice to the provider. */
  readonly deleteBeforeReplace: boolean | undefined;
  /** Empty inherits from the parent. */
  readonly deletedWith: string;
  readonly ignoreChanges: readonly string[];
  readonly replaceOnChanges: readonly string[];
  readonly additionalSecretOutputs: readonly string[];
  readonly customTimeouts: ResourceState["customTimeouts"];
  readonly sourcePosition: string;
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
