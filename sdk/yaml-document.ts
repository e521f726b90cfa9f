import { createRequire } from "node:module";
import type * as Yaml from "yaml";
import { joinPath } from "./rules/path.ts";

/** What is wrong with a text, and on which line. */
export interface YamlFault {
  readonly line: number;
  readonly what: string;
  /** The parser's own error, if it threw one. */
  readonly cause?: unknown;
}

const mostAliases = 100;

// Loaded on first use: who reads no file does not pay for the parser.
const require = createRequire(import.meta.url);

/**
 * A text in YAML 1.2, which includes JSON. Where readers of YAML disagree, it is a fault: a field twice, a name that is
 * not a text, a merge key, an unknown tag, an integer that JSON readers cannot hold exactly. The time to read a text
 * depends only on its length.
 */
export class YamlDocument {
  readonly #yaml: typeof Yaml = require("yaml");
  readonly #lines: Yaml.LineCounter;
  readonly #document: Yaml.Document.Parsed;
  readonly #isTooDeep: boolean = false;

  constructor(text: string) {
    this.#lines = new this.#yaml.LineCounter();
    // The parser's own check for repeated fields and its pretty errors take quadratic time.
    const options = { stringKeys: true, uniqueKeys: false, prettyErrors: false, logLevel: "error" } as const;
    const parse = (source: string): Yaml.Document.Parsed =>
      this.#yaml.parseDocument(source, { ...options, lineCounter: this.#lines });
    try {
      this.#document = parse(text);
    } catch (error) {
      // The parser does not bound every kind of nesting.
      if (!(error instanceof RangeError)) throw error;
      this.#isTooDeep = true;
      this.#document = parse("");
    }
  }

  /** The value of the text, with aliases resolved; or its first fault. */
  read(): { readonly value: unknown } | { readonly fault: YamlFault } {
    const fault = this.#syntaxFault() ?? this.meaningFault();
    if (fault !== undefined) return { fault };
    try {
      return { value: this.#document.toJS({ maxAliasCount: mostAliases }) };
    } catch (cause) {
      // An alias without an anchor, or aliases that would give a huge value.
      return {
        fault: { line: this.#lineOfAlias(), what: cause instanceof Error ? cause.message : String(cause), cause },
      };
    }
  }

  /** The first fault of syntax. */
  #syntaxFault(): YamlFault | undefined {
    if (this.#isTooDeep) return { line: 1, what: tooDeep };
    const [error] = [...this.#document.errors, ...this.#document.warnings];
    if (error === undefined) return undefined;
    return {
      line: this.#lineAt(error.pos[0]),
      what: wordings[error.code] ?? error.message.split("\n")[0] ?? error.code,
    };
  }

  /** The first place that is correct syntax but would not be read as it is written; in JSON, too. */
  meaningFault(): YamlFault | undefined {
    const { visit, isScalar, isAlias } = this.#yaml;
    const found: { offset: number; what: string }[] = [];
    const refuse = (node: { range?: Yaml.Range | null | undefined }, what: string): symbol => {
      found.push({ offset: node.range?.[0] ?? 0, what });
      return visit.BREAK;
    };
    let aliases = 0;
    visit(this.#document, {
      Alias: (_key, alias) => {
        aliases += 1;
        return aliases > mostAliases ? refuse(alias, `holds more than ${mostAliases} aliases`) : undefined;
      },
      Scalar: (_key, scalar) =>
        isRounded(scalar)
          ? refuse(scalar, "holds an integer that JSON readers cannot hold exactly; write it as a text")
          : undefined,
      Map: (_key, map) => {
        const names = new Set<unknown>();
        for (const { key } of map.items) {
          if (isAlias(key)) return refuse(key, "has a field whose name is not a text");
          if (!isScalar(key)) continue;
          if (names.has(key.value)) return refuse(key, "declares a field a second time");
          if (key.value === "<<" && key.type === "PLAIN")
            return refuse(key, "has a merge key (<<), which YAML 1.2 does not know; write the fields out");
          names.add(key.value);
        }
        return undefined;
      },
    });
    const [first] = found;
    return first === undefined ? undefined : { line: this.#lineAt(first.offset), what: first.what };
  }

  /** The line of the first alias without an anchor before it; or else of the first alias, one of those that give too much. */
  #lineOfAlias(): number {
    const { isAlias, visit } = this.#yaml;
    const anchors = new Set<string>();
    let first: number | undefined;
    let unresolved: number | undefined;
    visit(this.#document, {
      Node(_key, node) {
        if (!isAlias(node)) {
          if (node.anchor !== undefined) anchors.add(node.anchor);
          return;
        }
        first ??= node.range?.[0];
        if (!anchors.has(node.source)) unresolved ??= node.range?.[0];
      },
    });
    return this.#lineAt(unresolved ?? first ?? 0);
  }

  /** The line of a path as findNotJson gives it, or of the deepest node above it that is found. */
  lineOfPath(wanted: string): number {
    let node: unknown = this.#document.contents;
    let path = "";
    let start = this.#document.contents?.range[0] ?? 0;
    const leadsOn = (next: string): boolean =>
      wanted === next || wanted.startsWith(`${next}.`) || wanted.startsWith(`${next}[`);
    for (;;) {
      if (this.#yaml.isAlias(node)) node = node.resolve(this.#document);
      const children = this.#childrenOf(node).map((child) => ({ ...child, path: joinPath(path, child.key) }));
      const next = children.find((child) => leadsOn(child.path));
      if (next === undefined) return this.#lineAt(start);
      ({ node, path } = next);
      start = next.start ?? start;
    }
  }

  #childrenOf(node: unknown): { key: string | number; node: unknown; start: number | undefined }[] {
    const { isMap, isNode, isScalar, isSeq } = this.#yaml;
    if (isSeq(node))
      return node.items.map((item, index) => ({
        key: index,
        node: item,
        start: isNode(item) ? item.range?.[0] : undefined,
      }));
    if (!isMap(node)) return [];
    return node.items.map(({ key, value }) => ({
      key: isScalar(key) ? String(key.value) : String(key),
      node: value,
      start: isNode(key) ? key.range?.[0] : undefined,
    }));
  }

  #lineAt(offset: number): number {
    return this.#lines.linePos(offset).line;
  }
}

const tooDeep = "nests too deeply";
const wordings: Partial<Record<Yaml.ErrorCode, string>> = {
  MULTIPLE_DOCS: "begins a second document; a file holds one",
  NON_STRING_KEY: "has a field whose name is not a text",
  RESOURCE_EXHAUSTION: tooDeep,
};

/** Whether an integer would be written back with other digits. */
function isRounded({ value, source }: Yaml.Scalar): boolean {
  if (typeof value !== "number" || !Number.isFinite(value) || Number.isSafeInteger(value)) return false;
  if (source === undefined || !/^[-+]?\d+$/.test(source)) return false;
  const written = BigInt(source.replace("+", ""));
  return String(written) !== String(value) && written !== BigInt(value);
}
