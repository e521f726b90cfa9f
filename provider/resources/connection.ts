import type * as pulumi from "@pulumi/pulumi";
import { RunError } from "@pulumi/pulumi/errors.js";
import { getProject, getStack } from "@pulumi/pulumi/metadata.js";
import { CustomResource, type ProviderResource } from "@pulumi/pulumi/resource.js";
import { getMonitor } from "@pulumi/pulumi/runtime/settings.js";
import { getStackResource } from "@pulumi/pulumi/runtime/stack.js";
import { getOrMake } from "../../sdk/get-or-make.ts";
import { connectionType as type } from "../host/types.ts";
import { warnOfUnknownSettings } from "../settings/unknown-settings.ts";
import { isProvider } from "./provider.ts";
import { providerSource } from "./provider-source.ts";

const defaultName = "default";

/**
 * The memory of a connection: whose its rules are, and who the credentials were. It registers itself, once for each
 * connection and provider in use; a program does not make one. Its id is all that rules take from it. It holds no
 * credentials and no settings.
 */
export class Connection extends CustomResource {
  /** @internal */
  static readonly __pulumiType = type;

  /** The service's address, for people. */
  declare readonly address: pulumi.Output<string>;
  /** The values of the contract's parameters, for people; one that a header carries as a hash. */
  declare readonly parameters: pulumi.Output<Record<string, string>>;
  /** The identity of the credentials with which it was made, for people; undefined where the contract cannot tell. */
  declare readonly identity: pulumi.Output<string | undefined>;

  /** @internal */
  constructor(name: string, connection: string, provider: ProviderResource | undefined) {
    const inputs = {
      connection,
      project: getProject(),
      stack: getStack(),
      address: undefined,
      parameters: undefined,
      identity: undefined,
      __provider: providerSource("connection"),
    };
    super(type, name, inputs, provider === undefined ? {} : { provider, parent: provider });
  }
}

/** The options of a resource that say by which provider it goes. */
type Options = Pick<pulumi.CustomResourceOptions, "provider" | "parent">;

/** Connections of one run of a program, by provider (or the default one) and name. */
type Registered = Map<unknown, Map<string, Connection>>;

/** Shared by all copies of this package in a process: a second registration of one name would be an error. */
const registry = Symbol.for("pulumi-merchant-rules:connections");

/**
 * Returns the connection of a resource, and registers it when it is first used.
 * @param connection its name in settings
 * @throws pulumi.RunError where the name is no plain string, or the resource has an explicit provider beside it
 */
export function connectionOf(
  connection: unknown,
  resourceType: string,
  name: string,
  { provider: own, parent }: Options = {},
): Connection {
  if (connection !== undefined && typeof connection !== "string")
    throw new RunError(`${name}: connection must be a plain text, the name of a connection in settings`);
  const provider = own ?? parent?.getProvider(resourceType);
  if (provider !== undefined && connection !== undefined && connection !== defaultName)
    throw new RunError(
      `${name}: it has the connection ${JSON.stringify(connection)} and an explicit provider, which already is a connection. What to do: remove one of the two`,
    );
  const ofRun = getOrMake(registered(), provider ?? defaultName, () => new Map<string, Connection>());
  const plain = connection ?? defaultName;
  return getOrMake(ofRun, plain, () => {
    if (provider === undefined) return new Connection(plain, plain, undefined);
    if (!isProvider(provider))
      throw new RunError(
        `${name}: its provider is not one of this package. What to do: make it with new Provider(…) of pulumi-merchant-rules`,
      );
    return new Connection(provider.connectionName, plain, provider);
  });
}

/** Returns the connections of this run. Several runs in one process, as in tests, have a stack each; with mocks a monitor. */
function registered(): Registered {
  const ofProcess: WeakMap<object, Registered> = getOrMake(globals, registry, () => new WeakMap());
  return getOrMake(ofProcess, getStackResource() ?? getMonitor() ?? ofProcess, () => {
    warnOfUnknownSettings();
    return new Map();
  });
}

const globals = {
  get: (key: symbol): WeakMap<object, Registered> | undefined => Reflect.get(globalThis, key),
  set: (key: symbol, value: WeakMap<object, Registered>): boolean => Reflect.set(globalThis, key, value),
};
