import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Connection, type Credentials, parseBaseUrl } from "../../sdk/client/connection.ts";
import { templatesOf } from "../../sdk/client/request-template.ts";
import {
  type Contract,
  type ContractUse,
  contractFileNames,
  identityOperation,
  isPreset,
  loadContract,
  loadPreset,
  namesIn,
  type Preset,
  presentsClient,
  presets,
} from "../../sdk/contract/index.ts";
import { MerchantRulesError, shortened } from "../../sdk/errors.ts";
import { field, isJsonObject, type Json, type JsonObject } from "../../sdk/json/index.ts";
import { meant } from "../../sdk/nearest.ts";
import { type OnDrift, onDriftChoices } from "../reconcile/hand-edits.ts";
import type { Answer, PlaceOptions } from "../reconcile/index.ts";
import { projectFolderAbove } from "./project-folder.ts";
import { settingNames, singleSettings } from "./setting-names.ts";

/** The sources of settings. */
export interface SettingsSources extends ContractUse {
  /** A value of the stack's config by its whole key, `merchant-rules:baseUrl`; objects as JSON text, secrets plain. */
  readonly config: (key: string) => string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder in which the engine runs the program or the provider. */
  readonly folder: string;
}

/**
 * A connection without its credentials, and what is known of those. `check` and `diff` need none, but for a set with
 * onUnmanaged.
 */
export interface ConnectionSettings extends Omit<Connection, "credentials">, PlaceOptions {
  readonly credentials: Credentials | undefined;
  /** The contract's parameters as people may see them: one that a header carries may be a key, and is shown as a hash. */
  readonly shownParameters: Readonly<Record<string, string>>;
  /** What a run does to rules that were changed at the service, where a resource does not say. */
  readonly onDrift: OnDrift;
  /** Names, `project/stack`, under which the state may have been made. */
  readonly formerNames: readonly string[];
  /** The variable that says it. */
  readonly howToNameFormer: string;
  /** The settings by which missing credentials are given. */
  readonly howToGiveCredentials: string;
  /** Says that no contract was found, and where it was looked for; undefined where there is one. */
  readonly noContract: string | undefined;
}

export const defaultConnection = "default";

/**
 * The settings of a connection. Stack config comes first and the environment second; for credentials it is the other
 * way round. A named connection has its own address, parameters and credentials and falls back to none of the
 * default connection's, but for the contract.
 *
 * | setting | stack config | environment |
 * |---|---|---|
 * | address | `merchant-rules:baseUrl` | `MERCHANT_RULES_BASE_URL` |
 * | contract: a preset's name or a file, from the project's folder | `merchant-rules:contract` | `MERCHANT_RULES_CONTRACT` |
 * | parameter `merchantId` of the contract | `merchant-rules:parameters`, field `merchantId` | `MERCHANT_RULES_PARAM_MERCHANT_ID` |
 * | token | `merchant-rules:token` | `MERCHANT_RULES_TOKEN` |
 * | client credentials | `merchant-rules:clientId`, `merchant-rules:clientSecret` | `MERCHANT_RULES_CLIENT_ID`, `MERCHANT_RULES_CLIENT_SECRET` |
 * | who the credentials must be, as `auth.identity` of the contract tells it | `merchant-rules:identity` | `MERCHANT_RULES_IDENTITY` |
 * | what a run does to a rule that was changed at the service: `overwrite` (default) or `fail` | `merchant-rules:onDrift` | `MERCHANT_RULES_ON_DRIFT` |
 * | for one run: believe that every rule is gone | `merchant-rules:acceptAllGone` | `MERCHANT_RULES_ACCEPT_ALL_GONE` |
 * | for one run: the rules are at this place now | `merchant-rules:moved` | `MERCHANT_RULES_MOVED` |
 * | for one run: take over what a killed run made, or what a lost state had | `merchant-rules:recover` | `MERCHANT_RULES_RECOVER` |
 * | for one run: the stack had another name, `project/stack` | `merchant-rules:formerNames` | `MERCHANT_RULES_FORMER_NAMES` |
 * | the same of connection `sandbox` | `merchant-rules:connections`, field `sandbox` | `MERCHANT_RULES_SANDBOX__BASE_URL`, … |
 *
 * @throws MerchantRulesError SETTINGS_INVALID: every missing setting named with its key and its variable; CONTRACT_INVALID.
 */
