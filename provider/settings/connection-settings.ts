import { createHash } from "node:crypto";
import { type Connection, type Credentials, parseBaseUrl } from "../../sdk/client/connection.ts";
import { templatesOf } from "../../sdk/client/request-template.ts";
import { type Contract, identityOperation, namesIn, presentsClient } from "../../sdk/contract/index.ts";
import { MerchantRulesError, shortened } from "../../sdk/errors.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { type OnDrift, onDriftChoices } from "../reconcile/hand-edits.ts";
import type { Answer, PlaceOptions } from "../reconcile/index.ts";
import { type FoundContract, findContract } from "./contract-source.ts";
import { defaultConnection } from "./setting-names.ts";
import { providerName, type Setting, type SettingsReader, type SettingsSources, settingsReader } from "./sources.ts";

/** The settings of a connection, each part for its reader. */
export interface ConnectionSettings {
  readonly client: ClientSettings;
  readonly place: PlaceOptions;
  /** What a run does to rules that were changed at the service, where a resource does not say. */
  readonly onDrift: OnDrift;
}

/** What a client is made of. `check` and `diff` need no credentials, but for a set with onUnmanaged. */
export interface ClientSettings extends Omit<Connection, "credentials">, FoundContract {
  readonly credentials: Credentials | undefined;
  /** The settings by which missing credentials are given. */
  readonly howToGiveCredentials: string;
}

/**
 * Reads the settings of a connection; docs/reference/settings.md lists them. Stack config comes first and the
 * environment second; for credentials it is the other way round. A named connection has its own address, parameters and
 * credentials and falls back to none of the default connection's, but for the contract.
 * @throws MerchantRulesError SETTINGS_INVALID: every missing setting named with its key and its variable; CONTRACT_INVALID.
 */
export function connectionSettings(sources: SettingsSources, name: string = defaultConnection): ConnectionSettings {
  const setting = settingsReader(sources, name);
  const { contract, noContract } = findContract(sources, name);
  const baseUrl = setting("baseUrl");
  const given = Object.entries(contract.parameters).map(([parameter, { default: value }]) => {
    const { howTo, value: own } = setting(`parameters.${parameter}`);
    return { parameter, howTo, value: own ?? value };
  });
  const provider = providerName(sources.config);
  const credentials = credentialsOf(setting, contract, provider !== undefined);
  const howToGiveCredentials = describeCredentials(setting, contract);
  const missing = [baseUrl, ...given].filter(({ value }) => value === undefined).map(({ howTo }) => howTo);
  if (baseUrl.value === undefined || missing.length > 0)
    throw missingSettings(name, credentials === undefined ? [...missing, howToGiveCredentials] : missing);
  const identity = setting("identity");
  if (identity.value !== undefined && contract.auth.identity === null) {
    const reason = `connection "${name}" has the setting ${identity.howTo}, but its contract does not say how to find out who the credentials are`;
    const advice = "describe auth.identity in the contract, or remove the setting";
    throw new MerchantRulesError("SETTINGS_INVALID", reason, { advice });
  }
  const parameters = Object.fromEntries(given.map(({ parameter, value = "" }) => [parameter, value]));
  // A preview, which sends nothing, fails on what no request could be made of.
  const { prefix } = parseBaseUrl(baseUrl.value, `baseUrl of connection ${JSON.stringify(name)}`);
  templatesOf({ name, contract, parameters }, prefix);
  const shared = { name: provider ?? name, contract, parameters };
  const formerNames = setting("formerNames");
  return {
    client: { ...shared, baseUrl: baseUrl.value, credentials, howToGiveCredentials, noContract },
    place: {
      ...shared,
      resourceName: shared.name,
      address: baseUrl.value.replace(/\/+$/, ""),
      shownParameters: shown(parameters, contract),
      identity: identity.value,
      formerNames: (formerNames.value ?? "").split(",").flatMap((each) => each.trim() || []),
      howToNameFormer: formerNames.variable,
      acceptAllGone: answerOf(setting("acceptAllGone")),
      moved: answerOf(setting("moved")),
      recover: answerOf(setting("recover")),
    },
    onDrift: onDriftIn(setting("onDrift")),
  };
}

