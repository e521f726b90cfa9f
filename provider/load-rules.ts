import { isUtf8 } from "node:buffer";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import type * as Yaml from "yaml";
import { MerchantRulesError } from "../sdk/errors.ts";
import { findNotJson, isJson, isJsonObject, type Json, type JsonObject, joinPath } from "../sdk/rules/json.ts";

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
 * cannot be read, is no single object, declares a field twice, holds what is not JSON, or has the key of another file
 * (upper and lower case are the same); or a folder inside the folder.
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

class Fault extends Error {
  constructor(where: string, what: string, options?: ErrorOptions) {
    super(`${where}: ${what}`, options);
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
    // Without the piece of the file that some of these messages quote, and so without a cause: it may be secret.
    const reason = reasonOf(error)
      .replace(/(?:, (?:\.\.\.)?"| in JSON at position).*$/s, "")
      .replaceAll("\n", "\\n");
    throw new Fault(`${shown}:${lineOfBadJson(text)}`, `is not JSON: ${reason}`);
  }
  return jsonOf(value, documentOf(text), shown, ["DUPLICATE_KEY"]);
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
  const parsed = documentOf(text);
  throwFirst(parsed, shown);
  let value: unknown;
  try {
    value = parsed.document.toJS({ maxAliasCount: 100 });
  } catch (cause) {
    throw new Fault(`${shown}:${lineOfAlias(parsed)}`, reasonOf(cause), { cause });
  }
  return jsonOf(value, parsed, shown);
}

interface Parsed {
  readonly document: Yaml.Document.Parsed;
  readonly lines: Yaml.LineCounter;
  readonly yaml: typeof Yaml;
}

// Loaded on first use: a program that declares its rules by itself never pays for the parser.
const require = createRequire(import.meta.url);

function documentOf(text: string): Parsed {
  const yaml: typeof Yaml = require("yaml");
  const lines = new yaml.LineCounter();
  return { document: yaml.parseDocument(text, { lineCounter: lines, stringKeys: true }), lines, yaml };
}

const wordings: Partial<Record<Yaml.ErrorCode, string>> = {
  DUPLICATE_KEY: "declares a field a second time",
  MULTIPLE_DOCS: "begins a second document; a file holds one rule",
  NON_STRING_KEY: "has a field whose name is not a text",
  RESOURCE_EXHAUSTION: "nests too deeply",
};

function throwFirst({ document, lines }: Parsed, shown: string, codes?: readonly Yaml.ErrorCode[]): void {
  const fault = [...document.errors, ...document.warnings].find(({ code }) => codes?.includes(code) ?? true);
  if (fault === undefined) return;
  const [reason = fault.code] = fault.message.split("\n");
  const what = wordings[fault.code] ?? reason.replace(/ at line \d+, column \d+:?$/, "");
  throw new Fault(`${shown}:${lines.linePos(fault.pos[0]).line}`, what);
}

function jsonOf(value: unknown, parsed: Parsed, shown: string, codes?: readonly Yaml.ErrorCode[]): Json {
  if (isJson(value)) {
    throwFirst(parsed, shown, codes);
    return value;
  }
  const { path, found } = findNotJson(value) ?? { path: "", found: typeof value };
  const place = path.length > 80 ? `${path.slice(0, 77)}...` : path;
  throw new Fault(`${shown}:${lineOfPath(parsed, path)}`, `${place} holds ${found}, which is not JSON`.trimStart());
}

/** The first alias that stands for nothing, or else the first at all: of those that explode each has a part in it. */
function lineOfAlias({ document, lines, yaml }: Parsed): number {
  const anchors = new Set<string>();
  let first: number | undefined;
  let unresolved: number | undefined;
  yaml.visit(document, {
    Node(_key, node) {
      if (!yaml.isAlias(node)) {
        if (node.anchor !== undefined) anchors.add(node.anchor);
        return;
      }
      first ??= node.range?.[0];
      if (!anchors.has(node.source)) unresolved ??= node.range?.[0];
    },
  });
  return lines.linePos(unresolved ?? first ?? 0).line;
}

/** The line of a path as findNotJson gives it, or of the deepest node above it that can be told. */
function lineOfPath({ document, lines, yaml }: Parsed, wanted: string): number {
  let node: unknown = document.contents;
  let path = "";
  let start = document.contents?.range[0] ?? 0;
  const leadsOn = (next: string): boolean =>
    wanted === next || wanted.startsWith(`${next}.`) || wanted.startsWith(`${next}[`);
  for (;;) {
    if (yaml.isAlias(node)) node = node.resolve(document);
    const children = childrenOf(node, yaml).map((child) => ({ ...child, path: joinPath(path, child.key) }));
    const next = children.find((child) => leadsOn(child.path));
    if (next === undefined) return lines.linePos(start).line;
    ({ node, path } = next);
    start = next.start ?? start;
  }
}

function childrenOf(
  node: unknown,
  yaml: typeof Yaml,
): { key: string | number; node: unknown; start: number | undefined }[] {
  if (yaml.isSeq(node))
    return node.items.map((item, index) => ({
      key: index,
      node: item,
      start: yaml.isNode(item) ? item.range?.[0] : undefined,
    }));
  if (!yaml.isMap(node)) return [];
  return node.items.map(({ key, value }) => ({
    key: yaml.isScalar(key) ? String(key.value) : String(key),
    node: value,
    start: yaml.isNode(key) ? key.range?.[0] : undefined,
  }));
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function invalid(folder: string, faults: readonly Fault[]): MerchantRulesError {
  const shown = faults.slice(0, 20).map(({ message }) => message);
  if (faults.length > shown.length) shown.push(`and ${faults.length - shown.length} more`);
  const [first] = faults;
  return new MerchantRulesError("RULE_INVALID", shown.length === 1 ? shown.join() : `\n  ${shown.join("\n  ")}`, {
    attempted: `load rules from ${folder}`,
    advice:
      "mend the files: each .yaml, .yml or .json file of the folder holds one rule, and its name is the rule's key",
    ...(first?.cause === undefined ? {} : { cause: first.cause }),
  });
}
