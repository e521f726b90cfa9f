import type { Alias } from "../hosts/registration.ts";
import { stackType } from "../state/resource-state.ts";
import { makeUrn, parseUrn } from "./urn.ts";

export interface AliasContext {
  readonly stack: string;
  readonly project: string;
  /** The former URN under which a registered resource was found, if it was found by an alias. */
  readonly formerUrn: (urn: string) => string | undefined;
}

/** Every URN that a resource may have had: by its own aliases, and by those of its parent. */
export function formerUrns(
  resource: { name: string; type: string; parent: string; aliases: readonly Alias[] },
  context: AliasContext,
): string[] {
  const { name, type, parent, aliases } = resource;
  const own = aliases.map((alias) => urnOf(alias, resource, context));
  const formerParent = parent === "" ? undefined : context.formerUrn(parent);
  if (formerParent === undefined) return [...new Set(own)];
  const inherited = [{ type, name }, ...own.map(parseUrn)].map((child) =>
    inheritedUrn(child, parseUrn(parent).name, formerParent, context),
  );
  return [...new Set([...own, ...inherited])];
}

function urnOf(alias: Alias, resource: { name: string; type: string; parent: string }, context: AliasContext): string {
  if ("urn" in alias) return alias.urn;
  const given = alias.parent === undefined ? resource.parent : (context.formerUrn(alias.parent) ?? alias.parent);
  const parent = alias.noParent || given === "" ? "" : parseUrn(given).qualifiedType;
  return makeUrn(
    alias.stack || context.stack,
    alias.project || context.project,
    parent === stackType ? "" : parent,
    alias.type || resource.type,
    alias.name || resource.name,
  );
}

/** A child that is named after its parent was named after the former one, too. */
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
