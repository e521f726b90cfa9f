import type { PropertyMap } from "../values/value.ts";

/** One resource of a stack, as the checkpoint keeps it. The fields are those of the CLI's format, version 3. */
export interface ResourceState {
  urn: string;
  type: string;
  custom: boolean;
  id: string;
  inputs: PropertyMap;
  outputs: PropertyMap;
  parent: string;
  protect: boolean;
  /** Replaced already, and still to be deleted. */
  delete: boolean;
  /** Deleted already, and still to be created anew. */
  pendingReplacement: boolean;
  dependencies: string[];
  propertyDependencies: { [property: string]: string[] };
  /** `<urn>::<id>` of the provider resource; empty for components and providers. */
  provider: string;
  initErrors: string[];
  additionalSecretOutputs: string[];
  aliases: string[];
  customTimeouts: CustomTimeouts | undefined;
  retainOnDelete: boolean;
  deletedWith: string;
  ignoreChanges: string[];
  replaceOnChanges: string[];
  created: string | undefined;
  modified: string | undefined;
  sourcePosition: string;
  /** Keys that this engine does not use (the CLI's `stackTrace` among them), kept as they were read. */
  rest: { [key: string]: unknown };
}

/** Seconds. The key is absent where the program gives none. */
export interface CustomTimeouts {
  create?: number;
  update?: number;
  delete?: number;
  read?: number;
}

export type OperationType = "creating" | "updating" | "deleting" | "reading" | "importing";

/** An operation that was under way when the state was written. */
export interface PendingOperation {
  resource: ResourceState;
  type: OperationType;
}

/** The default provider's package; every dynamic resource belongs to it. */
export const dynamicPackage = "pulumi-nodejs";
export const providerTypePrefix = "pulumi:providers:";
export const stackType = "pulumi:pulumi:Stack";

export function isProvider(type: string): boolean {
  return type.startsWith(providerTypePrefix);
}

export function providerReference(provider: Pick<ResourceState, "urn" | "id">): string {
  return `${provider.urn}::${provider.id}`;
}

/** The URN in a provider reference; empty for an empty reference. */
export function providerUrn(reference: string): string {
  return reference.slice(0, Math.max(0, reference.lastIndexOf("::")));
}

/** Every URN that a resource needs to exist: its parent, dependencies, provider, and what it is deleted with. */
export function needs(state: ResourceState): string[] {
  const urns = [
    state.parent,
    state.deletedWith,
    providerUrn(state.provider),
    ...state.dependencies,
    ...Object.values(state.propertyDependencies).flat(),
  ];
  return urns.filter((urn) => urn !== "");
}
