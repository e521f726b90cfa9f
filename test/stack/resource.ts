import type { ResourceState } from "../../stack/state/resource-state.ts";

/** A resource of a state; what the tests tell apart is its name and its mark. */
export function resource(name: string, mark = 0): ResourceState {
  return {
    urn: `urn:pulumi:s::p::t::${name}`,
    type: "t",
    custom: true,
    id: name,
    inputs: { mark },
    outputs: {},
    parent: "",
    protect: false,
    delete: false,
    pendingReplacement: false,
    dependencies: [],
    propertyDependencies: {},
    provider: "",
    initErrors: [],
    additionalSecretOutputs: [],
    aliases: [],
    customTimeouts: undefined,
    retainOnDelete: false,
    deletedWith: "",
    ignoreChanges: [],
    replaceOnChanges: [],
    created: undefined,
    modified: undefined,
    sourcePosition: "",
    rest: {},
  };
}
