import {
  asWritten,
  canonical,
  isEqual,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  type Path,
  type Pointer,
  pointerOf,
  segmentsOf,
  valueAt,
  walk,
} from "../../sdk/json/index.ts";

/** A value in a response that can be an id, and where it stands. */
export interface Leaf {
  readonly at: Pointer;
  readonly value: string | number;
}

/** Objects deeper in a response are not looked at where a rule, its id or its list is sought. */
const deepest = 6;

/**
 * Returns the pointer to a definition in a response: to the object that shares most fields with it, the outermost of
 * several. Undefined where no object has a field of it with the value that was sent.
 */
export function placeOf(answer: Json | undefined, definition: JsonObject): Pointer | undefined {
  let best: { at: Pointer; score: number } | undefined;
  if (answer === undefined) return undefined;
  walk(answer, (value, { path }) => {
    if (path.length > deepest || !isJsonObject(value)) return;
    const score = likeness(value, definition);
    if (score > (best?.score ?? 0)) best = { at: pointerOf(path), score };
  });
  return best?.at;
}

/** Scores a likeness: 3 for each field with the same value, 1 for one with the name alone; 0 where no value is the same. */
function likeness(value: JsonObject, definition: JsonObject): number {
  const shared = Object.entries(definition).filter(([name]) => Object.hasOwn(value, name));
  const equal = shared.filter(([name, sent]) => isAlike(value[name] ?? null, sent)).length;
  return equal === 0 ? 0 : 2 * equal + shared.length;
}

/** Decides whether values differ at most in their form: `1` and `"1.0"`, `"Limit"` and `" limit"`. */
export function isAlike(one: Json, other: Json): boolean {
  if (isEqual(one, other, asWritten)) return true;
  if (typeof one === "object" || typeof other === "object") return false;
  const numbers = [one, other].map((value) =>
    typeof value === "boolean" || value === "" ? Number.NaN : Number(value),
  );
  const [text, otherText] = [one, other].map((value) => String(value).trim().toLowerCase());
  return numbers[0] === numbers[1] || text === otherText;
}

/** Decides whether a response shows a rule with this name; where it has none, with this definition. */
export function shows(answer: Json | undefined, definition: JsonObject, name: string | undefined): boolean {
  if (answer === undefined) return false;
  if (name !== undefined)
    return walk(answer, (value) => (value !== null && isAlike(value, name) ? true : undefined)) === true;
  return placeOf(answer, definition) !== undefined;
}

/** Returns what can be the rule's id, likeliest first: by `known`, then by names. A value that was sent is none. */
export function idsIn(answer: Json, definition: JsonObject, known: readonly Pointer[]): Leaf[] {
  const rule = placeOf(answer, definition) ?? "";
  return leavesOf(answer)
    .filter(({ at, value }) => {
      const within = at.startsWith(`${rule}/`) ? at.slice(rule.length) : at;
      return value !== "" && valueAt(definition, within) !== value;
    })
    .map((leaf) => ({ leaf, rank: rankOf(leaf.at, known) }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ leaf }) => leaf)
    .slice(0, mostIds);
}

const mostIds = 12;

function rankOf(at: Pointer, known: readonly Pointer[]): number {
  const told = known.findIndex((pointer) => at === pointer || at.endsWith(pointer));
  if (told !== -1) return told / known.length;
  const name = (segmentsOf(at).at(-1) ?? "").toLowerCase().replace(/[_-]/g, "");
  if (name === "ruleid" || name === "id") return 1;
  if (name.endsWith("id")) return 2;
  return ["uuid", "guid", "key", "ref", "reference"].includes(name) ? 3 : 4;
}

/** Returns the strings and integers of a value, with their pointers, but for those in arrays. */
export function leavesOf(root: Json): Leaf[] {
  const isLeaf = (value: Json): value is string | number => typeof value === "string" || Number.isSafeInteger(value);
  return valuesIn(root, isLeaf, deepest);
}

/** Returns the values of a kind in a value and in its objects, at most so many levels deep, but for those in arrays. */
export function valuesIn<Kind extends Json>(
  root: Json,
  isOfKind: (value: Json) => value is Kind,
  levels = Number.POSITIVE_INFINITY,
  path: Path = [],
): { readonly at: Pointer; readonly value: Kind }[] {
  const fields = isJsonObject(root) && path.length < levels ? Object.entries(root) : [];
  return [
    ...(isOfKind(root) ? [{ at: pointerOf(path), value: root }] : []),
    ...fields.flatMap(([name, value]) => valuesIn(value, isOfKind, levels, [...path, name])),
  ];
}

/** Decides whether a value is a text, but for a time, or a boolean. */
export function isWord(value: Json): value is string | boolean {
  return typeof value === "boolean" || (typeof value === "string" && !/\d{4}-\d\d-\d\d/.test(value));
}

/** An array in a response to a list. */
export interface Rows {
  readonly at: Pointer;
  readonly items: readonly Json[];
}

/** Returns the arrays of a response that can be the list's: of objects, or empty; none within another. */
export function arraysIn(answer: Json): Rows[] {
  const areObjects = (value: Json): value is readonly JsonObject[] => isJsonArray(value) && value.every(isJsonObject);
  return valuesIn(answer, areObjects, deepest).map(({ at, value }) => ({ at, items: value }));
}

/** Returns a string that two values share only where they are equal. */
export function fingerprint(value: Json): string {
  return canonical(value, asWritten);
}

/** Finds where a failure has its code and its message. A code that repeats the status tells nothing. */
export function failureShape({ json: body, status }: { readonly json: Json | undefined; readonly status: number }): {
  code: Pointer | undefined;
  message: Pointer | undefined;
} {
  const leaves = body === undefined ? [] : leavesOf(firstOfArrays(body));
  const named = (names: RegExp, test: (value: string | number) => boolean) =>
    leaves.find(({ at, value }) => names.test(segmentsOf(at).at(-1) ?? "") && test(value))?.at;
  const isWord = (value: string | number) => (typeof value === "number" ? value !== status : !/\s/.test(value));
  const isSentence = (value: string | number) => typeof value === "string" && /\s/.test(value);
  return {
    code: named(/^((error_?)?code|errno)$/i, isWord) ?? named(/^(error|type|reason)$/i, isWord),
    message:
      named(/^(error_?)?(message|detail|description)$/i, isSentence) ??
      named(/^(title|error|reason|msg)$/i, isSentence),
  };
}

/** Returns a value in which each array is an object with its first element, which stands for all. */
function firstOfArrays(value: Json): Json {
  if (isJsonArray(value)) return value.length === 0 ? {} : { 0: firstOfArrays(value[0] ?? null) };
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, firstOfArrays(inner)]));
}
