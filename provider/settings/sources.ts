import { readdirSync } from "node:fs";
import type { ContractUse } from "../../sdk/contract/index.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { field, isJsonObject, type Json, type JsonObject } from "../../sdk/json/index.ts";
import { meant } from "../../sdk/nearest.ts";
import { projectFolder } from "./project-folder.ts";
import {
  defaultConnection,
  isCredential,
  providerNameKey,
  type SettingName,
  settingNames,
  singleSettings,
  variableName,
} from "./setting-names.ts";

/** The sources of settings. */
export interface SettingsSources extends ContractUse {
  /** Returns a value of the stack's config by its whole key, `merchant-rules:baseUrl`; an object as JSON, a secret plain. */
  readonly config: (key: string) => string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder in which the engine runs the program or the provider. */
  readonly folder: string;
  /** The stack's name, whose own variables come before others. Absent: it is not known, or there is none. */
  readonly stack?: string | undefined;
}

/** One setting of a connection. */
export interface Setting {
  readonly configured: string | undefined;
  readonly inEnvironment: string | undefined;
  /** The value that counts: stack config comes first. */
  readonly value: string | undefined;
  readonly variable: string;
  /** The ways to give it: its key in stack config, and its variable. */
  readonly howTo: string;
}

export type SettingsReader = (setting: SettingName) => Setting;

/**
 * Returns the reader of a connection's settings. A named connection has its own, and none of the default connection's.
 * A stack's own variables, `MERCHANT_RULES__STACK__<STACK>__[<CONNECTION>__]<SETTING>`, come before those that all stacks share.
 * @throws MerchantRulesError SETTINGS_INVALID: stack config that is no object, or has a setting that does not exist; the
 * variables of the stack may be another's as well
 */
export function settingsReader(sources: SettingsSources, name: string): SettingsReader {
  const { config, environment } = sources;
  const isDefault = name === defaultConnection;
  const provider = providerName(config);
  if (provider !== undefined && !isDefault) throw oneConnection(provider, name);
  const own = isDefault ? undefined : ownSettings(config("merchant-rules:connections"), name);
  const keys = isDefault ? "merchant-rules:" : `merchant-rules:connections.${name}.`;
  const ofName = provider ?? (isDefault ? undefined : name);
  const within = ofName === undefined ? "" : `${variableName(ofName)}__`;
  const variables = `MERCHANT_RULES_${within}`;
  const stacks = stackVariables(sources);
  const parameters =
    own === undefined
      ? parsedObject(config(`${keys}parameters`), `${keys}parameters`)
      : objectAt(own.parameters, `${keys}parameters`);
  return (setting) => {
    const parameter = /^parameters\.(.*)$/s.exec(setting)?.[1];
    const single = own === undefined ? config(`${keys}${setting}`) : own[setting];
    const called = `${parameter === undefined ? "" : "PARAM_"}${variableName(parameter ?? setting)}`;
    const isStacks = stacks !== undefined && asString(environment[`${stacks}${within}${called}`]) !== undefined;
    const variable = isStacks ? `${stacks}${within}${called}` : `${variables}${called}`;
    const configured = asString(parameter === undefined ? single : field(parameters, parameter));
    const inEnvironment = asString(environment[variable]);
    const howTo = `${keys}${setting} (or ${variable})`;
    return { configured, inEnvironment, value: configured ?? inEnvironment, variable, howTo };
  };
}

/** What the variables of one stack begin with. No connection's name gives this form: it would begin with a hyphen or `_`. */
export const stackPrefix = "MERCHANT_RULES__STACK__";

/**
 * Returns what the stack's own variables begin with; undefined where the environment has none.
 * @throws MerchantRulesError SETTINGS_INVALID: another stack of the project has the same, or one of its connections may
 */
function stackVariables({ environment, folder, stack }: SettingsSources): string | undefined {
  if (stack === undefined) return undefined;
  const own = ofStack(stack);
  const prefix = `${stackPrefix}${own}__`;
  const given = Object.keys(environment).find((variable) => variable.startsWith(prefix));
  if (given === undefined) return undefined;
  const isTwin = (other: string): boolean =>
    other !== stack && (own === ofStack(other) || own.startsWith(`${ofStack(other)}__`));
  const twin = stacksWithFile(folder).find(isTwin);
  if (twin === undefined) return prefix;
  const reason = `the variable ${given} may be of the stack "${stack}" or of the stack "${twin}"`;
  const advice =
    "rename one of the two, so that they differ in more than case, hyphens, dots and what follows a double underscore; or give the setting in the config of each stack";
  throw new MerchantRulesError("SETTINGS_INVALID", reason, { advice });
}

