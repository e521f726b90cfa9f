import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { Connection, Credentials } from "../sdk/client/connection.ts";
import {
  type Contract,
  contractFileName,
  isPreset,
  loadContract,
  loadPreset,
  namesIn,
  presets,
} from "../sdk/contract/index.ts";
import { MerchantRulesError } from "../sdk/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../sdk/rules/index.ts";
import type { Answer, Whereabouts } from "./reconcile/index.ts";

/** Where settings come from. */
export interface SettingsSources {
  /** A value of the stack's config by its whole key, `merchant-rules:baseUrl`; objects as JSON text, secrets plain. */
  readonly config: (key: string) => string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder in which the engine runs the program or the provider. */
  readonly folder: string;
}

/** A connection without its credentials, and what is known of those. `check` and `diff` need no credentials. */
export interface ConnectionSettings {
  readonly name: string;
  readonly baseUrl: string;
  readonly contract: Contract;
  readonly parameters: Readonly<Record<string, string>>;
  readonly credentials: Credentials | undefined;
  /** Where this is, as the state says it. */
  readonly whereabouts: Whereabouts;
  /** What the user says for one run. */
  readonly acceptAllGone: Answer;
  readonly moved: Answer;
  readonly recover: Answer;
  /** How to give the credentials that are missing. */
  readonly howToGiveCredentials: string;
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
 * | for one run: believe that every rule is gone | `merchant-rules:acceptAllGone` | `MERCHANT_RULES_ACCEPT_ALL_GONE` |
 * | for one run: the rules are at this place now | `merchant-rules:moved` | `MERCHANT_RULES_MOVED` |
 * | for one run: take over what a killed run made | `merchant-rules:recover` | `MERCHANT_RULES_RECOVER` |
 * | the same of connection `sandbox` | `merchant-rules:connections`, field `sandbox` | `MERCHANT_RULES_SANDBOX__BASE_URL`, … |
 *
 * @throws MerchantRulesError SETTINGS_INVALID: every missing setting named with its key and its variable; CONTRACT_INVALID.
 */
export function connectionSettings(sources: SettingsSources, name: string = defaultConnection): ConnectionSettings {
  const settings = new SettingsReader(sources, name);
  const contract = contractOf(settings, sources);
  const baseUrl = settings.get("baseUrl");
  const parameters = new Map(
    Object.keys(contract.parameters).map((parameter) => [
      parameter,
      settings.parameter(parameter) ?? contract.parameters[parameter]?.default,
    ]),
  );
  const missing = [
    ...(baseUrl === undefined ? [settings.described("baseUrl")] : []),
    ...[...parameters]
      .filter(([, value]) => value === undefined)
      .map(([parameter]) => settings.describedParameter(parameter)),
  ];
  const credentials = credentialsOf(settings, contract);
  const howToGiveCredentials = describeCredentials(settings, contract);
  if (baseUrl === undefined || missing.length > 0) {
    throw missingSettings(name, credentials === undefined ? [...missing, howToGiveCredentials] : missing);
  }
  return {
    name,
    baseUrl,
    contract,
    parameters: Object.fromEntries(
      [...parameters].flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
    ),
    credentials,
    whereabouts: whereaboutsOf(baseUrl, parameters, contract),
    acceptAllGone: settings.answer("acceptAllGone"),
    moved: settings.answer("moved"),
    recover: settings.answer("recover"),
    howToGiveCredentials,
  };
}

/** The whole connection. @throws MerchantRulesError SETTINGS_INVALID: when its credentials are missing. */
export function connectionOf(settings: ConnectionSettings): Connection {
  const { name, baseUrl, contract, parameters, credentials, howToGiveCredentials } = settings;
  if (credentials === undefined) throw missingSettings(name, [howToGiveCredentials]);
  return { name, baseUrl, contract, parameters, credentials };
}

const singleSettings = [
  "baseUrl",
  "contract",
  "token",
  "clientId",
  "clientSecret",
  "acceptAllGone",
  "moved",
  "recover",
] as const;
type Setting = (typeof singleSettings)[number];
const settingNames: readonly string[] = [...singleSettings, "parameters"];

class SettingsReader {
  readonly #sources: SettingsSources;
  readonly #name: string;
  readonly #own: JsonObject | undefined;
  readonly #parameters: JsonObject;

  constructor(sources: SettingsSources, name: string) {
    this.#sources = sources;
    this.#name = name;
    if (name === defaultConnection) {
      this.#parameters = parsedObject(sources.config("merchant-rules:parameters"), "merchant-rules:parameters") ?? {};
      return;
    }
    const connections = parsedObject(sources.config("merchant-rules:connections"), "merchant-rules:connections") ?? {};
    const own = Object.hasOwn(connections, name) ? connections[name] : {};
    if (!isJsonObject(own)) throw notAnObject(`merchant-rules:connections.${name}`);
    const unknown = Object.keys(own).find((key) => !settingNames.includes(key));
    if (unknown !== undefined) {
      throw new MerchantRulesError(
        "SETTINGS_INVALID",
        `merchant-rules:connections.${name} has an unknown setting ${unknown}`,
        { advice: `allowed: ${settingNames.join(", ")}` },
      );
    }
    this.#own = own;
    const parameters = own.parameters ?? {};
    if (!isJsonObject(parameters)) throw notAnObject(`merchant-rules:connections.${name}.parameters`);
    this.#parameters = parameters;
  }

  get(setting: Setting): string | undefined {
    return this.fromConfig(setting) ?? this.fromEnvironment(setting);
  }

