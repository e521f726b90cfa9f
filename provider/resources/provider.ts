import type * as pulumi from "@pulumi/pulumi";
import { output, secret } from "@pulumi/pulumi/output.js";
import { ProviderResource } from "@pulumi/pulumi/resource.js";

/** The settings of one connection. */
export interface ProviderArgs {
  /** The service's address: https, or http on loopback. Default: `MERCHANT_RULES_<NAME>__BASE_URL`. */
  baseUrl?: pulumi.Input<string> | undefined;
  /** The contract: a preset's name or a file, from the project's folder. Default: the contract that is found there. */
  contract?: pulumi.Input<string> | undefined;
  /** Values of the contract's parameters, by name. Default: their variables, then the contract's defaults. */
  parameters?: pulumi.Input<Record<string, pulumi.Input<string>>> | undefined;
  /** The identity that the credentials must have, as `auth.identity` of the contract tells it. Default: `MERCHANT_RULES_<NAME>__IDENTITY`. */
  identity?: pulumi.Input<string> | undefined;
  /** The treatment of rules that were changed at the service: `overwrite` or `fail`. Default: `MERCHANT_RULES_<NAME>__ON_DRIFT`, else `overwrite`. */
  onDrift?: pulumi.Input<"overwrite" | "fail"> | undefined;
  /** The access token; a secret in the state. Default: `MERCHANT_RULES_<NAME>__TOKEN`. */
  token?: pulumi.Input<string> | undefined;
  /** The client id, for a contract with `auth.token`. Default: `MERCHANT_RULES_<NAME>__CLIENT_ID`. */
  clientId?: pulumi.Input<string> | undefined;
  /** The client secret; a secret in the state. Default: `MERCHANT_RULES_<NAME>__CLIENT_SECRET`. */
  clientSecret?: pulumi.Input<string> | undefined;
}

const mark = Symbol.for("pulumi-merchant-rules:provider");

/**
 * An explicit provider: one connection whose settings are resources' outputs, or the program's own. Give it as
 * `{ provider }` to a rule, a set or a component, whose children have it too. What it is not given comes from the environment
 * under its name (`sandbox` → `MERCHANT_RULES_SANDBOX__TOKEN`), never from the default connection, whose credentials
 * would go to another address. Each provider has a host process of its own; for very many merchants in one process there
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

  constructor(name: string, args: ProviderArgs = {}, opts?: pulumi.ResourceOptions) {
    const { parameters, token, clientSecret, ...plain } = args;
    const inputs = {
      ...plain,
      // The engine hands objects of a provider to its host as JSON.
      parameters: parameters === undefined ? undefined : output(parameters).apply((known) => JSON.stringify(known)),
      token: token === undefined ? undefined : secret(token),
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

/** Decides whether a value is a provider of this package, from whichever copy of it. */
export function isProvider(value: unknown): value is Provider {
  return typeof value === "object" && value !== null && mark in value;
}
