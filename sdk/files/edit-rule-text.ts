import { Document, isMap, isNode, isScalar, isSeq, parse, parseDocument, type Scalar, type YAMLMap } from "yaml";
import { asWritten, isEqual } from "../json/canonical.ts";
import { field, isJson, isJsonArray, isJsonObject, type Json, type JsonObject } from "../json/json.ts";
import { NodeEdit } from "./edit-yaml-nodes.ts";
import { YamlDocument, yamlOptions } from "./yaml-document.ts";
import { doubleQuoted, quoteWhereNeeded } from "./yaml-quotes.ts";

/**
 * Edits the text of a rule file to hold other content. Only what differs is written: comments, the order of fields, quotes and
 * blanks stay. A value in the place of another is written over it. Where fields or elements come or go, the field of the
 * rule that holds them is written again, with its comments.
 * @param before the content of the text
 * @returns undefined where the text cannot be changed to have the new content, as where a value is an alias of another
 */
export function editedRuleText(
  text: string,
  before: JsonObject,
  after: JsonObject,
  isJsonFile: boolean,
): string | undefined {
  const holdsAfter = (edited: string): boolean => {
    const read = new YamlDocument(edited).read();
    return "value" in read && isJson(read.value) && isEqual(read.value, after, asWritten);
  };
  const written = writtenOver(text, before, after, isJsonFile);
  if (written !== undefined && holdsAfter(written)) return written;
  if (isJsonFile) return wholeJson(text, after);
  const edited = withLineBreaksOf(text, editedDocument(text, before, after));
  return [withFieldsOf(edited, text, before, after), edited].find((each) => each !== undefined && holdsAfter(each));
}

/** A part of a text, from one offset to another, and what is to stand there. */
interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Writes values over others; undefined where fields or elements come or go. */
function writtenOver(text: string, before: Json, after: Json, isJsonFile: boolean): string | undefined {
  const splices: Splice[] = [];
  const isDone = (node: unknown, was: Json, is: Json, inFlow: boolean): boolean => {
    if (isEqual(was, is, asWritten)) return true;
    if (isJsonObject(was) && isJsonObject(is)) {
      const names = Object.keys(is);
      if (!isMap(node) || names.length !== Object.keys(was).length) return false;
      return names.every((name) => {
        const [value, former] = [field(is, name), field(was, name)];
        if (value === undefined || former === undefined) return false;
        return isDone(valueIn(node, name), former, value, inFlow || node.flow === true);
      });
    }
    if (isJsonArray(was) && isJsonArray(is)) {
      if (!isSeq(node) || was.length !== is.length) return false;
      return is.every((value, index) =>
        isDone(node.items[index], was[index] ?? null, value, inFlow || node.flow === true),
      );
    }
    if (!isScalar(node) || !node.range || (typeof is === "object" && is !== null)) return false;
    const value = isJsonFile ? JSON.stringify(is) : scalarText(node, is, inFlow);
    const [start, end] = node.range;
    if (value === undefined) return false;
    splices.push({ start, end, text: start === end ? ` ${value}` : value });
    return true;
  };
  if (!isDone(parseDocument(text, yamlOptions).contents, before, after, false)) return undefined;
  return splices
    .sort((a, b) => b.start - a.start)
    .reduce((edited, { start, end, text: value }) => edited.slice(0, start) + value + edited.slice(end), text);
}

/** Writes a value in the form of the one that stood there, on one line; undefined where that was a block of lines. */
function scalarText({ type }: Scalar, value: Json, inFlow: boolean): string | undefined {
  if (type === "BLOCK_FOLDED" || type === "BLOCK_LITERAL") return undefined;
  if (typeof value !== "string") return JSON.stringify(value);
  if (type === "QUOTE_SINGLE" && /^[\P{C}]*$/u.test(value)) return `'${value.replaceAll("'", "''")}'`;
  if (type === "QUOTE_SINGLE" || type === "QUOTE_DOUBLE") return doubleQuoted(value);
  const document = new Document([value]);
  if (inFlow && isSeq(document.contents)) document.contents.flow = true;
  quoteWhereNeeded(document);
  const [, plain] =
    /^(?:- |\[)(.*?)\]?\n$/.exec(document.toString({ lineWidth: 0, flowCollectionPadding: false })) ?? [];
  return plain === undefined || parse(plain, { logLevel: "silent" }) !== value ? doubleQuoted(value) : plain;
}

