import type { ResourceState } from "../local/stack/state/resource-state.ts";
import { pathIn } from "../local/stack/values/path.ts";
import { toProgram, toWire } from "../local/stack/values/wire.ts";
import { isOfRules, type StateResource } from "../provider/drift.ts";
import { pointerOf } from "../sdk/rules/index.ts";

/** The resources of a state that hold rules, in the form in which drift is looked for. */
export function stateResources(resources: readonly ResourceState[]): StateResource[] {
  return resources
    .filter(({ type }) => isOfRules(type))
    .map(({ urn, type, id, inputs, outputs, ignoreChanges, delete: isOld, pendingReplacement }) => {
      const properties = { inputs: toWire(inputs, toProgram), outputs: toWire(outputs, toProgram) };
      // To the engine a text that is no path ignores nothing.
      const ignored = ignoreChanges
        .map(pathIn)
        .filter((path) => path !== undefined)
        .map(pointerOf);
      return { urn, type, id, ...properties, ignoreChanges: ignored, isLeaving: isOld || pendingReplacement };
    });
}
