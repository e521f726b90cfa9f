import { dependsOn, providerUrn, type ResourceState } from "../../../stack/state/resource-state.ts";
import { mapValues, unknown } from "../../../stack/values/value.ts";
import { diffResource } from "./differ.ts";
import { applyReplaceOnChanges, requiresReplace } from "./property-diff.ts";
import type { ResourceContext } from "./resource-context.ts";

interface DependentReplacement {
  readonly resource: ResourceState;
  /** The keys whose change requires the replacement. */
  readonly keys: readonly string[];
}

/**
 * Asks which resources must be replaced, too, when one is deleted before its replacement: those that the provider would
 * replace if the values which they take from it were to change. In the order of state.
 */
export async function dependentReplacements(
  context: ResourceContext,
  root: ResourceState,
): Promise<DependentReplacement[]> {
  const going = new Set([root.urn]);
  const dependents = new Set([root.urn]);
  const found: DependentReplacement[] = [];
  for (const resource of context.base.slice(context.base.indexOf(root) + 1)) {
    if (![providerUrn(resource.provider), ...dependsOn(resource)].some((urn) => dependents.has(urn))) continue;
    // A resource that is registered in this run already needs the root no more, whatever its old state says.
    if (resource.delete || resource.pendingReplacement || context.operated.has(resource.urn)) continue;
    dependents.add(resource.urn);
    const keys = await replacementKeys(context, resource, going);
    if (keys === undefined) continue;
    going.add(resource.urn);
    found.push({ resource, keys });
  }
  return found;
}

/** Asks the provider which keys require a replacement; undefined when none is required. */
async function replacementKeys(
  context: ResourceContext,
  resource: ResourceState,
  going: ReadonlySet<string>,
): Promise<readonly string[] | undefined> {
  if (!resource.custom) return undefined;
  if (resource.deletedWith !== "" && going.has(resource.deletedWith)) return [];
  let affected = false;
  const inputs = mapValues(resource.inputs, (value, key) => {
    if (!(resource.propertyDependencies[key] ?? []).some((urn) => going.has(urn))) return value;
    affected = true;
    return unknown;
  });
  if (!affected) return undefined;
  const options = { preview: true, ignoreChanges: resource.ignoreChanges };
  const difference = applyReplaceOnChanges(
    await diffResource(context.providers.of(resource), resource.urn, resource, inputs, options),
    resource.replaceOnChanges,
    false,
  );
  return requiresReplace(difference) ? difference.replaceKeys : undefined;
}
