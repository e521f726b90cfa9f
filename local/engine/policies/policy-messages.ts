import messages from "@pulumi/pulumi/proto/analyzer_pb.js";
import type structMessages from "google-protobuf/google/protobuf/struct_pb.js";
import type { ResourceState } from "../../../stack/state/resource-state.ts";
import { parseUrn } from "../../../stack/state/urn.ts";
import type { PropertyMap } from "../../../stack/values/value.ts";
import { toPolicies } from "../../../stack/values/wire.ts";
import { writeProperties } from "../hosts/grpc.ts";

/** A resource as policies get it. */
export interface PolicyResource {
  readonly state: ResourceState;
  /** The inputs, or, at the end, the outputs. */
  readonly properties: PropertyMap;
  readonly deleteBeforeReplace: boolean | undefined;
  readonly provider: ResourceState | undefined;
}

interface Described<T> {
  setUrn(urn: string): T;
  setName(name: string): T;
  setType(type: string): T;
  setProperties(properties: structMessages.Struct): T;
  setOptions(options: ReturnType<typeof optionsOf>): T;
  setProvider(provider: ReturnType<typeof providerOf>): T;
}

/** Writes a resource into a request; only a remediation gets the properties that are internal, since it gives all inputs back. */
export function described<T extends Described<T>>(message: T, resource: PolicyResource, properties: PropertyMap): T {
  const { urn, type } = resource.state;
  return message
    .setUrn(urn)
    .setName(parseUrn(urn).name)
    .setType(type)
    .setProperties(writeProperties(properties, toPolicies))
    .setOptions(optionsOf(resource))
    .setProvider(providerOf(resource.provider));
}

export function stackResource(resource: PolicyResource) {
  const { parent, dependencies, propertyDependencies } = resource.state;
  const message = described(new messages.AnalyzerResource(), resource, withoutInternal(resource.properties))
    .setParent(parent)
    .setDependenciesList(dependencies);
  for (const [key, urns] of Object.entries(propertyDependencies)) {
    if (urns.length === 0) continue;
    const list = new messages.AnalyzerPropertyDependencies().setUrnsList(urns);
    message.getPropertydependenciesMap().set(key, list);
  }
  return message;
}

/** Returns properties without what is for providers alone, such as their code. */
export function withoutInternal(map: PropertyMap): PropertyMap {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !key.startsWith("__")));
}

function optionsOf({ state, deleteBeforeReplace }: PolicyResource) {
  const { create = 0, update = 0, delete: remove = 0, read = 0 } = state.customTimeouts ?? {};
  return new messages.AnalyzerResourceOptions()
    .setProtect(state.protect)
    .setIgnorechangesList(state.ignoreChanges)
    .setDeletebeforereplace(deleteBeforeReplace ?? false)
    .setDeletebeforereplacedefined(deleteBeforeReplace !== undefined)
    .setAdditionalsecretoutputsList(state.additionalSecretOutputs)
    .setAliasesList(state.aliases)
    .setCustomtimeouts(
      new messages.AnalyzerResourceOptions.CustomTimeouts()
        .setCreate(create)
        .setUpdate(update)
        .setDelete(remove)
        .setRead(read),
    )
    .setParent(state.parent);
}

function providerOf(provider: ResourceState | undefined) {
  if (provider === undefined) return undefined;
  return new messages.AnalyzerProviderResource()
    .setUrn(provider.urn)
    .setType(provider.type)
    .setName(parseUrn(provider.urn).name)
    .setProperties(writeProperties(withoutInternal(provider.inputs), toPolicies));
}
