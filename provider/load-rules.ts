import { isUtf8 } from "node:buffer";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { MerchantRulesError } from "../sdk/errors.ts";
import { findNotJson, isJson, isJsonObject, type Json, type JsonObject, whyNotJson } from "../sdk/rules/json.ts";
import { printable } from "../sdk/rules/printable.ts";
import { YamlDocument, type YamlFault } from "../sdk/yaml-document.ts";

const maxFileBytes = 1_048_576;

/**
 * Reads one definition from each `.yaml`, `.yml` and `.json` file of a folder: what `rules` of a MerchantRuleSet takes.
 * A rule's key is its file's name without the extension, so that a file that is renamed writes nothing.
 *
 * YAML is 1.2; a `.json` file is JSON and nothing more. A file has at most 1 MiB of UTF-8. Other files are passed over,
 * and so is every name that begins with a dot. An empty folder gives no rules.
 *
 * @param folder its path, from the working directory of the program (with Pulumi: where `Pulumi.yaml` is) if relative
 * @returns the definitions by key, sorted by key
 * @throws MerchantRulesError RULE_INVALID: naming, with its line where it has one, the first fault of each file that
 * cannot be read, is no single object, declares a field twice, has a merge key (`<<`) or more than 100 aliases, holds
 * what is not JSON or an integer that JSON readers cannot hold exactly, or has the key of another file (upper and lower
 * case are the same); or a folder inside the folder. A program that does not catch it ends with the message and no stack.
 */
export function loadRules(folder: string): Record<string, JsonObject> {
  const { files, faults } = filesIn(folder);
  const rules = new Map<string, JsonObject>();
  for (const { key, file } of files) {
    try {
      rules.set(key, readRule(file, resolve(folder, file.name)));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      faults.push(error);
    }
  }
  if (faults.length > 0) throw invalid(folder, faults);
  return Object.fromEntries(rules);
}

/** A file as it is found, and as messages name it. */
interface RuleFile {
  readonly name: string;
  readonly shown: string;
}

/** Pulumi's language host prints the message of an error with this mark, and of every other one the stack, too. */
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
        new Fault(
          file.shown,
          "is a folder, and rules are not looked for in it; move its files up, or load it by itself",
        ),
      );
      continue;
    }
    const [, stem] = /^(.+)\.(?:ya?ml|json)$/i.exec(name) ?? [];
    if (stem === undefined) continue;
    // Some file systems keep a name's accents apart from its letters, and some take both cases for one name.
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

/** Where that cannot be told, reading says what is wrong. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function readRule({ name, shown }: RuleFile, path: string): JsonObject {
  const text = readText(shown, path);
  const value = name.toLowerCase().endsWith(".json") ? parseJson(text, shown) : parseYaml(text, shown);
  if (!isJsonObject(value)) throw new Fault(`${shown}:1`, "must hold one object: the rule as the service stores it");
  return value;
}

function readText(shown: string, path: string): string {
  let bytes: Buffer;
  try {
    const found = statSync(path);
    // Reading a pipe would wait for ever.
    if (!found.isFile()) throw new Fault(shown, "is not a file");
    if (found.size > maxFileBytes) throw new Fault(shown, `is larger than ${maxFileBytes} bytes`);
    bytes = readFileSync(path);
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw new Fault(shown, `cannot be read: ${reasonOf(cause)}`, { cause });
  }
  if (!isUtf8(bytes)) throw new Fault(`${shown}:${lineOfBadBytes(bytes)}`, "is not UTF-8");
  return new TextDecoder().decode(bytes);
}

function lineOfBadBytes(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const end = bytes.indexOf(0x0a, start);
    const next = end === -1 ? bytes.length : end + 1;
    if (!isUtf8(bytes.subarray(start, next))) break;
    start = next;
  }
  return line;
}

/** JSON.parse keeps the last of two fields with one name in silence, so YAML's parser, which does not, reads it too. */
function parseJson(text: string, shown: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // Without a cause, whose message may quote the file.
    const reason = whyNotJson(error).replaceAll("\n", "\\n");
    throw new Fault(`${shown}:${lineOfBadJson(text)}`, `is not JSON: ${reason}`);
  }
  const document = new YamlDocument(text);
  return jsonOf(value, document, document.meaningFault(), shown);
}

/** Not every message of JSON.parse has a position. A text that is cut before the fault fails at its end, if at all. */
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

function faultAt({ line, what, cause }: YamlFault, shown: string): Fault {
  return new Fault(`${shown}:${line}`, what, cause === undefined ? {} : { cause });
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
      "mend the files: each .yaml, .yml or .json file of the folder holds one rule, and its name is the rule's key",
    ...(first?.cause === undefined ? {} : { cause: first.cause }),
  });
}