export function connectionSettings(sources: SettingsSources, name: string = defaultConnection): ConnectionSettings {
  const setting = settingsOf(sources, name);
  const named = setting("contract").value ?? settingsOf(sources, defaultConnection)("contract").value;
  const { contract, noContract } = contractOf(named, sources);
  const baseUrl = setting("baseUrl");
  const parameters = Object.entries(contract.parameters).map(([parameter, { default: value }]) => {
    const given = setting(`parameters.${parameter}`);
    return { parameter, howTo: given.howTo, value: given.value ?? value };
  });
  const credentials = credentialsOf(setting, contract, sources.config(providerNameKey) !== undefined);
  const howToGiveCredentials = describeCredentials(setting, contract);
  const missing = [baseUrl, ...parameters].filter(({ value }) => value === undefined).map(({ howTo }) => howTo);
  if (baseUrl.value === undefined || missing.length > 0)
    throw missingSettings(name, credentials === undefined ? [...missing, howToGiveCredentials] : missing);
  const identity = setting("identity");
  if (identity.value !== undefined && contract.auth.identity === null) {
    const reason = `connection "${name}" has the setting ${identity.howTo}, but its contract does not say how to find out who the credentials are`;
    const advice = "describe auth.identity in the contract, or remove the setting";
    throw new MerchantRulesError("SETTINGS_INVALID", reason, { advice });
  }
  const formerNames = setting("formerNames");
  const values = Object.fromEntries(parameters.map(({ parameter, value = "" }) => [parameter, value]));
  // A preview, which sends nothing, fails on what no request could be made of.
  const { prefix } = parseBaseUrl(baseUrl.value, `baseUrl of connection ${JSON.stringify(name)}`);
  templatesOf({ name, contract, parameters: values }, prefix);
  return {
    name: text(sources.config(providerNameKey)) ?? name,
    baseUrl: baseUrl.value,
    contract,
    parameters: values,
    credentials,
    resourceName: text(sources.config(providerNameKey)) ?? name,
    address: baseUrl.value.replace(/\/+$/, ""),
    shownParameters: shown(values, contract),
    identity: identity.value,
    onDrift: onDriftIn(setting("onDrift")),
    formerNames: (formerNames.value ?? "")
      .split(",")
      .map((each) => each.trim())
      .filter((each) => each !== ""),
    howToNameFormer: formerNames.variable,
    acceptAllGone: answerOf(setting("acceptAllGone")),
    moved: answerOf(setting("moved")),
    recover: answerOf(setting("recover")),
    howToGiveCredentials,
    noContract,
  };
}

/** The whole connection. @throws MerchantRulesError SETTINGS_INVALID: when its credentials are missing. */
export function connectionOf(settings: ConnectionSettings): Connection {
  const { name, baseUrl, contract, parameters, credentials, howToGiveCredentials, noContract } = settings;
  if (credentials === undefined) {
    const error = missingSettings(name, [howToGiveCredentials]);
    // Client credentials may be there, and nothing that tells how to get a token for them.
    throw noContract === undefined ? error : error.with({ advice: `${error.advice}. Note: ${noContract}` });
  }
  return { name, baseUrl, contract, parameters, credentials };
}

/**
 * The contract of a connection, where one is named, or is found in the folder or the project's.
 * @throws MerchantRulesError CONTRACT_INVALID, SETTINGS_INVALID
 */
export function declaredContract(sources: SettingsSources, name: string = defaultConnection): Contract | undefined {
  const own = settingsOf(sources, name)("contract").value;
  const named = own ?? settingsOf(sources, defaultConnection)("contract").value;
  const { contract, noContract } = contractOf(named, sources);
  return noContract === undefined ? contract : undefined;
}

/** A setting, and where it comes from. */
export interface SettingOrigin {
  readonly setting: string;
  /** In words: `stack config merchant-rules:baseUrl`; undefined where it is not set. */
  readonly origin: string | undefined;
  /** The value that counts. A caller prints it only where it is no credential. */
  readonly value: string | undefined;
  /** The ways to give it. */
  readonly howTo: string;
}

/** Where the settings of a connection come from. @throws MerchantRulesError SETTINGS_INVALID: stack config that is no object */
export function settingOrigins(
  sources: SettingsSources,
  parameters: readonly string[],
  name: string = defaultConnection,
): SettingOrigin[] {
  const setting = settingsOf(sources, name);
  const names: SettingName[] = [...singleSettings, ...parameters.map((each) => `parameters.${each}` as const)];
  return names.map((each) => {
    const { configured, inEnvironment, variable, howTo } = setting(each);
    const places = [
      { value: configured, origin: `stack config ${howTo.split(" ")[0]}` },
      { value: inEnvironment, origin: `environment ${variable}` },
    ];
    const first = isCredential(each) ? places.toReversed() : places;
    const found = first.find(({ value }) => value !== undefined);
    return { setting: each, origin: found?.origin, value: found?.value, howTo };
  });
}

