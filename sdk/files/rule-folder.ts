import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { MerchantRulesError, shortened } from "../errors.ts";
import {
  field,
  findNotJson,
  isJson,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  reasonOf,
  whyNotJson,
} from "../json/json.ts";
import { pointerOf, valueAt } from "../json/pointer.ts";
import { type Path, pathOf } from "../json/walk.ts";
import { placeOfBadJson } from "./json-text.ts";
import { type Fault, readTextFile, YamlDocument } from "./yaml-document.ts";

/** A rule, and the files from which its definition comes. Paths are as the caller gave those of the folders. */
export interface RuleSource {
  readonly key: string;
  /** The definition, with the overlay merged over it. */
  readonly rule: JsonObject;
  /** Its file in the folder; undefined for a rule that the overlay adds. */
  readonly base: RuleFile | undefined;
  /** Its file in the overlay; undefined where the overlay has none. */
  readonly overlay: RuleFile | undefined;
}

/** A file of a folder of rules. */
export interface RuleFile {
  readonly file: string;
  /** Its content: a rule, or what an overlay has otherwise. */
  readonly content: JsonObject;
}

/** A place in a file of rules, from 1. */
export interface RulePlace {
  readonly file: string;
  readonly line: number;
}

/**
 * Reads a folder of rules, and an overlay, as {@link loadRules} has them.
 * @returns the rules by key, in the order of their keys
 * @throws MerchantRulesError RULE_INVALID, with the first fault of each file
 */
