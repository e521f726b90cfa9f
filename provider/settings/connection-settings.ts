import { type BaseUrl, type Connection, type Credentials, parseBaseUrl } from "../../sdk/client/connection.ts";
import { templatesOf } from "../../sdk/client/request-template.ts";
import { type Contract, identityOperation, namesIn } from "../../sdk/contract/index.ts";
import { MerchantRulesError, shortened } from "../../sdk/errors.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { type OnDrift, onDriftChoices } from "../decide/plan.ts";
import { warn } from "../host/print.ts";
import type { PlaceOptions } from "../merchant/place-options.ts";
import { type FoundContract, findContract } from "./contract-source.ts";
import { clientCertificateOf, credentialsOf, describeCredentials, type SettingPlace } from "./credentials.ts";
import { projectFolder } from "./project-folder.ts";
import { defaultConnection, secretParametersKey } from "./setting-names.ts";
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
 * environment second; for credentials it is the other way round. Files are named from the project's folder. A named connection has its own address, parameters and
 * credentials and falls back to none of the default connection's, but for the contract.
 * @throws MerchantRulesError SETTINGS_INVALID: every missing setting named with its key and its variable; CONTRACT_INVALID.
 */
export function connectionSettings(sources: SettingsSources, name: string = defaultConnection): ConnectionSettings {
  const setting = settingsReader(sources, name);
  const { contract, noContract } = findContract(sources, name);
  const baseUrl = setting("baseUrl");
  const values = Object.entries(contract.parameters).map(([parameter, { default: value }]) => {
    const { howTo, value: own } = setting(`parameters.${parameter}`);
    return { parameter, howTo, value: own ?? value };
  });
  const provider = providerName(sources.config);
  const given = { setting, provider, folder: projectFolder(sources.folder) };
  const { credentials, from, credentialsFrom } = credentialsOf(given, contract);
  const howToGiveCredentials = describeCredentials(setting, contract);
  const missing = [baseUrl, ...values].filter(({ value }) => value === undefined).map(({ howTo }) => howTo);
  if (baseUrl.value === undefined || missing.length > 0)
    throw missingSettings(name, credentials === undefined ? [...missing, howToGiveCredentials] : missing);
  const parameters = Object.fromEntries(values.map(({ parameter, value = "" }) => [parameter, value]));
  // A preview, which sends nothing, fails on what no request could be made of.
  const base = parseBaseUrl(baseUrl.value, `baseUrl of connection ${JSON.stringify(name)}`);
  const { origin, prefix } = base;
  templatesOf({ name, contract, parameters }, prefix);
  const shared = { name: provider ?? name, contract, parameters };
  const secretParameters = secretNames(contract, sources);
  const clientCertificate = clientCertificateOf(given);
  return {
    client: {
      ...shared,
      secretParameters,
      baseUrl: baseUrl.value,
      credentials,
      credentialsFrom,
      clientCertificate,
      howToGiveCredentials,
      noContract,
      insecureTls: insecureTlsIn(setting("insecureTls"), base),
    },
    place: {
      ...shared,
      provider: provider ?? "",
      address: `${origin}${prefix}`,
      credentials,
      clientCertificate,
      secretParameters,
      shownParameters: shown(parameters, secretParameters),
      identity: identityIn(setting, { name: shared.name, contract, isExplicit: provider !== undefined, from }),
    },
    onDrift: onDriftIn(setting("onDrift")),
  };
}

/**
 * Returns the whole connection, and warns where it does not check the service's certificate.
 * @throws MerchantRulesError SETTINGS_INVALID: when its credentials are missing.
 */
export function connectionOf({ howToGiveCredentials, noContract, credentials, ...rest }: ClientSettings): Connection {
  const { name, insecureTls } = rest;
  if (insecureTls !== undefined)
    warn(
      `connection "${name}" does not check certificates of ${insecureTls === "true" ? "this machine" : insecureTls} (setting insecureTls): whoever answers there gets the credentials. What to do: remove it, and name the file of an own authority in NODE_EXTRA_CA_CERTS`,
    );
  if (credentials !== undefined) return { ...rest, credentials };
  const error = missingSettings(rest.name, [howToGiveCredentials]);
  // Client credentials may be there, and nothing that tells how to get a token for them.
  throw noContract === undefined ? error : error.with({ advice: `${error.advice}. Note: ${noContract}` });
}

/** What tells whether an identity may be believed. */
interface IdentityUse {
  readonly name: string;
  readonly contract: Contract;
  readonly isExplicit: boolean;
  /** Where the credentials stand; undefined: there are none. */
  readonly from: SettingPlace | undefined;
}

/**
 * Returns who the credentials must be. Where the contract cannot ask, the setting is believed: so it must stand where the token
 * stands, that both are changed together, and a program, which goes with every token, cannot say it.
 * @throws MerchantRulesError SETTINGS_INVALID: it stands elsewhere
 */