/** True of a setting whose value is never printed. */
export function isCredential(setting: string): boolean {
  return ["token", "clientId", "clientSecret"].includes(setting);
}

type SettingName = (typeof singleSettings)[number] | `parameters.${string}`;

/** One setting of a connection. */
interface Setting {
  readonly configured: string | undefined;
  readonly inEnvironment: string | undefined;
  /** The value that counts: stack config comes first. */
  readonly value: string | undefined;
  readonly variable: string;
  /** The ways to give it: its key in stack config, and its variable. */
  readonly howTo: string;
}

type Settings = (setting: SettingName) => Setting;

function settingsOf({ config, environment }: SettingsSources, name: string): Settings {
  const isDefault = name === defaultConnection;
  const provider = text(config(providerNameKey));
  if (provider !== undefined && !isDefault) throw oneConnection(provider, name);
  const own = isDefault ? undefined : ownSettings(config("merchant-rules:connections"), name);
  const keys = isDefault ? "merchant-rules:" : `merchant-rules:connections.${name}.`;
  const ofName = provider ?? (isDefault ? undefined : name);
  const variables = ofName === undefined ? "MERCHANT_RULES_" : `MERCHANT_RULES_${variableName(ofName)}__`;
  const parameters =
    own === undefined
      ? parsedObject(config(`${keys}parameters`), `${keys}parameters`)
      : objectAt(own.parameters, `${keys}parameters`);
  return (setting) => {
    const parameter = /^parameters\.(.*)$/s.exec(setting)?.[1];
    const single = own === undefined ? config(`${keys}${setting}`) : own[setting];
    const variable = `${variables}${parameter === undefined ? "" : "PARAM_"}${variableName(parameter ?? setting)}`;
    const configured = text(parameter === undefined ? single : field(parameters, parameter));
    const inEnvironment = text(environment[variable]);
    const howTo = `${keys}${setting} (or ${variable})`;
    return { configured, inEnvironment, value: configured ?? inEnvironment, variable, howTo };
  };
}

function ownSettings(connections: string | undefined, name: string): JsonObject {
  const key = `merchant-rules:connections.${name}`;
  const all = parsedObject(connections, "merchant-rules:connections");
  const twin = Object.keys(all).find((each) => each !== name && variableName(each) === variableName(name));
  if (twin !== undefined) throw sameVariables(name, twin);
  const own = objectAt(field(all, name), key);
  const known = settingNames;
  const unknown = Object.keys(own).find((setting) => !known.includes(setting));
  if (unknown === undefined) return own;
  const advice = `allowed: ${known.join(", ")}`;
  throw new MerchantRulesError("SETTINGS_INVALID", `${key} has an unknown setting ${unknown}${meant(unknown, known)}`, {
    advice,
  });
}

/** The input of an explicit provider that holds its name. */
export const providerNameKey = "merchant-rules:provider";

function oneConnection(provider: string, name: string): MerchantRulesError {
  const reason = `connection "${name}" is named together with the provider "${provider}", which already is a connection`;
  const advice = "remove `connection`, or the option `provider`";
  return new MerchantRulesError("SETTINGS_INVALID", reason, { advice });
}

/** Two connections of one set of variables would have each other's address and credentials. */
export function sameVariables(name: string, twin: string): MerchantRulesError {
  const variables = `MERCHANT_RULES_${variableName(name)}__…`;
  const reason = `the connections "${name}" and "${twin}" share their environment variables (${variables})`;
  const advice = "rename one of them, so that the names differ in more than case and hyphens";
  return new MerchantRulesError("SETTINGS_INVALID", reason, { advice });
}

/** To be given by the variable: a refresh or destroy sees the stack's config of the last up, not what was set since. */
function answerOf({ configured, inEnvironment, variable }: Setting): Answer {
  return { isGiven: inEnvironment === "true" || configured === "true", howTo: `${variable}=true` };
}

function onDriftIn({ value = "overwrite", howTo }: Setting): OnDrift {
  const choice = onDriftChoices.find((each) => each === value);
  if (choice !== undefined) return choice;
  const reason = `the setting ${howTo} is ${JSON.stringify(shortened(value, 40))}`;
  throw new MerchantRulesError("SETTINGS_INVALID", reason, { advice: `set it to ${onDriftChoices.join(" or ")}` });
}

