import type * as pulumi from "@pulumi/pulumi";
import { RunError } from "@pulumi/pulumi/errors.js";
import { CustomResource, type ProviderResource } from "@pulumi/pulumi/resource.js";
import { getOrMake } from "../../sdk/get-or-make.ts";
import { connectionType as type } from "../host/types.ts";
import { warnOfUnknownSettings } from "../settings/unknown-settings.ts";
import { type Owner, ownerOfStack, presentNames } from "./owner.ts";
import { demandOwnVariables, isProvider } from "./provider.ts";
import { providerSource } from "./provider-source.ts";
import { ofRun } from "./run-registry.ts";

const defaultName = "default";

/**
 * The memory of a connection: where its rules are, and who the credentials were. It registers itself, once for each connection
 * and provider in use; a program does not make one. Its output `link` is all that rules take from it. It holds no credentials
 * and no settings.
 */
export class Connection extends CustomResource {
  /** @internal */
  static readonly __pulumiType = type;

  /** The service's address, for people. */
  declare readonly address: pulumi.Output<string>;
  /** The values of the contract's parameters, for people; one that may be a secret is `(secret)`. */
  declare readonly parameters: pulumi.Output<Record<string, string>>;
  /** The identity of the credentials, for people; undefined where nobody has told it. */
  declare readonly identity: pulumi.Output<string | undefined>;
  /** @internal The owner id, the stack's names and the remembered place, as one text. */
  declare readonly link: pulumi.Output<string>;

  /** @internal */
  constructor(name: string, connection: string, owner: Owner, provider: ProviderResource | undefined) {
    const inputs = {
      connection,
      owner: owner.id,
      ownerNames: owner.names,
      names: presentNames(),
      address: undefined,
      parameters: undefined,
      identity: undefined,
      link: undefined,
      __provider: providerSource("connection"),
    };
    super(type, name, inputs, provider === undefined ? {} : { provider, parent: provider });
  }
}

/** The options of a resource that say by which provider it goes. */
type Options = Pick<pulumi.CustomResourceOptions, "provider" | "parent">;

/** Connections of one run of a program, by provider (or the default one) and name. */
type Registered = Map<unknown, Map<string, Connection>>;

/**
 * Returns the connection of a resource, and registers it when it is first used.
 * @param connection its name in settings
 * @throws pulumi.RunError where the name is no plain string or shares its variables with a provider, or the resource has an
 * explicit provider beside it
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
  const ofProvider = getOrMake(registered(), provider ?? defaultName, () => new Map<string, Connection>());
  const plain = connection ?? defaultName;
  return getOrMake(ofProvider, plain, () => {
    if (provider === undefined) {
      if (plain !== defaultName) demandOwnVariables("connection", plain);
      return new Connection(plain, plain, ownerOfStack(undefined), undefined);
    }
    if (!isProvider(provider))
      throw new RunError(
        `${name}: its provider is not one of this package. What to do: make it with new Provider(…) of pulumi-merchant-rules`,
      );
    return new Connection(provider.connectionName, plain, ownerOfStack(provider), provider);
  });
}

/** Returns the connections of this run. */
function registered(): Registered {
  return ofRun("connections", (): Registered => {
    warnOfUnknownSettings();
    return new Map();
  });
}
