import { readFileSync } from "node:fs";
import { Document, isCollection, isMap, isScalar, visit, type YAMLMap, type YAMLSeq } from "yaml";
import { type Contract, type Preset, parseContract, presetFile } from "../sdk/contract/index.ts";
import { quoteWhereNeeded } from "../sdk/files/yaml-quotes.ts";
import { isJsonObject, type Json, type Pointer, pointerOf, valueAt, withValueAt } from "../sdk/json/index.ts";
import { printable } from "../sdk/json/printable.ts";
import { openGaps } from "./gaps.ts";

/** One thing that is known of a service. */
export interface Fact {
  /** Its place in the contract. Of an array the whole is one fact. */
  readonly at: Pointer;
  readonly value: Json;
  /** Where it comes from, in one sentence: `measured: DELETE ?ruleId= took that rule away and no other`. */
  readonly source: string;
}

/** A contract and its file. */
export interface Draft {
  readonly contract: Contract;
  /** YAML, with the line by which editors find the schema. */
  readonly text: string;
}

/** The line by which editors find the schema of a contract, in a project that has this package. */
const contractSchemaLine =
  "# yaml-language-server: $schema=./node_modules/pulumi-merchant-rules/sdk/contract/contract.schema.json";

/**
 * Drafts a contract from facts: the source of each is a comment above its field, and the gaps that stay open, with what
 * each costs, stand at the end. Of two facts about one place the later one counts.
 * @param title lines at the head of the file, as a comment
 * @param named gaps that the title names, which are not named a second time
 * @throws MerchantRulesError CONTRACT_INVALID: the facts do not make a contract that can work
 */
export function draftContract(facts: readonly Fact[], title: readonly string[], named: readonly Pointer[] = []): Draft {
  const { written, sources } = layTogether(facts);
  // The parsed contract has its fields in the order of the reference.
  const ordered = inOrderOf(written, parseContract(JSON.stringify(written), drafted));
  const document = new Document(ordered, { aliasDuplicateObjects: false });
  quoteWhereNeeded(document);
  putSources(document, sources);
  const head = [contractSchemaLine, ...title.map(commentLine)];
  const text = `${head.join("\n")}\n${document.toString({ lineWidth: 0 })}${gapLines(ordered, named)}`;
  return { contract: parseContract(text, drafted), text };
}

/** Reads a preset's file, with the schema's line for a project. */
export function presetText(preset: Preset): string {
  const text = readFileSync(presetFile(preset), "utf8");
  return text.replace(/^# yaml-language-server: .*$/m, contractSchemaLine);
}

const drafted = "the contract";

/** Lays facts into one contract without the defaults, and returns it with the source of each of its places. */
export function layTogether(facts: readonly Fact[]): {
  readonly written: Json;
  readonly sources: Map<Pointer, string>;
} {
  let written: Json = { version: 1 };
  const sources = new Map<Pointer, string>();
  for (const { at, value, source } of facts) {
    for (const place of sources.keys()) {
      const isReplaced = place.startsWith(`${at}/`);
      const isNoObject = at.startsWith(`${place}/`) && !isJsonObject(valueAt(written, place));
      if (isReplaced || isNoObject) sources.delete(place);
    }
    written = withValueAt(written, at, value);
    sources.set(at, source);
  }
  return { written, sources };
}

/** Returns the value with the fields of each object in the order in which `like` has them. */
function inOrderOf(value: Json, like: unknown): Json {
  if (!isJsonObject(value)) return value;
  const others = new Map(typeof like === "object" && like !== null ? Object.entries(like) : []);
  const ranks = new Map([...others.keys()].map((name, rank) => [name, rank]));
  const rankOf = (name: string): number => ranks.get(name) ?? ranks.size;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => rankOf(one) - rankOf(other))
      .map(([name, below]) => [name, inOrderOf(below, others.get(name))]),
  );
}

const widest = 120;

/** Writes each source above its field; a value below that which fits on a line is written on one. */
function putSources(document: Document, sources: ReadonlyMap<Pointer, string>): void {
  const put = (map: YAMLMap, above: readonly string[]): void => {
    for (const pair of map.items) {
      const name = isScalar(pair.key) ? String(pair.key.value) : "";
      const place = [...above, name];
      const source = sources.get(pointerOf(place));
      if (source !== undefined && isScalar(pair.key)) pair.key.commentBefore = wrapped(source).join("\n");
      const hasSourcesBelow = [...sources.keys()].some((each) => each.startsWith(`${pointerOf(place)}/`));
      if (isMap(pair.value) && hasSourcesBelow) put(pair.value, place);
      else if (isCollection(pair.value)) shorten(document, pair.value);
    }
  };
  if (isMap(document.contents)) put(document.contents, []);
}

/** Writes a collection on one line where it is short, as `{ in: query, name: ruleId }`. */
function shorten(document: Document, value: YAMLMap | YAMLSeq): void {
  visit(value, {
    Collection: (_key, node) => {
      if (JSON.stringify(node.toJS(document)).length > widest - 20) return undefined;
      node.flow = true;
      return visit.SKIP;
    },
  });
}

/** Wraps a sentence into the lines of a comment, without their `#`. */
function wrapped(sentence: string): string[] {
  const lines: string[] = [];
  for (const word of printable(sentence).split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < widest - 10) lines.push(`${lines.pop()} ${word}`);
    else lines.push(` ${word}`);
  }
  return lines;
}

const commentLine = (line: string): string => `# ${printable(line)}`.trimEnd();

function gapLines(written: Json, named: readonly Pointer[]): string {
  const open = openGaps(written).filter(({ field }) => !named.includes(pointerOf(field.split("."))));
  if (open.length === 0) return "";
  const lines = [
    "",
    "# Open, because nothing above says it. Each question with its field, and what follows without an answer:",
    ...open.map(({ field, question, without }) => `#   ${field}: ${question} Without it: ${without}`),
  ];
  return `${lines.join("\n")}\n`;
}
