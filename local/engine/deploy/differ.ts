import providerMessages from "@pulumi/pulumi/proto/provider_pb.js";
import type { ResourceState } from "../../../stack/state/resource-state.ts";
import { resetPaths } from "../../../stack/values/path.ts";
import { type PropertyMap, revealMap } from "../../../stack/values/value.ts";
import { type Difference, detailedDiffOf, differences } from "./property-diff.ts";
import type { Hooks } from "./providers.ts";

interface DiffOptions {
  /** True where unknown values may reach the provider. */
  readonly preview: boolean;
  readonly ignoreChanges: readonly string[];
}

/** Asks the provider what new inputs would change; where it leaves that open, inputs are compared path by path. */
export async function diffResource(
  provider: Pick<Hooks, "diff">,
  urn: string,
  old: Pick<ResourceState, "id" | "inputs" | "outputs">,
  inputs: PropertyMap,
  options: DiffOptions,
): Promise<Difference> {
  const response = await provider.diff(urn, old, inputs, options);
  const said = { replaceKeys: response.getReplacesList(), deleteBeforeReplace: response.getDeletebeforereplace() };
  const changedKeys = response.getDiffsList();
  const { DIFF_SOME, DIFF_NONE } = providerMessages.DiffResponse.DiffChanges;
  const changes = response.getChanges();
  if (changes === DIFF_SOME || changes === DIFF_NONE)
    return { ...said, changed: changes === DIFF_SOME, changedKeys, detailedDiff: null };
  const compared = resetPaths(inputs, old.inputs, options.ignoreChanges).inputs;
  const found = differences(revealMap(old.inputs), revealMap(compared));
  if (found.length === 0) return { ...said, changed: false, changedKeys, detailedDiff: null };
  const keys = [...new Set(found.map(({ path }) => String(path[0])))];
  return { ...said, changed: true, changedKeys: keys, detailedDiff: detailedDiffOf(found) };
}
