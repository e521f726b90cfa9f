import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { MerchantRulesError, shortened } from "../sdk/errors.ts";
import { findNotJson, isJson, isJsonObject, type JsonObject, reasonOf, whyNotJson } from "../sdk/rules/json.ts";
import { printable } from "../sdk/rules/printable.ts";
import { pathOf } from "../sdk/rules/walk.ts";
import { type Fault, readTextFile, YamlDocument } from "../sdk/yaml-document.ts";

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
 * @returns the definitions by key, sorted by key
 * @throws MerchantRulesError RULE_INVALID, with the first fault of each file, and its line where there is one. A file is
 * refused that cannot be read, is not one object, declares a field twice, has a merge key (`<<`) or more than 100
 * aliases, holds anything but JSON or an integer that JSON readers cannot hold exactly, or has the key of another file
 * (upper and lower case are the same). A folder inside the folder is refused, too. A program that does not catch the
 * error ends with its message and without a stack trace.
 */
export function loadRules<Definition extends object = JsonObject>(folder: string): Record<string, Definition> {
  const faults: FileFault[] = [];
  const files = new Map<string, { key: string; name: string }>();
  for (const name of namesIn(folder)) {
    if (isFolder(resolve(folder, name))) {
      const what = "is a folder, and folders inside are not read; move its files up, or load it by itself";
      faults.push({ name, what });
      continue;
    }
    const [, stem] = /^(.+)\.(?:ya?ml|json)$/i.exec(name) ?? [];
    if (stem === undefined) continue;
    // Some file systems store accents apart from their letters, and some take upper and lower case for the same.
    const key = stem.normalize("NFC");
    const other = files.get(key.toLowerCase());
    if (other === undefined) files.set(key.toLowerCase(), { key, name });
    else faults.push({ name, what: `has the same key as ${join(folder, other.name)}; each rule is declared once` });
  }
  const rules: [string, JsonObject][] = [];
  for (const { key, name } of [...files.values()].sort((a, b) => (a.key < b.key ? -1 : 1))) {
    const read = readRule(resolve(folder, name));
    if ("fault" in read) faults.push({ name, ...read.fault });
    else rules.push([key, read.rule]);
  }
  if (faults.length > 0) throw invalid(folder, faults);
  // The caller claims what the files hold; see above.
  return Object.fromEntries(rules) as Record<string, Definition>;
}

/** What is wrong with a file, by its name in the folder. */
type FileFault = Fault & { readonly name: string };

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
    throw invalid(folder, [{ name: "", what: `cannot be read: ${reasonOf(cause)}`, cause }]);
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

function readRule(file: string): { rule: JsonObject } | { fault: Fault } {
  const content = readTextFile(file);
  if ("fault" in content) return content;
  const document = new YamlDocument(content.text);
  const read = /\.json$/i.test(file) ? readJson(content.text, document) : document.read();
  if ("fault" in read) return read;
  if (!isJson(read.value)) {
    const { path, found } = findNotJson(read.value) ?? { path: [], found: typeof read.value };
    const place = shortened(pathOf(path), 77);
    const what = `${place} holds ${found}, which is not JSON`.trimStart();
    return { fault: { what, line: document.lineOfPath(path) } };
  }
  if (isJsonObject(read.value)) return { rule: read.value };
  return { fault: { what: "must hold one object: the rule as the service stores it", line: 1 } };
}

/** YAML's parser reads the text, too: of two fields with one name, JSON.parse silently keeps the last. */
function readJson(text: string, document: YamlDocument): { value: unknown } | { fault: Fault } {
  try {
    const value: unknown = JSON.parse(text);
    const fault = document.meaningFault();
    return fault === undefined ? { value } : { fault };
  } catch (error) {
    // No cause: its message may quote the file.
    const reason = whyNotJson(error).replaceAll("\n", "\\n");
    return { fault: { what: `is not JSON: ${reason}`, line: lineOfBadJson(text) } };
  }
}

/**
 * The line where a text stops being JSON. Not every message of JSON.parse has a position, so this is a binary search: a
 * text that is cut before the fault fails at its end, if at all.
 */
function lineOfBadJson(text: string): number {
  const lines = text.trimEnd().split("\n");
  let [low, high] = [1, lines.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (beginsWell(`${lines.slice(0, middle).join("\n")}\n`)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function beginsWell(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const [, position = 0] = /at position (\d+)/.exec(reasonOf(error)) ?? [];
    return reasonOf(error).startsWith("Unexpected end") || Number(position) >= text.length;
  }
}

function invalid(folder: string, faults: readonly FileFault[]): MerchantRulesError {
  const shown = faults.slice(0, 20).map(({ name, line, what }) => {
    const where = line === undefined ? join(folder, name) : `${join(folder, name)}:${line}`;
    return printable(`${where}: ${what}`);
  });
  if (faults.length > shown.length) shown.push(`and ${faults.length - shown.length} more`);
  const reason = shown.length === 1 ? shown.join() : `\n  ${shown.join("\n  ")}`;
  const attempted = `load rules from ${folder}`;
  const advice =
    "fix the files: each .yaml, .yml or .json file of the folder holds one rule, and its name is the rule's key";
  return new InvalidRules("RULE_INVALID", reason, { attempted, advice, cause: faults[0]?.cause });
}