export function readRuleFolder(folder: string, overlay?: string): Map<string, RuleSource> {
  const faults: FileFault[] = [];
  const files = filesIn(folder, faults);
  const rules = new Map<string, RuleSource>();
  for (const { key, file } of files.values()) {
    const read = readRule(resolve(file));
    if ("fault" in read) faults.push({ file, ...read.fault });
    else rules.set(key, { key, rule: read.rule, base: { file, content: read.rule }, overlay: undefined });
  }
  if (overlay !== undefined) layOver(rules, files, filesIn(overlay, faults), faults);
  if (faults.length > 0) throw invalid(overlay === undefined ? folder : `${folder} and ${overlay}`, faults);
  return new Map([...rules].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the file from which the value at a path of a rule comes, or would come. */
export function fileOf({ base, overlay }: RuleSource, path: Path): RuleFile | undefined {
  if (base === undefined || overlay === undefined) return base ?? overlay;
  let here: Json = overlay.content;
  for (const name of path) {
    // An array, a string and so on take the place of all that was there.
    if (!isJsonObject(here)) return overlay;
    const next: Json | undefined = field(here, String(name));
    if (next === undefined) return base;
    here = next;
  }
  return isJsonObject(here) && isJsonObject(valueAt(base.content, pointerOf(path))) ? base : overlay;
}

/**
 * Returns the place of the value at a path of a rule, or of the nearest value around it that is written down.
 * @throws MerchantRulesError RULE_INVALID: the file cannot be read any more
 */
export function placeOf(source: RuleSource, path: Path): RulePlace | undefined {
  const file = fileOf(source, path)?.file;
  if (file === undefined) return undefined;
  const content = readTextFile(resolve(file));
  if ("fault" in content) throw invalid(file, [{ file, ...content.fault }]);
  return { file, line: new YamlDocument(content.text).placeOfPath(path).line };
}

/** A file that is to hold a rule, with its path as the caller gave the folder's. */
interface NamedFile {
  readonly key: string;
  readonly file: string;
}

/** Lists the files of rules in a folder, by their keys in lower case. @param faults gets the files that are refused */
function filesIn(folder: string, faults: FileFault[]): Map<string, NamedFile> {
  const files = new Map<string, NamedFile>();
  for (const name of namesIn(folder)) {
    const file = join(folder, name);
    if (isFolder(resolve(file))) {
      const what = "is a folder, and folders inside are not read; move its files up, or load it by itself";
      faults.push({ file, what });
      continue;
    }
    const [, stem] = /^(.+)\.(?:ya?ml|json)$/i.exec(name) ?? [];
    if (stem === undefined || isTests(file)) continue;
    // Some file systems store accents apart from their letters, and some take upper and lower case for the same.
    const key = stem.normalize("NFC");
    const other = files.get(key.toLowerCase());
    if (other === undefined) files.set(key.toLowerCase(), { key, file });
    else faults.push({ file, what: `has the same key as ${other.file}; each rule is declared once` });
  }
  return files;
}

/** Decides whether a file holds tests, as `merchant-rules test` takes them. One that only has such a name is a rule. */
function isTests(file: string): boolean {
  if (!/\.test\.ya?ml$/i.test(file)) return false;
  const read = readJsonFile(resolve(file));
  if ("fault" in read || !isJsonObject(read.value)) return false;
  return field(read.value, "version") === 1 && isJsonArray(field(read.value, "cases"));
}

/** Merges the files of an overlay over the rules of a folder. @param faults gets the files that are refused */
function layOver(
  rules: Map<string, RuleSource>,
  base: ReadonlyMap<string, NamedFile>,
  overlay: ReadonlyMap<string, NamedFile>,
  faults: FileFault[],
): void {
  for (const [lowerCase, { key, file }] of overlay) {
    const under = base.get(lowerCase);
    const read = readOverlay(resolve(file));
    if ("fault" in read) faults.push({ file, ...read.fault });
    else if (under !== undefined && under.key !== key)
      faults.push({ file, what: `differs from ${under.file} only in upper and lower case; give both the same name` });
    else if (read.patch !== null) {
      const own = rules.get(key)?.base;
      const rule = mergedObject(own?.content ?? {}, read.patch);
      rules.set(key, { key, rule, base: own, overlay: { file, content: read.patch } });
    } else if (under === undefined)
      faults.push({ file, line: 1, what: "leaves out a rule that is not there; remove the file, or correct its name" });
    else rules.delete(key);
  }
}

/** Applies a JSON Merge Patch (RFC 7396). */
export function mergedObject(target: JsonObject, patch: JsonObject): JsonObject {
  const fields = new Map(Object.entries(target));
  for (const [name, value] of Object.entries(patch)) {
    const before = fields.get(name);
    if (value === null) fields.delete(name);
    else fields.set(name, isJsonObject(value) ? mergedObject(isJsonObject(before) ? before : {}, value) : value);
  }
  return Object.fromEntries(fields);
}

/** The fault of a file, with its path. */
type FileFault = Fault & { readonly file: string };

/** Pulumi's language host prints only the message of an error that has this mark; of any other, the stack trace too. */
export class InvalidRules extends MerchantRulesError {
  readonly __pulumiRunError = true;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(resolve(folder))
      .filter((name) => !name.startsWith("."))
      .sort();
  } catch (cause) {
    throw new InvalidRules("RULE_INVALID", `the folder cannot be read: ${reasonOf(cause)}`, {
      attempted: `load rules from ${folder}`,
      advice: "name a folder that exists; a relative path begins where Pulumi.yaml is",
      cause,
    });
  }
}

/** Decides whether a path is a folder; false where this cannot be found out: reading the file then says why. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

const oneObject = "must hold one object: the rule as the service stores it";

function readRule(file: string): { rule: JsonObject } | { fault: Fault } {
  const read = readJsonFile(file);
  if ("fault" in read) return read;
  return isJsonObject(read.value) ? { rule: read.value } : { fault: { what: oneObject, line: 1 } };
}

function readOverlay(file: string): { patch: JsonObject | null } | { fault: Fault } {
  const read = readJsonFile(file);
  if ("fault" in read) return read;
  if (isJsonObject(read.value)) return { patch: read.value };
  // To YAML an empty file is null, too. A file that lost its content must not delete a rule.
  const isWritten = read.text.replace(/^\s*(?:#.*|---\s*)?$/gm, "").trim() !== "";
  if (read.value === null && isWritten) return { patch: null };
  return {
    fault: { what: "must hold one object with what differs from the rule, or null to leave the rule out", line: 1 },
  };
}

function readJsonFile(file: string): { value: Json; text: string } | { fault: Fault } {
  const content = readTextFile(file);
  if ("fault" in content) return content;
  const { text } = content;
  const document = new YamlDocument(text);
  const read = /\.json$/i.test(file) ? readJson(text, document) : document.read();
  if ("fault" in read) return read;
  if (isJson(read.value)) return { value: read.value, text };
  const { path, found } = findNotJson(read.value) ?? { path: [], found: typeof read.value };
  const place = shortened(pathOf(path), 77);
  const what = `${place} holds ${found}, which is not JSON`.trimStart();
  return { fault: { what, line: document.placeOfPath(path).line } };
}

/** Reads JSON, by YAML's parser too: of two fields with one name, JSON.parse silently keeps the last. */
function readJson(text: string, document: YamlDocument): { value: unknown } | { fault: Fault } {
  try {
    const value: unknown = JSON.parse(text);
    const fault = document.meaningFault();
    return fault === undefined ? { value } : { fault };
  } catch (error) {
    // No cause: its message may quote the file.
    const reason = whyNotJson(error);
    return { fault: { what: `is not JSON: ${reason}`, line: placeOfBadJson(text, error).line } };
  }
}

function invalid(folder: string, faults: readonly FileFault[]): MerchantRulesError {
  const shown = faults
    .slice(0, 20)
    .map(({ file, line, what }) => `${line === undefined ? file : `${file}:${line}`}: ${what}`);
  if (faults.length > shown.length) shown.push(`and ${faults.length - shown.length} more`);
  const [only, ...others] = shown;
  const [reason = "", lines = []] =
    others.length === 0
      ? [only]
      : [`${faults.length} files or folders cannot be used:`, shown.map((line) => `  ${line}`)];
  const attempted = `load rules from ${folder}`;
  const advice =
    "fix the files: each .yaml, .yml or .json file of the folder holds one rule, and its name is the rule's key";
  return new InvalidRules("RULE_INVALID", reason, { lines, attempted, advice, cause: faults[0]?.cause });
}