/** Returns the whole connection. @throws MerchantRulesError SETTINGS_INVALID: when its credentials are missing. */
export function connectionOf({ howToGiveCredentials, noContract, credentials, ...rest }: ClientSettings): Connection {
  if (credentials !== undefined) return { ...rest, credentials };
  const error = missingSettings(rest.name, [howToGiveCredentials]);
  // Client credentials may be there, and nothing that tells how to get a token for them.
  throw noContract === undefined ? error : error.with({ advice: `${error.advice}. Note: ${noContract}` });
}

/** Returns a user's word for one run. A refresh or destroy sees the config of the last up; the variable is of now. */
function answerOf({ configured, inEnvironment, variable }: Setting): Answer {
  return { isGiven: inEnvironment === "true" || configured === "true", howTo: `${variable}=true` };
}

function onDriftIn({ value = "overwrite", howTo }: Setting): OnDrift {
  const choice = onDriftChoices.find((each) => each === value);
  if (choice !== undefined) return choice;
  const reason = `the setting ${howTo} is ${JSON.stringify(shortened(value, 40))}`;
  throw new MerchantRulesError("SETTINGS_INVALID", reason, { advice: `set it to ${onDriftChoices.join(" or ")}` });
}

/** Returns parameters as people may see them: one that a header carries may be a key, and is shown as a hash. */
function shown(parameters: Connection["parameters"], { operations, auth }: Contract): Record<string, string> {
  const requests = [...Object.values(operations), auth.token, identityOperation(auth)].filter((each) => each !== null);
  const inHeaders = new Set(requests.flatMap(({ headers }) => Object.values(headers).flatMap(namesIn)));
  const pairs = Object.entries(parameters).map(([name, value]) => {
    const hash = createHash("sha256").update(value).digest("hex").slice(0, 12);
    return [name, inHeaders.has(name) ? `(hash) ${hash}` : value] as const;
  });
  return Object.fromEntries(pairs);
}

/** Returns the inputs by which a connection's resource shows people where it leads. */
export function shownInputs({ address, shownParameters }: PlaceOptions): JsonObject {
  const parameters = Object.keys(shownParameters).length === 0 ? {} : { parameters: { ...shownParameters } };
  return { address, ...parameters };
}

function credentialsOf(setting: SettingsReader, { auth }: Contract, isExplicit: boolean): Credentials | undefined {
  if (auth.present === null) return { kind: "none" };
  const places = ["inEnvironment", "configured"] as const;
  for (const from of isExplicit ? places.toReversed() : places) {
    const token = setting("token")[from];
    if (token !== undefined && !presentsClient(auth)) return { kind: "token", token };
    const clientId = setting("clientId")[from] ?? setting("clientId").value;
    const clientSecret = setting("clientSecret")[from];
    if ((auth.token !== null || presentsClient(auth)) && clientId !== undefined && clientSecret !== undefined)
      return { kind: "client", clientId, clientSecret };
  }
  return undefined;
}

function describeCredentials(setting: SettingsReader, { auth }: Contract): string {
  const [token, id, secret] = [setting("token").howTo, setting("clientId").howTo, setting("clientSecret").howTo];
  if (presentsClient(auth)) return `${id} and ${secret}`;
  return auth.token === null ? token : `${id} and ${secret}, or instead of both a token: ${token}`;
}

function missingSettings(name: string, missing: readonly string[]): MerchantRulesError {
  const advice =
    "set each with `pulumi config set <key> <value>` (credentials with --secret; a nested key with --path), or by its environment variable; refresh and destroy see only the stack config of the last `pulumi up`";
  return new MerchantRulesError("SETTINGS_INVALID", `connection "${name}" lacks ${missing.join("; ")}`, { advice });
}
