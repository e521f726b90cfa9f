import type { Alias } from "@pulumi/pulumi/proto/alias_pb.js";
import { EngineError } from "../errors.ts";
import { mapValues } from "../values/value.ts";
import { providerUrn, type ResourceState, stackType } from "./resource-state.ts";
import { makeUrn, parseUrn } from "./urn.ts";

interface AliasContext {
  readonly stack: string;
  readonly project: string;
  /** The former URN under which a registered resource was found, if it was found by an alias. */
  readonly formerUrn: (urn: string) => string | undefined;
}

interface Aliased {
  readonly name: string;
  readonly type: string;
  readonly parent: string;
  readonly aliases: readonly Alias[];
}

/** Returns every URN that a resource may have had: by its own aliases, and by those of its parent. */
export function formerUrns(resource: Aliased, context: AliasContext): string[] {
  const { name, type, parent, aliases } = resource;
  const own = aliases.map((alias) => urnOf(alias, resource, context));
  const formerParent = parent === "" ? undefined : context.formerUrn(parent);
  if (formerParent === undefined) return [...new Set(own)];
  const inherited = [{ type, name }, ...own.map(parseUrn)].map((child) =>
    inheritedUrn(child, parseUrn(parent).name, formerParent, context),
  );
  return [...new Set([...own, ...inherited])];
}

/** Returns the URN of an alias, which is a whole URN, or says what of the resource's identity was different. */
function urnOf(alias: Alias, resource: Aliased, context: AliasContext): string {
  const spec = alias.getSpec();
  if (spec === undefined) return alias.getUrn();
  const given = spec.getParenturn();
  const parent = given === "" ? resource.parent : (context.formerUrn(given) ?? given);
  return makeUrn(
    spec.getStack() || context.stack,
    spec.getProject() || context.project,
    spec.getNoparent() || parent === "" ? "" : parseUrn(parent).qualifiedType,
    spec.getType() || resource.type,
    spec.getName() || resource.name,
  );
}

/** Returns the former URN of a child. One that is named after its parent was named after the former one, too. */
function inheritedUrn(
  child: { type: string; name: string },
  parentName: string,
  formerParent: string,
  { stack, project }: AliasContext,
): string {
  const former = parseUrn(formerParent);
  const name = child.name.startsWith(parentName) ? former.name + child.name.slice(parentName.length) : child.name;
  return makeUrn(stack, project, former.qualifiedType, child.type, name);
}

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