/** Values that headers carry may be keys, and the state is not the place for those: it keeps a hash of them. */
function shown(parameters: Connection["parameters"], { operations, auth }: Contract): Record<string, string> {
  const requests = [...Object.values(operations), auth.token, identityOperation(auth)].filter((each) => each !== null);
  const inHeaders = new Set(requests.flatMap(({ headers }) => Object.values(headers).flatMap(namesIn)));
  const pairs = Object.entries(parameters).map(([name, value]) => {
    const hash = createHash("sha256").update(value).digest("hex").slice(0, 12);
    return [name, inHeaders.has(name) ? `(hash) ${hash}` : value] as const;
  });
  return Object.fromEntries(pairs);
}

/** The inputs by which a connection's resource shows people where it leads. */
export function shownInputs({
  address,
  shownParameters,
}: Pick<PlaceOptions, "address" | "shownParameters">): JsonObject {
  const parameters = Object.keys(shownParameters).length === 0 ? {} : { parameters: { ...shownParameters } };
  return { address, ...parameters };
}

/** A setting's name as part of an environment variable: merchantId → MERCHANT_ID, my-sandbox → MY_SANDBOX. */
export function variableName(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toUpperCase();
}

/** Where the contract of a connection comes from. */
export interface ContractSource {
  /** The file, or the preset. */
  readonly found: { readonly file: string } | { readonly preset: Preset };
  /** The folders in which a file was looked for, because none was named. */
  readonly searched: readonly string[];
}

/** Where a connection's contract comes from, without reading it. */
export function contractSource(sources: SettingsSources, name: string = defaultConnection): ContractSource {
  const own = settingsOf(sources, name)("contract").value;
  return sourceOf(own ?? settingsOf(sources, defaultConnection)("contract").value, sources.folder);
}

function sourceOf(named: string | undefined, folder: string): ContractSource {
  const project = projectFolder(folder);
  if (named !== undefined)
    return { found: isPreset(named) ? { preset: named } : { file: resolve(project, named) }, searched: [] };
  const searched = [...new Set([resolve(folder), project])];
  const files = searched.flatMap((each) => contractFileNames.map((file) => join(each, file)));
  const file = files.find((each) => existsSync(each));
  return { found: file === undefined ? { preset: presets[0] } : { file }, searched };
}

/** The contract by a preset's name or a file's path; without either, the file found in the folder or the project's. */
function contractOf(
  named: string | undefined,
  { folder, ...use }: SettingsSources,
): Pick<ConnectionSettings, "contract" | "noContract"> {
  const { found, searched } = sourceOf(named, folder);
  if ("file" in found) return { contract: loadContract(found.file, use), noContract: undefined };
  const contract = loadPreset(found.preset, use);
  if (searched.length === 0) return { contract, noContract: undefined };
  return {
    contract,
    noContract: `no contract was found (looked for ${contractFileNames.join(" and ")} in ${searched.join(" and ")}), so only what the service's specification documents is known. Write one (\`npx --no-install merchant-rules contract init\` asks for what it needs), or name a file or a preset in merchant-rules:contract`,
  };
}

/** The nearest folder upwards that has a Pulumi.yaml; the folder itself where there is none. */
export function projectFolder(folder: string): string {
  return projectFolderAbove(folder) ?? resolve(folder);
}

function credentialsOf(setting: Settings, { auth }: Contract, isExplicit: boolean): Credentials | undefined {
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

function describeCredentials(setting: Settings, { auth }: Contract): string {
  const [token, id, secret] = [setting("token").howTo, setting("clientId").howTo, setting("clientSecret").howTo];
  if (presentsClient(auth)) return `${id} and ${secret}`;
  return auth.token === null ? token : `${id} and ${secret}, or instead of both a token: ${token}`;
}

function missingSettings(name: string, missing: readonly string[]): MerchantRulesError {
  const advice =
    "set each with `pulumi config set <key> <value>` (credentials with --secret; a nested key with --path), or by its environment variable; refresh and destroy see only the stack config of the last `pulumi up`";
  return new MerchantRulesError("SETTINGS_INVALID", `connection "${name}" lacks ${missing.join("; ")}`, { advice });
}

function parsedObject(source: string | undefined, key: string): JsonObject {
  try {
    return objectAt(source === undefined || source === "" ? undefined : JSON.parse(source), key);
  } catch {
    throw notAnObject(key);
  }
}

function objectAt(value: Json = {}, key: string): JsonObject {
  if (!isJsonObject(value)) throw notAnObject(key);
  return value;
}

function notAnObject(key: string): MerchantRulesError {
  const advice = `set its fields: pulumi config set --path '${key}.<name>' <value>`;
  return new MerchantRulesError("SETTINGS_INVALID", `${key} is not an object`, { advice });
}

/** Settings are texts; numbers and booleans that YAML made of them are taken as written. */
function text(value: Json | undefined): string | undefined {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}
