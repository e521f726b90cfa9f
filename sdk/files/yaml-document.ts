import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import type * as Yaml from "yaml";
import { reasonOf } from "../json/json.ts";
import { decimalOf, valueText } from "../json/normal-form.ts";
import type { Path } from "../json/walk.ts";

/** A fault of a file or its text, as the rest of a sentence that begins with the file's name; and its line. */
export interface Fault {
  readonly what: string;
  readonly line?: number;
  readonly cause?: unknown;
}

/** The place of a character in a text, from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** A fault of a text, which always has its place. */
export type TextFault = Fault & TextPlace;

const maxFileBytes = 1_048_576;

/** Reads a file of UTF-8, of at most `mostBytes` bytes (default: 1 MiB), without its byte order mark. */
export function readTextFile(
  path: string,
  mostBytes: number = maxFileBytes,
): { readonly text: string } | { readonly fault: Fault } {
  let bytes: Buffer;
  try {
    const found = statSync(path);
    // Reading a pipe would wait for ever.
    if (!found.isFile()) return { fault: { what: "is not a file" } };
    if (found.size > mostBytes) return { fault: { what: `is larger than ${mostBytes} bytes` } };
    bytes = readFileSync(path);
  } catch (cause) {
    return { fault: { what: `cannot be read: ${reasonOf(cause)}`, cause } };
  }
  if (isUtf8(bytes)) return { text: new TextDecoder().decode(bytes) };
  // In Latin-1 each byte is a character, so that the lines can be tested one by one.
  const lines = bytes.toString("latin1").split("\n");
  return { fault: { what: "is not UTF-8", line: lines.findIndex((line) => !isUtf8(Buffer.from(line, "latin1"))) + 1 } };
}

const mostAliases = 100;

/** The parser's own check for repeated fields and its pretty errors take quadratic time. */
export const yamlOptions = { stringKeys: true, uniqueKeys: false, prettyErrors: false, logLevel: "error" } as const;

// Loaded on first use: who reads no file does not pay for the parser.
const require = createRequire(import.meta.url);

/**
 * A text in YAML 1.2, which includes JSON. Where readers of YAML disagree, it is a fault: a field twice, a name that is
 * not a string, a merge key, an unknown tag, a number that JSON readers cannot hold exactly. The time to read a text
 * depends only on its length.
 */
export class YamlDocument {
  readonly #yaml: typeof Yaml = require("yaml");
  readonly #lines: Yaml.LineCounter;
  readonly #document: Yaml.Document.Parsed;
  readonly #isTooDeep: boolean = false;

  constructor(text: string) {
    this.#lines = new this.#yaml.LineCounter();
    const parse = (source: string): Yaml.Document.Parsed =>
      this.#yaml.parseDocument(source, { ...yamlOptions, lineCounter: this.#lines });
    try {
      this.#document = parse(text);
    } catch (error) {
      // The parser does not bound every kind of nesting.
      if (!(error instanceof RangeError)) throw error;
      this.#isTooDeep = true;
      this.#document = parse("");
    }
  }

  /** Returns the value of the text, with aliases resolved; or its first fault. */
  read(): { readonly value: unknown } | { readonly fault: TextFault } {
    const fault = this.#syntaxFault() ?? this.meaningFault();
    if (fault !== undefined) return { fault };
    try {
      return { value: this.#document.toJS({ maxAliasCount: mostAliases }) };
    } catch (cause) {
      // An alias without an anchor, or aliases that would give a huge value.
      return { fault: { ...this.#placeOfAlias(), what: reasonOf(cause), cause } };
    }
  }

  #syntaxFault(): TextFault | undefined {
    if (this.#isTooDeep) return { line: 1, column: 1, what: tooDeep };
    const [error] = [...this.#document.errors, ...this.#document.warnings];
    if (error === undefined) return undefined;
    const what = wordings[error.code] ?? error.message.split("\n")[0] ?? error.code;
    return { ...this.#placeAt(error.pos[0]), what };
  }

  /** Finds the first place that is correct syntax but would not be read as it is written; in JSON, too. */
  meaningFault(): TextFault | undefined {
    const { visit } = this.#yaml;
    let fault: TextFault | undefined;
    const refuse = (node: Yaml.Node, what: string | undefined): symbol | undefined => {
      if (what === undefined) return undefined;
      fault = { ...this.#placeAt(node.range?.[0] ?? 0), what };
      return visit.BREAK;
    };
    let aliases = 0;
    visit(this.#document, {
      Alias: (_key, alias) => {
        aliases += 1;
        return refuse(alias, aliases > mostAliases ? `holds more than ${mostAliases} aliases` : undefined);
      },
      Scalar: (_key, scalar) => refuse(scalar, isRounded(scalar) ? rounded : undefined),
      Map: (_key, map) => this.#fieldFault(map, refuse),
    });
    return fault;
  }

  #fieldFault(map: Yaml.YAMLMap, refuse: (node: Yaml.Node, what: string) => symbol | undefined): symbol | undefined {
    const names = new Set<unknown>();
    for (const { key } of map.items) {
      if (this.#yaml.isAlias(key)) return refuse(key, notText);
      if (!this.#yaml.isScalar(key)) continue;
      if (names.has(key.value)) return refuse(key, "declares a field a second time");
      if (key.value === "<<" && key.type === "PLAIN")
        return refuse(key, "has a merge key (<<), which YAML 1.2 does not know; write the fields out");
      names.add(key.value);
    }
    return undefined;
  }

  /** Finds the first alias without an anchor before it; or else the first alias, which is one of those that give too much. */
  #placeOfAlias(): TextPlace {
    const aliases: Yaml.Alias[] = [];
    this.#yaml.visit(this.#document, {
      Alias: (_key, alias) => {
        aliases.push(alias);
      },
    });
    const first = aliases.find((alias) => alias.resolve(this.#document) === undefined) ?? aliases[0];
    return this.#placeAt(first?.range?.[0] ?? 0);
  }

  /** Returns the place of a path, or of the deepest node above it that is found. */
  placeOfPath(path: Path): TextPlace {
    const { isAlias, isMap, isNode, isScalar, isSeq } = this.#yaml;
    let node: unknown = this.#document.contents;
    let start = this.#document.contents?.range[0] ?? 0;
    for (const name of path) {
      const here = isAlias(node) ? node.resolve(this.#document) : node;
      const field = isMap(here) ? here.items.find(({ key }) => isScalar(key) && key.value === name) : undefined;
      node = isSeq(here) ? here.items[Number(name)] : field?.value;
      const named = field?.key ?? node;
      const at = isNode(named) ? named.range?.[0] : undefined;
      if (at === undefined) break;
      start = at;
    }
    return this.#placeAt(start);
  }

  #placeAt(offset: number): TextPlace {
    const { line, col } = this.#lines.linePos(offset);
    return { line, column: col };
  }
}

const rounded = "holds a number that JSON readers cannot hold exactly; write it as a text";
const notText = "has a field whose name is not a text";
const tooDeep = "nests too deeply";
const wordings: Partial<Record<Yaml.ErrorCode, string>> = {
  MULTIPLE_DOCS: "begins a second document; a file holds one",
  NON_STRING_KEY: notText,
  RESOURCE_EXHAUSTION: tooDeep,
};

/** Decides whether a decimal number would be written back with another value. */
function isRounded({ value, source }: Yaml.Scalar): boolean {
  const digits = source?.replace(/^\+/, "") ?? "";
  if (!Number.isFinite(value) || typeof value !== "number" || decimalOf(digits) === undefined) return false;
  return valueText(value, ["decimal"]) !== valueText(digits, ["decimal"]);
}
