import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { isJson, isJsonObject, type JsonObject, reasonOf } from "../../sdk/json/json.ts";
import { manifest, testScript } from "./project-files.ts";

/** A package.json that is there, with what a project needs beside it. */
export interface KeptManifest {
  readonly text: string;
  /** What was added, as paths: `scripts.test`. */
  readonly added: readonly string[];
  /** What runs the project's test: another script `test` stays as it is. */
  readonly testCommand: string;
}

/**
 * Adds to the package.json of a folder what it lacks. Nothing that it says is changed, and its indent stays. Writes nothing.
 * @returns undefined where none is there
 * @throws MerchantRulesError SETTINGS_INVALID: it is no JSON object, or says what the project cannot run with
 */
export function keptManifest(folder: string, attempted: string): KeptManifest | undefined {
  const path = join(folder, "package.json");
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const refuse = (reason: string, advice: string): never => {
    throw new MerchantRulesError("SETTINGS_INVALID", `${path} ${reason}, so nothing was written`, {
      attempted,
      advice,
    });
  };
  const text = readFileSync(path, "utf8");
  const old = parsed(text);
  if (typeof old === "string") return refuse(`cannot be read: ${old}`, "correct it, or move it away");
  const { main, type, scripts, dependencies, devDependencies } = manifest(folder);
  const wrong = [
    ...(old.main === undefined || ["index.ts", "./index.ts"].includes(String(old.main)) ? [] : ["main"]),
    ...(old.type === undefined || old.type === "module" ? [] : ["type"]),
  ];
  if (wrong.length > 0) {
    const said = wrong.map((name) => `${JSON.stringify(name)}: ${JSON.stringify(old[name])}`).join(" and ");
    const advice = "run `npm pkg set type=module main=index.ts` in that folder, or name another folder";
    return refuse(`says ${said}, and the project's program is index.ts, a module`, advice);
  }
  const groups = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"] as const;
  for (const group of ["scripts", ...groups])
    if (old[group] !== undefined && !isJsonObject(old[group]))
      return refuse(`has ${JSON.stringify(group)} that is no object`, "correct it, or move it away");
  const has = (group: string, name: string): boolean => isJsonObject(old[group]) && Object.hasOwn(old[group], name);
  const lacking = (wanted: Readonly<Record<string, string>>): [string, string][] =>
    Object.entries(wanted).filter(([name]) => !groups.some((group) => has(group, name)));
  const more = {
    scripts: Object.entries(scripts).filter(([name]) => !has("scripts", name)),
    dependencies: lacking(dependencies),
    devDependencies: lacking(devDependencies),
  };
  const topLevel = Object.entries({ type, main }).filter(([name]) => old[name] === undefined);
  const grown = Object.entries(more).flatMap(([group, entries]) =>
    entries.length === 0
      ? []
      : [[group, { ...(isJsonObject(old[group]) ? old[group] : {}), ...Object.fromEntries(entries) }] as const],
  );
  const added = [
    ...topLevel.map(([name]) => name),
    ...Object.entries(more).flatMap(([group, entries]) => entries.map(([name]) => `${group}.${name}`)),
  ];
  const isOurs = !isJsonObject(old.scripts) || (old.scripts.test ?? testScript) === testScript;
  const whole = { ...old, ...Object.fromEntries(topLevel), ...Object.fromEntries(grown) };
  return {
    text: added.length === 0 ? text : asWritten(whole, text),
    added,
    testCommand: isOurs ? "npm test" : testScript,
  };
}

function parsed(text: string): JsonObject | string {
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) && isJsonObject(value) ? value : "it holds no object";
  } catch (error) {
    return reasonOf(error);
  }
}

/** Writes JSON with the indent, the line breaks and the end of another text. */
function asWritten(value: JsonObject, like: string): string {
  const indent = /^\s*\{\r?\n([ \t]+)/.exec(like)?.[1] ?? "  ";
  const end = /\s*$/.exec(like)?.[0] ?? "";
  const lines = JSON.stringify(value, null, indent);
  return `${like.includes("\r\n") ? lines.replaceAll("\n", "\r\n") : lines}${end}`;
}
