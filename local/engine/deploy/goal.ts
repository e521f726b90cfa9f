import type { Registration } from "../hosts/registration.ts";
import type { ResourceState } from "../state/resource-state.ts";
import { equalMaps, keepCiphertexts } from "../values/value.ts";

/** The state that a registration asks for, as far as it is known before anything is done. */
export function newState(
  urn: string,
  registration: Registration,
  old: ResourceState | undefined,
  context: { provider: string; formerUrn: string | undefined },
): ResourceState {
  const { stackTrace: _gone, ...rest } = old?.rest ?? {};
  return {
    urn,
    type: registration.type,
    custom: registration.custom,
    id: "",
    inputs: registration.inputs,
    outputs: {},
    parent: registration.parent,
    protect: registration.protect ?? false,
    delete: false,
    pendingReplacement: false,
    dependencies: [...registration.dependencies],
    propertyDependencies: copyLists(registration.propertyDependencies),
    provider: context.provider,
    initErrors: [],
    additionalSecretOutputs: [...registration.additionalSecretOutputs],
    aliases: context.formerUrn === undefined ? [] : [context.formerUrn],
    customTimeouts: registration.customTimeouts,
    retainOnDelete: registration.retainOnDelete ?? false,
    deletedWith: registration.deletedWith,
    ignoreChanges: [...registration.ignoreChanges],
    replaceOnChanges: [...registration.replaceOnChanges],
    created: old?.created,
    modified: old?.modified,
    sourcePosition: registration.sourcePosition,
    rest,
  };
}

/**
 * Whether a resource that no operation touched is in state as it is now, but for where it is declared in the program:
 * that alone is not worth writing.
 */
export function sameInState(old: ResourceState, now: ResourceState): boolean {
  keepCiphertexts(now.inputs, old.inputs);
  keepCiphertexts(now.outputs, old.outputs);
  return (
    old.urn === now.urn &&
    old.type === now.type &&
    old.custom === now.custom &&
    old.id === now.id &&
    old.parent === now.parent &&
    old.provider === now.provider &&
    old.protect === now.protect &&
    old.retainOnDelete === now.retainOnDelete &&
    old.deletedWith === now.deletedWith &&
    old.initErrors.length === now.initErrors.length &&
    equalLists(old.dependencies, now.dependencies) &&
    equalLists(old.ignoreChanges, now.ignoreChanges) &&
    equalLists(old.replaceOnChanges, now.replaceOnChanges) &&
    equalLists(old.additionalSecretOutputs, now.additionalSecretOutputs) &&
    equalDependencies(old.propertyDependencies, now.propertyDependencies) &&
    JSON.stringify(old.customTimeouts) === JSON.stringify(now.customTimeouts) &&
    equalMaps(old.inputs, now.inputs) &&
    equalMaps(old.outputs, now.outputs)
  );
}

type Lists = { readonly [key: string]: readonly string[] };

function copyLists(lists: Lists): { [key: string]: string[] } {
  return Object.fromEntries(Object.entries(lists).map(([key, list]) => [key, [...list]]));
}

function equalLists(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((element) => b.includes(element));
}

function equalDependencies(a: Lists, b: Lists): boolean {
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equalLists(a[key] ?? [], b[key] ?? []))
  );
}
