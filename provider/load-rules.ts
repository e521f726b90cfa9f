import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { MerchantRulesError, shortened } from "../sdk/errors.ts";
import { placeOfBadJson } from "../sdk/json-text.ts";
import { canonical } from "../sdk/rules/compare.ts";
import {
  findNotJson,
  isJson,
  isJsonObject,
  type Json,
  type JsonObject,
  reasonOf,
  whyNotJson,
} from "../sdk/rules/json.ts";
import { pathOf } from "../sdk/rules/walk.ts";
import { type Fault, readTextFile, YamlDocument } from "../sdk/yaml-document.ts";

/** Options for a folder of rules. */
export interface LoadRulesOptions<As extends "objects" | "texts" = "objects"> {
  /**
   * A second folder, of what one environment has otherwise. Each of its files is merged over the rule of the same name by
   * JSON Merge Patch (RFC 7396): objects are merged field by field, null removes a field, everything else (arrays, too)
   * takes the place of what was there. A file without such a rule adds one. A file that holds `null` alone leaves the rule
   * out; an empty file does not, it is a fault. Default: none.
   */
  readonly overlay?: string;
  /**
   * `texts`: each definition as its JSON text, in the form that `ruleTexts` gives; for sets of thousands of rules. Default:
   * `objects`.
   */
  readonly as?: As;
}

/**
 * Reads one definition from each `.yaml`, `.yml` and `.json` file of a folder: what `rules` of a MerchantRuleSet takes.
 * A rule's key is its file's name without the extension, so renaming a file renames the key and writes nothing.
 *
 * YAML is 1.2; a `.json` file is JSON and nothing more. A file has at most 1 MiB of UTF-8. Other files are passed over,
 * and so is every name that begins with a dot. An empty folder gives no rules.
 *
 * `Definition` is the program's own claim about its files: `loadRules<MyRule>("rules")`. Nothing is checked against it;
 * what checks definitions is the JSON Schema in the contract (`rule.schema`), where there is one.
 *
 * @param folder its path, from the working directory of the program (with Pulumi: where `Pulumi.yaml` is) if relative
 * @param options `overlay`: a folder of the same form, with what differs in one environment; `as`: objects or texts
 * @returns the definitions by key, sorted by key
 * @throws MerchantRulesError RULE_INVALID, with the first fault of each file, and its line where there is one. A file is
 * refused that cannot be read, is not one object, declares a field twice, has a merge key (`<<`) or more than 100
 * aliases, holds anything but JSON or an integer that JSON readers cannot hold exactly, or has the key of another file
 * (upper and lower case are the same). A folder inside the folder is refused, too. So is a file of the overlay that
 * leaves out a rule which is not there, and an option that there is not. A program that does not catch the error ends with its message and without a
 * stack trace.
 */
export function loadRules(
  folder: string,
  options: LoadRulesOptions<"texts"> & { readonly as: "texts" },
): Record<string, string>;
export function loadRules<Definition extends object = JsonObject>(
  folder: string,
  options?: LoadRulesOptions,
): Record<string, Definition>;
export function loadRules(
  folder: string,
  options: LoadRulesOptions<"objects" | "texts"> = {},
): Record<string, JsonObject | string> {
  const { overlay, areTexts } = optionsIn(options, folder);
  const faults: FileFault[] = [];
  const files = filesIn(folder, faults);
  const rules = new Map<string, JsonObject>();
  for (const { key, file } of files.values()) {
    const read = readRule(resolve(file));
    if ("fault" in read) faults.push({ file, ...read.fault });
    else rules.set(key, read.rule);
  }
  if (overlay !== undefined) layOver(rules, files, filesIn(overlay, faults), faults);
  if (faults.length > 0) throw invalid(overlay === undefined ? folder : `${folder} and ${overlay}`, faults);
  const sorted = [...rules].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(areTexts ? sorted.map(([key, rule]) => [key, canonical(rule)]) : sorted);
}

