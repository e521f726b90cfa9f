import { isDeepStrictEqual } from "node:util";
import { isProvider, type ResourceState } from "../../../stack/state/resource-state.ts";
import { equalMaps, keepCiphertexts, mapValues } from "../../../stack/values/value.ts";
import type { ProviderHost } from "../hosts/provider-host.ts";
import { diffResource } from "./differ.ts";
import type { Execution } from "./execution.ts";
import { invert } from "./property-diff.ts";
import type { Providers } from "./providers.ts";
import { type Step, stepOf } from "./step.ts";
import type { Targets } from "./targets.ts";

/** The result of a refresh: the resources as they are now, in order, without those that are gone. */
interface Refreshed {
  readonly resources: readonly ResourceState[];
  readonly changed: boolean;
}

/**
 * Reads every dynamic resource, or those that are targets, from its provider. The state of each becomes what was read; what is gone leaves the
 * state, and nothing refers to it any more. A read that fails fails the run, and leaves that resource as it was.
 */
export async function refreshAll(
  execution: Execution,
  providers: Providers,
  base: readonly ResourceState[],
  targets: Targets,
): Promise<Refreshed> {
  const results = await Promise.all(
    base.map(async (resource): Promise<ResourceState | undefined> => {
      if (!targets.has(resource.urn)) return resource;
      if (!resource.custom || isProvider(resource.type) || resource.pendingReplacement) {
        execution.note(readStep("same", resource, resource));
        return resource;
      }
      try {
        return await execution.turn(() => refreshOne(execution, providers.hostOf(resource), resource));
      } catch (error) {
        execution.fail(error, resource.urn, true);
        execution.noteFailed(readStep("same", resource, resource));
        return resource;
      }
    }),
  );
  const resources = prune(results.filter((resource) => resource !== undefined));
  const changed = resources.length !== base.length || resources.some((resource, i) => resource !== base[i]);
  return { resources, changed };
}

async function refreshOne(
  execution: Execution,
  provider: ProviderHost,
  old: ResourceState,
): Promise<ResourceState | undefined> {
  const outcome = await provider.read(old);
  if (outcome.failed !== undefined) {
    execution.diagnose(
      "warning",
      `the resource exists, but is not in order:\n${outcome.failed.reasons.map((reason) => `* ${reason}`).join("\n")}`,
      old.urn,
    );
  }
  if (outcome.id === "") {
    execution.note(readStep("delete", old, undefined));
    return undefined;
  }
  const inputs = outcome.inputs ?? old.inputs;
  const now: ResourceState = {
    ...old,
    id: outcome.id,
    inputs,
    outputs: outcome.outputs,
    initErrors: outcome.failed?.reasons ?? [],
  };
  // The other way round than an update: what an update would have to do to get from here to the old inputs, inverted.
  const difference = await diffResource(provider, old.urn, now, old.inputs, {
    preview: execution.preview,
    ignoreChanges: old.ignoreChanges,
  });
  const same =
    equalMaps(old.inputs, now.inputs) &&
    equalMaps(old.outputs, now.outputs) &&
    old.id === now.id &&
    isDeepStrictEqual(old.initErrors, now.initErrors);
  if (!same) now.modified = new Date().toISOString();
  keepCiphertexts(now.inputs, old.inputs);
  keepCiphertexts(now.outputs, old.outputs);
  const { changed, changedKeys, detailedDiff } = difference;
  execution.note(
    readStep(changed ? "update" : "same", old, now, {
      changedKeys,
      detailedDiff: changed ? invert(detailedDiff) : null,
    }),
  );
  return same ? old : now;
}

function readStep(...about: Parameters<typeof stepOf>): Step {
  return { ...stepOf(...about), isRead: true };
}

/** Takes references to resources that are gone, and empty ones, out of the others; a child of one goes to the next parent that is left. */
function prune(resources: readonly ResourceState[]): ResourceState[] {
  const there = new Set<string>();
  return resources.map((resource) => {
    const left = (urns: readonly string[]): string[] => urns.filter((urn) => there.has(urn));
    const propertyDependencies = Object.entries(mapValues(resource.propertyDependencies, left));
    const pruned: ResourceState = {
      ...resource,
      parent: there.has(resource.parent) ? resource.parent : "",
      deletedWith: there.has(resource.deletedWith) ? resource.deletedWith : "",
      dependencies: left(resource.dependencies),
      propertyDependencies: Object.fromEntries(propertyDependencies.filter(([, urns]) => urns.length > 0)),
    };
    there.add(resource.urn);
    return isDeepStrictEqual(resource, pruned) ? resource : pruned;
  });
}
