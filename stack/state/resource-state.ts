import { z } from "zod";
import type { PropertyMap } from "../values/value.ts";

const texts = z
  .array(z.string())
  .nullish()
  .transform((list) => list ?? []);

/** Not a record, of which the schema would drop a key called `__proto__` without a word. */
const properties = z.custom<{ [key: string]: unknown }>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "expected an object",
);

/** The keys of a resource that this engine uses, in the order in which the CLI writes them. */
export const knownSchema = z.object({
  urn: z.string().min(1),
  custom: z.boolean(),
  /** Replaced already, and still to be deleted. */
  delete: z.boolean().default(false),
  id: z.string().default(""),
  type: z.string().min(1),
  inputs: properties.default({}),
  outputs: properties.default({}),
  parent: z.string().default(""),
  protect: z.boolean().default(false),
  external: z.boolean().default(false),
  dependencies: texts,
  initErrors: texts,
  /** `<urn>::<id>` of the provider resource; empty for components and providers. */
  provider: z.string().default(""),
  propertyDependencies: z
    .record(z.string(), texts)
    .nullish()
    .transform((lists) => lists ?? {}),
  /** Deleted already, and still to be created anew. */
  pendingReplacement: z.boolean().default(false),
  additionalSecretOutputs: texts,
  aliases: texts,
  /** Seconds. The key is absent where the program gives none. */
  customTimeouts: z
    .object({ create: z.number(), update: z.number(), delete: z.number(), read: z.number() })
    .partial()
    .nullish()
    .transform((timeouts) => timeouts ?? undefined),
  retainOnDelete: z.boolean().default(false),
  deletedWith: z.string().default(""),
  created: z.string().optional(),
  modified: z.string().optional(),
  sourcePosition: z.string().default(""),
  ignoreChanges: texts,
  replaceOnChanges: texts,
});

/** One resource in a checkpoint, in the CLI's format, version 3. Keys that are not named here are kept. */
export const resourceSchema = knownSchema.loose();
export type StoredResource = z.infer<typeof resourceSchema>;

/** One resource of a stack, as the checkpoint keeps it, decrypted. */
export interface ResourceState extends Omit<z.infer<typeof knownSchema>, "inputs" | "outputs" | "external"> {
  inputs: PropertyMap;
  outputs: PropertyMap;
  /** Keys that this engine does not use (the CLI's `stackTrace` among them), kept as they were read. */
  rest: { [key: string]: unknown };
}

export const operationTypeSchema = z.enum(["creating", "updating", "deleting", "reading", "importing"]);
export type OperationType = z.infer<typeof operationTypeSchema>;

/** An operation that was under way when the state was written. */
export interface PendingOperation {
  resource: ResourceState;
  type: OperationType;
}

/** The package of dynamic resources and their providers. */
export const dynamicPackage = "pulumi-nodejs";
export const providerTypePrefix = "pulumi:providers:";
export const defaultProviderType = `${providerTypePrefix}${dynamicPackage}`;
export const stackType = "pulumi:pulumi:Stack";

export const defaultProviderName = "default";

export function isProvider(type: string): boolean {
  return type.startsWith(providerTypePrefix);
}

/** Decides whether a type is one of dynamic resources, or that of their provider. */
export function isDynamic(type: string): boolean {
  return type.startsWith(`${dynamicPackage}:`) || type === defaultProviderType;
}

export function providerReference(provider: Pick<ResourceState, "urn" | "id">): string {
  return `${provider.urn}::${provider.id}`;
}

/** Returns the URN in a provider reference; empty for an empty reference. */
export function providerUrn(reference: string): string {
  return reference.slice(0, Math.max(0, reference.lastIndexOf("::")));
}

/** Returns the URNs that a resource depends on, and what it is deleted with. */
export function dependsOn(state: ResourceState): string[] {
  const urns = [state.deletedWith, ...state.dependencies, ...Object.values(state.propertyDependencies).flat()];
  return urns.filter((urn) => urn !== "");
}

/** Returns every URN that a resource needs to exist: its parent, dependencies, provider, and what it is deleted with. */
export function needs(state: ResourceState): string[] {
  return [state.parent, providerUrn(state.provider), ...dependsOn(state)].filter((urn) => urn !== "");
}

/**
 * Tells the first thing wrong with a list of resources, if anything: every resource must stand behind what it needs. The CLI
 * refuses a state for which this does not hold.
 */
export function integrityProblem(resources: readonly ResourceState[]): string | undefined {
  const seen = new Set<string>();
  const live = new Set<string>();
  for (const resource of resources) {
    const { urn, type, custom, parent, provider } = resource;
    const missing = [parent, ...dependsOn(resource)].find((needed) => needed !== "" && !seen.has(needed));
    if (missing !== undefined) return `${urn} refers to ${missing}, which does not stand before it`;
    if (custom && !isProvider(type) && provider !== "" && !seen.has(providerUrn(provider)))
      return `${urn} refers to the provider ${provider}, which does not stand before it`;
    if (!resource.delete && live.has(urn)) return `${urn} stands there twice`;
    seen.add(urn);
    if (!resource.delete) live.add(urn);
  }
  return undefined;
}
