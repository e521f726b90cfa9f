import { makeUrn, parseUrn } from "../deploy/urn.ts";
import { EngineError } from "../errors.ts";
import { mapValues } from "../values/value.ts";
import { providerUrn, type ResourceState, stackType } from "./resource-state.ts";

/** Replaces the former URNs of renamed resources, wherever a resource refers to them, and forgets the aliases. */
export function settleAliases(resources: readonly ResourceState[]): ResourceState[] {
  const renamed = new Map<string, string>();
  for (const resource of resources) {
    for (const alias of resource.aliases) {
      const other = renamed.get(alias);
      if (other !== undefined && other !== resource.urn) {
        throw new EngineError("FAILED", `two resources, ${other} and ${resource.urn}, have the same alias ${alias}`, {
          urn: resource.urn,
        });
      }
      if (alias !== resource.urn) renamed.set(alias, resource.urn);
    }
    const parent = renamed.get(resource.parent);
    if (parent !== undefined && parseUrn(parent).type !== stackType) {
      const { stack, project, type, name } = parseUrn(resource.urn);
      const moved = makeUrn(stack, project, parseUrn(parent).qualifiedType, type, name);
      if (moved !== resource.urn) renamed.set(resource.urn, moved);
    }
  }
  if (renamed.size === 0)
    return resources.map((resource) => (resource.aliases.length === 0 ? resource : { ...resource, aliases: [] }));
  const settle = (urn: string): string => renamed.get(urn) ?? urn;
  return resources.map((resource) => ({
    ...resource,
    urn: settle(resource.urn),
    parent: settle(resource.parent),
    dependencies: resource.dependencies.map(settle),
    propertyDependencies: mapValues(resource.propertyDependencies, (urns) => urns.map(settle)),
    deletedWith: settle(resource.deletedWith),
    provider: settleProvider(resource.provider, settle),
    aliases: [],
  }));
}

function settleProvider(reference: string, settle: (urn: string) => string): string {
  const urn = providerUrn(reference);
  return urn === "" ? reference : settle(urn) + reference.slice(urn.length);
}