function valueIn(map: YAMLMap, name: string): unknown {
  return map.items.find(({ key }) => isScalar(key) && key.value === name)?.value;
}

/** Writes JSON anew with the indentation and the end of the old text: it has no comments to keep. */
function wholeJson(text: string, value: JsonObject): string {
  const [, indent = ""] = /\n([ \t]+)/.exec(text) ?? [];
  const [end = ""] = /\s*$/.exec(text) ?? [];
  return withLineBreaksOf(text, JSON.stringify(value, null, indent)) + end;
}

function withLineBreaksOf(text: string, edited: string): string {
  return text.includes("\r\n") ? edited.replace(/\r?\n/g, "\r\n") : edited;
}

/** Writes a document with changed content, in its own form as far as the library can write it. */
function editedDocument(text: string, before: JsonObject, after: JsonObject): string {
  const document = parseDocument(text, yamlOptions);
  new NodeEdit(document).changed(document.contents, before, after);
  quoteWhereNeeded(document);
  const [, indent = "  "] = /^( +)[^\s#]/m.exec(text) ?? [];
  return document.toString({
    lineWidth: 0,
    indent: Math.min(indent.length, 8),
    indentSeq: !/^( *)[^\s#-][^\n]*:[ \t]*\r?\n\1- /m.test(text),
    flowCollectionPadding: !/[{[][^\s\]}]/.test(text),
  });
}

/**
 * Returns `edited` with the unchanged fields of the rule to the letter as in `text`, and with what stands around them.
 * Undefined where fields do not begin lines of their own.
 */
function withFieldsOf(edited: string, text: string, before: JsonObject, after: JsonObject): string | undefined {
  const [now, former] = [fieldsIn(edited), fieldsIn(text)];
  if (now === undefined || former === undefined) return undefined;
  let whole = text.slice(0, former[0]?.start ?? text.length);
  for (const { name, start, end, next } of former) {
    const value = field(after, name);
    const around = text.slice(end, next);
    const changed = now.find((each) => each.name === name);
    if (value === undefined) whole = (start === former[0]?.start ? whole : withoutCommentAtEnd(whole)) + around;
    else if (isEqual(value, field(before, name) ?? null, asWritten)) whole += text.slice(start, next);
    else whole += edited.slice(changed?.start, changed?.end) + around;
  }
  for (const { name, start, end } of now) {
    if (Object.hasOwn(before, name)) continue;
    whole += (whole === "" || whole.endsWith("\n") ? "" : "\n") + edited.slice(start, end);
  }
  return whole;
}

/** A field of a rule in its text: from its name to the end of its last line, and to the next field. */
interface FieldPlace {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly next: number;
}

function fieldsIn(text: string): FieldPlace[] | undefined {
  const { contents } = parseDocument(text, yamlOptions);
  if (!isMap(contents) || contents.flow === true) return undefined;
  const places: FieldPlace[] = [];
  for (const { key, value } of contents.items.toReversed()) {
    if (!isScalar(key) || !key.range || !isNode(value) || !value.range) return undefined;
    const last = value.range[1];
    const lineEnd = text.indexOf("\n", last);
    const end = text[last - 1] === "\n" ? last : lineEnd === -1 ? text.length : lineEnd + 1;
    places.unshift({ name: String(key.value), start: key.range[0], end, next: places[0]?.start ?? text.length });
  }
  return places;
}

/** Removes the comment at the end of a text: right above a field that goes, it is about that field. */
function withoutCommentAtEnd(text: string): string {
  return text.replace(/(?<=^|\n)(?:[ \t]*#[^\n]*\n)+$/, "");
}
