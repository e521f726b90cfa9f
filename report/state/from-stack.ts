import { ownerType } from "../../provider/host/types.ts";
import { shapeOf } from "../../provider/state/shape.ts";
import { pointerOf } from "../../sdk/json/index.ts";
import { configIn } from "../../stack/open/read-stack.ts";
import { defaultProviderType, providerUrn, type ResourceState } from "../../stack/state/resource-state.ts";
import { pathIn } from "../../stack/values/path.ts";
import { toProgram, toWire } from "../../stack/values/wire.ts";
import type { StateResource } from "./state-resource.ts";

/** Returns the owner ids of a stack, as the Owner in its state has it; two, where a run that made it anew did not finish. */
export function ownerIdsIn(resources: readonly ResourceState[]): string[] {
  return resources.flatMap(({ type, id }) => (type === ownerType ? [id] : []));
}

/** Returns the resources of a stack's state that hold rules, in the form in which drift is looked for. */
export function stateResources(resources: readonly ResourceState[]): StateResource[] {
  const explicit = new Map(
    resources
      .filter(({ type, inputs }) => type === defaultProviderType && "merchant-rules:provider" in inputs)
      .map((provider) => [provider.urn, { urn: provider.urn, settings: configIn(provider.inputs).texts }]),
  );
  return resources
    .filter(({ type }) => shapeOf(type) !== undefined)
    .map(({ urn, type, id, inputs, outputs, ignoreChanges, provider, delete: isOld, pendingReplacement }) => {
      const properties = { inputs: toWire(inputs, toProgram), outputs: toWire(outputs, toProgram) };
      // To the engine a string that is no path ignores nothing.
      const ignored = ignoreChanges.map(pathIn).filter((path) => path !== undefined);
      return {
        ...{ urn, type, id, ...properties },
        provider: explicit.get(providerUrn(provider)),
        ignoreChanges: ignored.map(pointerOf),
        isLeaving: isOld || pendingReplacement,
      };
    });
}