/** Returns the variable of one stack that stands before one of all stacks: `MERCHANT_RULES__STACK__PROD__TOKEN`. */
export function stackVariable(stack: string, variable: string): string {
  return variable.replace(/^MERCHANT_RULES_/, `${stackPrefix}${ofStack(stack)}__`);
}

/** Returns a stack's name as part of a variable: `shop-nl` is SHOP_NL. */
function ofStack(stack: string): string {
  return variableName(stack.split("/").at(-1) ?? stack).replace(/[^A-Z0-9_]/g, "_");
}

/** Returns the names of the stacks of a project that have a file in its folder, sorted. */
export function stacksWithFile(folder: string): string[] {
  try {
    const names = readdirSync(projectFolder(folder));
    return names.flatMap((name) => /^Pulumi\.(.+)\.(?:yaml|yml|json)$/.exec(name)?.[1] ?? []).sort();
  } catch {
    // They are named to help; what is wrong with the folder is said by whoever needs it.
    return [];
  }
}

/** Returns the name of the explicit provider whose inputs the sources are; undefined where they are a stack's config. */
export function providerName(config: SettingsSources["config"]): string | undefined {
  return asString(config(providerNameKey));
}

/** A setting, and where it comes from. */
export interface SettingOrigin {
  readonly setting: string;
  /** In words: `stack config merchant-rules:baseUrl`; undefined where it is not set. */
  readonly origin: string | undefined;
  /** The value that counts. A caller prints it only where it is no credential. */
  readonly value: string | undefined;
}

/** Finds out where each setting of a connection comes from. @throws MerchantRulesError as settingsReader */
export function settingOrigins(
  sources: SettingsSources,
  parameters: readonly string[],
  name: string = defaultConnection,
): SettingOrigin[] {
  const read = settingsReader(sources, name);
  const names: SettingName[] = [...singleSettings, ...parameters.map((each) => `parameters.${each}` as const)];
  return names.map((setting) => {
    const { configured, inEnvironment, variable, howTo } = read(setting);
    const places = [
      { value: configured, origin: `stack config ${howTo.split(" ")[0]}` },
      { value: inEnvironment, origin: `environment ${variable}` },
    ];
    const first = isCredential(setting) ? places.toReversed() : places;
    const found = first.find(({ value }) => value !== undefined);
    return { setting, origin: found?.origin, value: found?.value };
  });
}

function ownSettings(connections: string | undefined, name: string): JsonObject {
  const key = `merchant-rules:connections.${name}`;
  const all = parsedObject(connections, "merchant-rules:connections");
  const twin = Object.keys(all).find((each) => each !== name && variableName(each) === variableName(name));
  if (twin !== undefined) throw sameVariables(name, twin);
  const own = objectAt(field(all, name), key);
  const unknown = Object.keys(own).find((setting) => !settingNames.includes(setting));
  if (unknown === undefined) return own;
  const reason = `${key} has an unknown setting ${unknown}${meant(unknown, settingNames)}`;
  throw new MerchantRulesError("SETTINGS_INVALID", reason, { advice: `allowed: ${settingNames.join(", ")}` });
}

function oneConnection(provider: string, name: string): MerchantRulesError {
  const reason = `connection "${name}" is named together with the provider "${provider}", which already is a connection`;
  const advice = "remove `connection`, or the option `provider`";
  return new MerchantRulesError("SETTINGS_INVALID", reason, { advice });
}

/** Refuses two connections with one set of variables: they would have each other's address and credentials. */
export function sameVariables(name: string, twin: string): MerchantRulesError {
  const variables = `MERCHANT_RULES_${variableName(name)}__…`;
  const reason = `the connections "${name}" and "${twin}" share their environment variables (${variables})`;
  const advice = "rename one of them, so that the names differ in more than case and hyphens";
  return new MerchantRulesError("SETTINGS_INVALID", reason, { advice });
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

/** Returns a setting's value: numbers and booleans that YAML made of a string are taken as written. */
function asString(value: Json | undefined): string | undefined {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}
