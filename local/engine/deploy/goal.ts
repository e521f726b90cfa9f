import { isDeepStrictEqual } from "node:util";
import type { Ledger } from "../../../stack/state/ledger.ts";
import type { ResourceState } from "../../../stack/state/resource-state.ts";
import { equalMaps, keepCiphertexts, mapValues } from "../../../stack/values/value.ts";
import type { Registration } from "../hosts/registration.ts";

/** Makes the state that a registration asks for, as far as it is known before anything is done. */
export function newState(
  urn: string,
  registration: Registration,
  old: ResourceState | undefined,
  context: { provider: string; formerUrn: string | undefined },
): ResourceState {
  const { name: _name, aliases: _aliases, deleteBeforeReplace: _choice, ...asked } = registration;
  const { stackTrace: _gone, ...rest } = old?.rest ?? {};
  return {
    ...asked,
    urn,
    id: "",
    outputs: {},
    protect: asked.protect ?? false,
    delete: false,
    pendingReplacement: false,
    provider: context.provider,
    initErrors: [],
    aliases: context.formerUrn === undefined ? [] : [context.formerUrn],
    retainOnDelete: asked.retainOnDelete ?? false,
    created: old?.created,
    modified: old?.modified,
    rest,
  };
}

/** Puts a resource that no operation touched in the place of the old one. Its source position is not worth a write. */
export function settleSame(ledger: Ledger, old: ResourceState, now: ResourceState): void {
  keepCiphertexts(now.inputs, old.inputs);
  keepCiphertexts(now.outputs, old.outputs);
  const same =
    isDeepStrictEqual(compared(old), compared(now)) &&
    equalMaps(old.inputs, now.inputs) &&
    equalMaps(old.outputs, now.outputs);
  if (same) ledger.same(old, now);
  else {
    ledger.drop(old);
    ledger.put(now);
  }
}

/** Lists mean the same in any order. */
function compared(state: ResourceState) {
  const { urn, type, custom, id, parent, provider, protect, retainOnDelete, deletedWith, initErrors } = state;
  return {
    ...{ urn, type, custom, id, parent, provider, protect, retainOnDelete, deletedWith, initErrors },
    dependencies: state.dependencies.toSorted(),
    ignoreChanges: state.ignoreChanges.toSorted(),
    replaceOnChanges: state.replaceOnChanges.toSorted(),
    additionalSecretOutputs: state.additionalSecretOutputs.toSorted(),
    propertyDependencies: mapValues(state.propertyDependencies, (urns) => urns.toSorted()),
    customTimeouts: state.customTimeouts,
  };
}
