import { resolve } from "node:path";
import { definitionChecker, schemaError } from "../../../sdk/contract/definition-schema.ts";
import { isJson, isJsonObject, type Json, type JsonObject, pointerOf, valueAt } from "../../../sdk/json/index.ts";
import { whyNotJson } from "../../../sdk/json/json.ts";
import { printable } from "../../../sdk/json/printable.ts";
import { meant } from "../../../sdk/nearest.ts";
import { EngineError } from "../../../stack/errors.ts";
import { readIfThere } from "../../../stack/state/files.ts";
import { unsupported } from "../../../stack/unsupported.ts";
import { levels } from "./findings.ts";
import type { PackInfo, PolicyInfo, PolicySetting, PolicySettings } from "./pack-info.ts";

/**
 * Reads a pack's configuration: an object of policies, each a level or an object with `enforcementLevel` and the
 * policy's own properties.
 * @throws EngineError POLICY_PACK: no such file, not JSON, not of that form
 */
export async function readPolicyConfig(name: string, cwd: string): Promise<PolicySettings> {
  const file = resolve(cwd, name);
  const text = await readIfThere(file);
  if (text === undefined) {
    const advice = "name a JSON file with --policy-pack-config";
    throw new EngineError("POLICY_PACK", `there is no file ${name}\nWhat to do: ${advice}`);
  }
  const settings = new Map<string, PolicySetting>();
  if (text.trim() === "") return settings;
  for (const [policy, value] of Object.entries(objectIn(text, name))) {
    if (policy === "environments") throw unsupported("environment", `a Pulumi ESC environment (${name})`);
    settings.set(policy, settingOf(value, policy, name));
  }
  return settings;
}

function objectIn(text: string, file: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new EngineError("POLICY_PACK", `${file} is not JSON: ${printable(whyNotJson(error))}`);
  }
  if (isJson(value) && isJsonObject(value)) return value;
  throw new EngineError("POLICY_PACK", `${file} is not an object, in which each key is the name of a policy`);
}

function settingOf(value: Json, policy: string, file: string): PolicySetting {
  const isObject = isJsonObject(value);
  const { enforcementLevel: found, ...properties } = isObject ? value : { enforcementLevel: value };
  const level = levels.find((each) => each === found);
  if (level !== undefined || (isObject && found === undefined)) return { level, properties };
  const path = isObject ? "/enforcementLevel" : "";
  const allowed = `${levels.join(", ")}${isObject ? "" : ", or an object with enforcementLevel and the policy's own properties"}`;
  throw new EngineError("POLICY_PACK", `${file}: ${policy}${path}: found ${shown(found)}, allowed are ${allowed}`);
}

/**
 * Returns the settings that each policy of a pack gets: its own defaults, then what the pack sets, then the user's file.
 * @throws EngineError POLICY_PACK: the file names what the pack does not have, or a value does not fit a policy's schema
 */
export function settle(info: PackInfo, user: PolicySettings, file: string | undefined): PolicySettings {
  const settled = new Map<string, PolicySetting>();
  for (const { name, level, schema } of info.policies) {
    const defaults = Object.entries(schema?.properties ?? {}).flatMap(([key, property]): [string, Json][] =>
      isJsonObject(property) && property.default !== undefined ? [[key, property.default]] : [],
    );
    settled.set(name, { level, properties: Object.fromEntries(defaults) });
  }
  const source = file ?? `the policy pack ${info.name}@v${info.version}`;
  for (const settings of [info.settings, user]) {
    const all = settings.get("all")?.level;
    if (all !== undefined) for (const [name, setting] of settled) settled.set(name, { ...setting, level: all });
    for (const [name, { level, properties }] of settings) {
      const before = settled.get(name);
      if (before === undefined && name !== "all" && settings === user) throw noSuchPolicy(name, info, source);
      if (before === undefined) continue;
      settled.set(name, { level: level ?? before.level, properties: { ...before.properties, ...properties } });
    }
  }
  const faults = info.policies.flatMap((policy) =>
    faultsOf(policy, settled.get(policy.name)?.properties ?? {}, user.get(policy.name)?.properties ?? {}),
  );
  if (faults.length === 0) return settled;
  throw new EngineError("POLICY_PACK", [`${source}:`, ...faults].join(faults.length === 1 ? " " : "\n  "));
}

function noSuchPolicy(name: string, { name: pack, version, policies }: PackInfo, file: string): EngineError {
  const names = policies.map((policy) => policy.name);
  const advice = `name one of its policies${meant(name, names)}: ${["all", ...names].join(", ")}`;
  return new EngineError(
    "POLICY_PACK",
    `${file}: the policy pack ${pack}@v${version} has no policy ${shown(name)}\nWhat to do: ${advice}`,
  );
}

/** Returns the faults in the properties of one policy: those that its schema finds, and names that the schema does not know. */
function faultsOf({ name, schema }: PolicyInfo, properties: JsonObject, given: JsonObject): string[] {
  if (schema === undefined) return [];
  const unknown = Object.keys(given).filter((key) => !Object.hasOwn(schema.properties, key));
  const names = Object.keys(schema.properties);
  const allowed = names.length === 0 ? "nothing" : names.join(", ");
  const said = unknown.map(
    (key) => `${name}${pointerOf([key])}: the policy has no such property${meant(key, names)}, allowed are ${allowed}`,
  );
  const whole = { type: "object", properties: schema.properties, required: schema.required };
  const broken = schemaError(whole);
  if (broken !== undefined) return [`${name}: its configSchema is not a JSON Schema: ${broken}`];
  const faults = definitionChecker(whole)(properties).map(({ path, reason }) => {
    const found = valueAt(properties, pointerOf(path));
    return `${name}${pointerOf(path)}: found ${shown(found)}, but it ${reason}`;
  });
  return [...said, ...faults];
}

function shown(value: Json | undefined): string {
  return value === undefined ? "nothing" : printable(JSON.stringify(value), 100);
}