  fromConfig(setting: Setting): string | undefined {
    return text(this.#own === undefined ? this.#sources.config(`merchant-rules:${setting}`) : this.#own[setting]);
  }

  fromEnvironment(setting: Setting): string | undefined {
    return text(this.#sources.environment[this.#variable(variableName(setting))]);
  }

  parameter(parameter: string): string | undefined {
    const configured = Object.hasOwn(this.#parameters, parameter) ? this.#parameters[parameter] : undefined;
    return text(configured) ?? text(this.#sources.environment[this.#variable(`PARAM_${variableName(parameter)}`)]);
  }

  /**
   * What is said for one run: by the environment or the stack's config. How to say it names the variable: a refresh or
   * destroy sees the stack's config of the last up, not what was set since.
   */
  answer(setting: Setting): Answer {
    const isGiven = this.fromEnvironment(setting) === "true" || this.fromConfig(setting) === "true";
    return { isGiven, howTo: `${this.#variable(variableName(setting))}=true` };
  }

  described(setting: Setting): string {
    return `${this.#key(setting)} (or ${this.#variable(variableName(setting))})`;
  }

  describedParameter(parameter: string): string {
    return `${this.#key(`parameters.${parameter}`)} (or ${this.#variable(`PARAM_${variableName(parameter)}`)})`;
  }

  #key(setting: string): string {
    return this.#own === undefined
      ? `merchant-rules:${setting}`
      : `merchant-rules:connections.${this.#name}.${setting}`;
  }

  #variable(setting: string): string {
    return this.#own === undefined
      ? `MERCHANT_RULES_${setting}`
      : `MERCHANT_RULES_${variableName(this.#name)}__${setting}`;
  }
}

/** Values that headers carry may be keys, and the state is not the place for those: it keeps a hash of them. */
function whereaboutsOf(
  baseUrl: string,
  parameters: ReadonlyMap<string, string | undefined>,
  { operations, auth }: Contract,
): Whereabouts {
  const requests = [...Object.values(operations), auth.token, auth.identity].filter((each) => each !== null);
  const inHeaders = new Set(requests.flatMap(({ headers }) => Object.values(headers).flatMap(namesIn)));
  const shown = [...parameters].map(([name, value = ""]) => {
    const hash = createHash("sha256").update(value).digest("hex").slice(0, 12);
    return [name, inHeaders.has(name) ? `(hash) ${hash}` : value] as const;
  });
  const at = baseUrl.replace(/\/+$/, "");
  return shown.length === 0 ? { at } : { at, with: Object.fromEntries(shown) };
}

/** A setting's name as part of an environment variable: merchantId → MERCHANT_ID, my-sandbox → MY_SANDBOX. */
export function variableName(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toUpperCase();
}

function contractOf(settings: SettingsReader, sources: SettingsSources): Contract {
  const named = settings.get("contract") ?? new SettingsReader(sources, defaultConnection).get("contract");
  const project = projectFolder(sources.folder);
  if (named !== undefined) {
    if (isPreset(named)) return loadPreset(named);
    return loadContract(isAbsolute(named) ? named : join(project, named));
  }
  const found = [sources.folder, project]
    .map((folder) => join(folder, contractFileName))
    .find((file) => existsSync(file));
  return found === undefined ? loadPreset(presets[0]) : loadContract(found);
}

/** The nearest folder upwards that has a Pulumi.yaml; the folder itself where there is none. */
function projectFolder(folder: string): string {
  for (let here = resolve(folder); ; here = dirname(here)) {
    if (["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"].some((name) => existsSync(join(here, name)))) return here;
    if (dirname(here) === here) return resolve(folder);
  }
}

function credentialsOf(settings: SettingsReader, { auth }: Contract): Credentials | undefined {
  if (auth.present === null) return { kind: "none" };
  for (const from of ["fromEnvironment", "fromConfig"] as const) {
    const token = settings[from]("token");
    if (token !== undefined) return { kind: "token", token };
    const clientId = settings[from]("clientId") ?? settings.get("clientId");
    const clientSecret = settings[from]("clientSecret");
    if (auth.token !== null && clientId !== undefined && clientSecret !== undefined)
      return { kind: "client", clientId, clientSecret };
  }
  return undefined;
}

function describeCredentials(settings: SettingsReader, { auth }: Contract): string {
  const token = settings.described("token");
  return auth.token === null
    ? token
    : `${settings.described("clientId")} and ${settings.described("clientSecret")}, or instead of both a token: ${token}`;
}

function missingSettings(name: string, missing: readonly string[]): MerchantRulesError {
  return new MerchantRulesError("SETTINGS_INVALID", `connection "${name}" lacks ${missing.join("; ")}`, {
    advice:
      "set each with `pulumi config set <key> <value>` (credentials with --secret; a nested key with --path), or by its environment variable; a refresh or destroy sees the stack config of the last `pulumi up` alone",
  });
}

function parsedObject(source: string | undefined, key: string): JsonObject | undefined {
  if (source === undefined || source === "") return undefined;
  let value: Json;
  try {
    value = JSON.parse(source);
  } catch {
    throw notAnObject(key);
  }
  if (!isJsonObject(value)) throw notAnObject(key);
  return value;
}

function notAnObject(key: string): MerchantRulesError {
  return new MerchantRulesError("SETTINGS_INVALID", `${key} is not an object`, {
    advice: `set its fields: pulumi config set --path '${key}.<name>' <value>`,
  });
}

/** Settings are texts; numbers and booleans that YAML made of them are taken as written. */
function text(value: Json | undefined): string | undefined {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}