/** Programs run without a check of their types: a misspelt option would leave every rule as another environment has it. */
function optionsIn(
  options: LoadRulesOptions<"objects" | "texts">,
  folder: string,
): { readonly overlay: string | undefined; readonly areTexts: boolean } {
  const refused = (reason: string): MerchantRulesError =>
    new InvalidRules("RULE_INVALID", reason, {
      attempted: `load rules from ${folder}`,
      advice: 'write loadRules("<folder>", { overlay: "<folder>", as: "texts" }), or leave out what is not needed',
    });
  if (typeof options !== "object" || options === null) throw refused("the second argument is no object of options");
  const unknown = Object.keys(options).find((name) => name !== "overlay" && name !== "as");
  if (unknown !== undefined) throw refused(`there is no option ${JSON.stringify(unknown)}; there are: overlay, as`);
  const { overlay, as = "objects" } = options;
  if (overlay !== undefined && (typeof overlay !== "string" || overlay === ""))
    throw refused("the option overlay does not name a folder");
  if (as !== "objects" && as !== "texts") throw refused('the option as is neither "objects" nor "texts"');
  return { overlay, areTexts: as === "texts" };
}

/** A file that holds a rule, with its path as the caller gave the folder's. */
interface RuleFile {
  readonly key: string;
  readonly file: string;
}

/** The files of rules in a folder, by their keys in lower case. */
function filesIn(folder: string, faults: FileFault[]): Map<string, RuleFile> {
  const files = new Map<string, RuleFile>();
  for (const name of namesIn(folder)) {
    const file = join(folder, name);
    if (isFolder(resolve(file))) {
      const what = "is a folder, and folders inside are not read; move its files up, or load it by itself";
      faults.push({ file, what });
      continue;
    }
    const [, stem] = /^(.+)\.(?:ya?ml|json)$/i.exec(name) ?? [];
    if (stem === undefined) continue;
    // Some file systems store accents apart from their letters, and some take upper and lower case for the same.
    const key = stem.normalize("NFC");
    const other = files.get(key.toLowerCase());
    if (other === undefined) files.set(key.toLowerCase(), { key, file });
    else faults.push({ file, what: `has the same key as ${other.file}; each rule is declared once` });
  }
  return files;
}

/** Changes the rules of a folder as the files of an overlay say. */
function layOver(
  rules: Map<string, JsonObject>,
  base: ReadonlyMap<string, RuleFile>,
  overlay: ReadonlyMap<string, RuleFile>,
  faults: FileFault[],
): void {
  for (const [lowerCase, { key, file }] of overlay) {
    const under = base.get(lowerCase);
    const read = readOverlay(resolve(file));
    if ("fault" in read) faults.push({ file, ...read.fault });
    else if (under !== undefined && under.key !== key)
      faults.push({ file, what: `differs from ${under.file} in upper and lower case alone; give both one name` });
    else if (read.patch !== null) rules.set(key, mergedObject(rules.get(key) ?? {}, read.patch));
    else if (under === undefined)
      faults.push({ file, line: 1, what: "leaves out a rule that is not there; remove the file, or correct its name" });
    else rules.delete(key);
  }
}

/** JSON Merge Patch (RFC 7396). */
function mergedObject(target: JsonObject, patch: JsonObject): JsonObject {
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
class InvalidRules extends MerchantRulesError {
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
      advice: "name a folder that there is; a relative path begins where Pulumi.yaml is",
      cause,
    });
  }
}

/** False where this cannot be found out: reading the file then says why. */
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
  // To YAML an empty text is null, too. A file that lost its content must not delete a rule.
  const isWritten = read.text.replace(/^\s*(?:#.*|---\s*)?$/gm, "").trim() !== "";
  if (read.value === null && isWritten) return { patch: null };
  return { fault: { what: "must hold one object, what differs from the rule; or null, to leave it out", line: 1 } };
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

/** YAML's parser reads the text, too: of two fields with one name, JSON.parse silently keeps the last. */
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
      : [`${faults.length} files or folders are at fault:`, shown.map((line) => `  ${line}`)];
  const attempted = `load rules from ${folder}`;
  const advice =
    "fix the files: each .yaml, .yml or .json file of the folder holds one rule, and its name is the rule's key";
  return new InvalidRules("RULE_INVALID", reason, { lines, attempted, advice, cause: faults[0]?.cause });
}
