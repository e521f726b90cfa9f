import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { MerchantRulesError } from "../sdk/errors.ts";
import { findNotJson, isJson, isJsonObject, type Json, type JsonObject, whyNotJson } from "../sdk/rules/json.ts";
import { printable } from "../sdk/rules/printable.ts";
import { type FileFault, readTextFile } from "../sdk/text-file.ts";
import { YamlDocument, type YamlFault } from "../sdk/yaml-document.ts";

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
  const { files, faults } = filesIn(folder);
  const rules: [string, JsonObject][] = [];
  for (const { key, file } of files) {
    try {
      rules.push([key, readRule(file, resolve(folder, file.name))]);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      faults.push(error);
    }
  }
  if (faults.length > 0) throw invalid(folder, faults);
  // The caller claims what the files hold; see above.
  return Object.fromEntries(rules) as Record<string, Definition>;
}

/** A file by its name in the folder, and as messages name it. */
interface RuleFile {
  readonly name: string;
  readonly shown: string;
}

/** Pulumi's language host prints only the message of an error that has this mark; of any other, the stack trace too. */
class InvalidRules extends MerchantRulesError {
  readonly __pulumiRunError = true;
}

class Fault extends Error {
  constructor(where: string, what: string, options?: ErrorOptions) {
    super(printable(`${where}: ${what}`), options);
  }
}

function filesIn(folder: string): { files: { key: string; file: RuleFile }[]; faults: Fault[] } {
  const byKey = new Map<string, { key: string; file: RuleFile }>();
  const faults: Fault[] = [];
  for (const name of namesIn(folder)) {
    const file = { name, shown: join(folder, name) };
    if (isFolder(resolve(folder, name))) {
      faults.push(
        new Fault(file.shown, "is a folder, and folders inside are not read; move its files up, or load it by itself"),
      );
      continue;
    }
    const [, stem] = /^(.+)\.(?:ya?ml|json)$/i.exec(name) ?? [];
    if (stem === undefined) continue;
    // Some file systems store accents apart from their letters, and some take upper and lower case for the same.
    const key = stem.normalize("NFC");
    const other = byKey.get(key.toLowerCase());
    if (other === undefined) byKey.set(key.toLowerCase(), { key, file });
    else faults.push(new Fault(file.shown, `has the same key as ${other.file.shown}; each rule is declared once`));
  }
  const files = [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  return { files, faults };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(resolve(folder))
      .filter((name) => !name.startsWith("."))
      .sort();
  } catch (cause) {
    throw invalid(folder, [new Fault(folder, `cannot be read: ${reasonOf(cause)}`, { cause })]);
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

function readRule({ name, shown }: RuleFile, path: string): JsonObject {
  const read = readTextFile(path);
  if ("fault" in read) throw faultAt(read.fault, shown);
  const value = /\.json$/i.test(name) ? parseJson(read.text, shown) : parseYaml(read.text, shown);
  if (!isJsonObject(value)) throw new Fault(`${shown}:1`, "must hold one object: the rule as the service stores it");
  return value;
}

/** YAML's parser reads the text, too: of two fields with one name, JSON.parse silently keeps the last. */
function parseJson(text: string, shown: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // No cause: its message may quote the file.
    const reason = whyNotJson(error).replaceAll("\n", "\\n");
    throw new Fault(`${shown}:${lineOfBadJson(text)}`, `is not JSON: ${reason}`);
  }
  const document = new YamlDocument(text);
  return jsonOf(value, document, document.meaningFault(), shown);
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
    const message = reasonOf(error);
    const position = /at position (\d+)/.exec(message)?.[1];
    return message.startsWith("Unexpected end") || (position !== undefined && Number(position) >= text.length);
  }
}

function parseYaml(text: string, shown: string): Json {
  const document = new YamlDocument(text);
  const read = document.read();
  if ("fault" in read) throw faultAt(read.fault, shown);
  return jsonOf(read.value, document, undefined, shown);
}

function jsonOf(value: unknown, document: YamlDocument, fault: YamlFault | undefined, shown: string): Json {
  if (isJson(value)) {
    if (fault !== undefined) throw faultAt(fault, shown);
    return value;
  }
  const { path, found } = findNotJson(value) ?? { path: "", found: typeof value };
  const place = path.length > 80 ? `${path.slice(0, 77)}...` : path;
  throw new Fault(`${shown}:${document.lineOfPath(path)}`, `${place} holds ${found}, which is not JSON`.trimStart());
}

function faultAt({ line, what, cause }: YamlFault | FileFault, shown: string): Fault {
  return new Fault(line === undefined ? shown : `${shown}:${line}`, what, cause === undefined ? {} : { cause });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function invalid(folder: string, faults: readonly Fault[]): MerchantRulesError {
  const shown = faults.slice(0, 20).map(({ message }) => message);
  if (faults.length > shown.length) shown.push(`and ${faults.length - shown.length} more`);
  const [first] = faults;
  return new InvalidRules("RULE_INVALID", shown.length === 1 ? shown.join() : `\n  ${shown.join("\n  ")}`, {
    attempted: `load rules from ${folder}`,
    advice:
      "fix the files: each .yaml, .yml or .json file of the folder holds one rule, and its name is the rule's key",
    ...(first?.cause === undefined ? {} : { cause: first.cause }),
  });
}