function identityIn(setting: SettingsReader, { name, contract, isExplicit, from }: IdentityUse): string | undefined {
  const { configured, inEnvironment, value, variable, howTo } = setting("identity");
  if (contract.auth.identity !== null || value === undefined) return value;
  const attempted = "compare who the credentials are";
  const nobody =
    "the contract does not say how to ask the service who the credentials are, so that the setting is believed";
  const refused = (reason: string, advice: string): MerchantRulesError =>
    new MerchantRulesError("SETTINGS_INVALID", `${reason}; ${nobody}`, { attempted, advice });
  if (isExplicit && configured !== undefined)
    throw refused(
      `the provider "${name}" has the input identity`,
      `give it beside the token: ${variable} in the environment, and no input identity; or describe auth.identity in the contract`,
    );
  if (from === undefined) return value;
  const beside = { inEnvironment, configured }[from];
  if (beside !== undefined) return beside;
  const key = howTo.split(" ")[0];
  const [here, there] =
    from === "configured"
      ? [isExplicit ? "the program" : "the stack's config", "the environment"]
      : ["the environment", "the stack's config"];
  const advice = isExplicit
    ? `give the credentials by their variables, too: ${variable} stands in the environment`
    : `give both in one place, ${variable} in the environment or ${key} in the stack's config; or describe auth.identity in the contract`;
  throw refused(`the credentials of connection "${name}" stand in ${here}, and its identity in ${there}`, advice);
}

function onDriftIn({ value = "overwrite", howTo }: Setting): OnDrift {
  const choice = onDriftChoices.find((each) => each === value);
  if (choice !== undefined) return choice;
  const reason = `the setting ${howTo} is ${JSON.stringify(shortened(value, 40))}`;
  throw new MerchantRulesError("SETTINGS_INVALID", reason, { advice: `set it to ${onDriftChoices.join(" or ")}` });
}

/** Returns the hosts whose certificates are not checked: those that are named, or this machine. */
function insecureTlsIn({ value, howTo }: Setting, { isLoopback }: BaseUrl): string | undefined {
  const text = value?.toLowerCase().trim();
  if (text === undefined || text === "false") return undefined;
  const refused = (reason: string): MerchantRulesError =>
    new MerchantRulesError(
      "SETTINGS_INVALID",
      `the setting ${howTo} is ${JSON.stringify(shortened(text, 80))}${reason}`,
      {
        advice:
          "for an own certificate authority name its file in NODE_EXTRA_CA_CERTS; to check no certificate of a test service, write its host as in baseUrl, without scheme and port; several with commas",
      },
    );
  if (text === "true" && !isLoopback) throw refused(", which is for this machine alone");
  const isHost = (each: string): boolean =>
    URL.canParse(`https://${each}`) && new URL(`https://${each}`).hostname === each;
  if (!text.split(/[,\s]+/).every(isHost)) throw refused("");
  return text;
}

/** Returns the names of parameters that may be secret: a header carries them, or the explicit provider's program says so. */
function secretNames({ operations, auth, parameters }: Contract, { config }: SettingsSources): ReadonlySet<string> {
  const requests = [...Object.values(operations), auth.token, identityOperation(auth)].filter((each) => each !== null);
  const inHeaders = requests.flatMap(({ headers }) => Object.values(headers).flatMap(namesIn));
  const declared = namesOf(config(secretParametersKey));
  return new Set([...inHeaders, ...(declared.includes("*") ? Object.keys(parameters) : declared)]);
}

function namesOf(text: string | undefined): readonly string[] {
  const names: unknown = text === undefined || text === "" ? [] : JSON.parse(text);
  return Array.isArray(names) ? names.filter((each) => typeof each === "string") : [];
}

function shown(parameters: Connection["parameters"], secrets: ReadonlySet<string>): Record<string, string> {
  const pairs = Object.entries(parameters).map(([name, value]) => [name, secrets.has(name) ? "(secret)" : value]);
  return Object.fromEntries(pairs);
}

/** Returns the inputs by which a connection's resource shows people where it leads. */
export function shownInputs({ address, shownParameters }: PlaceOptions): JsonObject {
  const parameters = Object.keys(shownParameters).length === 0 ? {} : { parameters: { ...shownParameters } };
  return { address, ...parameters };
}

function missingSettings(name: string, missing: readonly string[]): MerchantRulesError {
  const advice =
    "set each with `pulumi config set <key> <value>` (credentials with --secret; a nested key with --path), or by its environment variable; refresh and destroy see only the stack config of the last `pulumi up`";
  return new MerchantRulesError("SETTINGS_INVALID", `connection "${name}" lacks ${missing.join("; ")}`, { advice });
}
