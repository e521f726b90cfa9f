import type * as pulumi from "@pulumi/pulumi";
import { RunError } from "@pulumi/pulumi/errors.js";
import { isSecret, Output, output, secret } from "@pulumi/pulumi/output.js";
import { ProviderResource } from "@pulumi/pulumi/resource.js";
import { allConfig } from "@pulumi/pulumi/runtime/config.js";
import { variableName } from "../settings/setting-names.ts";
import { ofRun } from "./run-registry.ts";

/** The settings of one connection. */
export interface ProviderArgs {
  /** The service's address: https, or http on loopback. Default: `MERCHANT_RULES_<NAME>__BASE_URL`. */
  baseUrl?: pulumi.Input<string> | undefined;
  /** The contract: a preset's name or a file, from the project's folder. Default: the contract that is found there. */
  contract?: pulumi.Input<string> | undefined;
  /** Values of the contract's parameters, by name. Default: their variables, then the contract's defaults. A secret one stays secret. */
  parameters?: pulumi.Input<Record<string, pulumi.Input<string>>> | undefined;
  /**
   * The identity that the credentials must have, as `auth.identity` of the contract tells it. Default: `MERCHANT_RULES_<NAME>__IDENTITY`,
   * which is the only way where the contract has no `auth.identity`: then it is believed, and stands where the token stands.
   */
  identity?: pulumi.Input<string> | undefined;
  /** The treatment of rules that were changed at the service: `overwrite` or `fail`. Default: `MERCHANT_RULES_<NAME>__ON_DRIFT`, else `overwrite`. */
  onDrift?: pulumi.Input<"overwrite" | "fail"> | undefined;
  /** Hosts whose certificates are not checked, with commas; `true` is this machine. Default: `MERCHANT_RULES_<NAME>__INSECURE_TLS`, else none. */
  insecureTls?: pulumi.Input<string> | undefined;
  /** The access token; a secret in the state, where it stays until the next `up`. `MERCHANT_RULES_<NAME>__TOKEN` comes first. */
  token?: pulumi.Input<string> | undefined;
  /** A file that has the token, from the project's folder. `MERCHANT_RULES_<NAME>__TOKEN_FILE` comes first. */
  tokenFile?: pulumi.Input<string> | undefined;
  /** A command line that prints the token; a secret in the state. `MERCHANT_RULES_<NAME>__TOKEN_COMMAND` comes first. */
  tokenCommand?: pulumi.Input<string> | undefined;
  /** The client id, for a contract with `auth.token`. `MERCHANT_RULES_<NAME>__CLIENT_ID` comes first. */
  clientId?: pulumi.Input<string> | undefined;
  /** The client secret; a secret in the state. `MERCHANT_RULES_<NAME>__CLIENT_SECRET` comes first. */
  clientSecret?: pulumi.Input<string> | undefined;
  /** A client certificate that TLS presents: a file in PEM, from the project's folder. `MERCHANT_RULES_<NAME>__CLIENT_CERTIFICATE` comes first. */
  clientCertificate?: pulumi.Input<string> | undefined;
  /** The file of its key, in PEM without a passphrase. `MERCHANT_RULES_<NAME>__CLIENT_KEY` comes first. */
  clientKey?: pulumi.Input<string> | undefined;
}

const mark = Symbol.for("pulumi-merchant-rules:provider");

/**
 * An explicit provider: one connection whose settings are resources' outputs, or the program's own. Give it as
 * `{ provider }` to a rule, a set or a component, whose children have it too. What it is not given comes from the environment
 * under its name (`sandbox` → `MERCHANT_RULES_SANDBOX__TOKEN`), never from the default connection, whose credentials
 * would go to another address. Credentials of the environment come before those that it is given. Each provider has a host process of its own; for very many merchants in one process there
 * are connections in settings.
 *
 * ```ts
 * const sandbox = new Provider("sandbox", { baseUrl: "https://sandbox.example.com" });
 * new MerchantRule("large-amounts", { definition }, { provider: sandbox });
 * ```
 */
export class Provider extends ProviderResource {
  /** @internal */
  readonly connectionName: string;
  /** @internal */
  readonly [mark] = true;

  /** @throws pulumi.RunError where the name has blanks, or its variables are those of another provider or connection */
  constructor(name: string, args: ProviderArgs = {}, opts?: pulumi.ResourceOptions) {
    if (/\s/.test(name))
      throw new RunError(`Provider ${JSON.stringify(name)}: its name has a blank. What to do: write - instead`);
    demandOwnVariables("provider", name);
    const { parameters, token, tokenCommand, clientSecret, ...plain } = args;
    const inputs = {
      ...plain,
      // The engine hands objects of a provider to its host as JSON.
      parameters: parameters === undefined ? undefined : output(parameters).apply((known) => JSON.stringify(known)),
      secretParameters: parameters === undefined ? undefined : secretNames(parameters),
      token: token === undefined ? undefined : secret(token),
      tokenCommand: tokenCommand === undefined ? undefined : secret(tokenCommand),
      clientSecret: clientSecret === undefined ? undefined : secret(clientSecret),
      provider: name,
    };
    const named = Object.entries(inputs).flatMap(([key, value]) =>
      value === undefined ? [] : [[`merchant-rules:${key}`, value]],
    );
    super("pulumi-nodejs", name, Object.fromEntries(named), opts);
    this.connectionName = name;
  }
}

/** Returns the names of parameters that the program declares secret, as JSON; `*` where all of them are. */
async function secretNames(parameters: NonNullable<ProviderArgs["parameters"]>): Promise<string | undefined> {
  const known = Output.isInstance(parameters) ? parameters : await parameters;
  if (Output.isInstance(known)) return (await isSecret(output(known))) ? JSON.stringify(["*"]) : undefined;
  const pairs = Object.entries(known).map(async ([name, value]) => ((await isSecret(output(value))) ? [name] : []));
  const names = (await Promise.all(pairs)).flat();
  return names.length === 0 ? undefined : JSON.stringify(names);
}

/** Who has variables of one name. */
interface Named {
  readonly kind: "provider" | "connection";
  readonly name: string;
}

/**
 * Notes a provider or a named connection of this run.
 * @throws pulumi.RunError where another one has the same environment variables, and so would have its address and credentials
 */
export function demandOwnVariables(kind: Named["kind"], name: string): void {
  const known = ofRun(
    "variables",
    () => new Map<string, Named>(configured().map((each) => [variableName(each.name), each])),
  );
  const variables = variableName(name);
  const twin = known.get(variables);
  known.set(variables, twin ?? { kind, name });
  if (twin === undefined || (kind === "connection" && twin.kind === kind && twin.name === name)) return;
  throw new RunError(
    `the ${kind} ${JSON.stringify(name)} and the ${twin.kind} ${JSON.stringify(twin.name)} share their environment variables (MERCHANT_RULES_${variables}__…). What to do: rename one of them, so that the names differ in more than case and hyphens`,
  );
}

/** Returns the connections that the stack's config names. */
function configured(): readonly Named[] {
  try {
    const connections: unknown = JSON.parse(allConfig()["merchant-rules:connections"] ?? "{}");
    return Object.keys(Object(connections)).map((name) => ({ kind: "connection", name }));
  } catch {
    // The settings refuse what is no object.
    return [];
  }
}

/** Decides whether a value is a provider of this package, from whichever copy of it. */
export function isProvider(value: unknown): value is Provider {
  return typeof value === "object" && value !== null && mark in value;
}
