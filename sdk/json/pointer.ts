import { field, isJsonArray, isJsonObject, type Json, type JsonObject } from "./json.ts";
import type { Path } from "./walk.ts";

/** JSON Pointer (RFC 6901). In a pattern the segment `*` stands for every element, and for every field. */
export type Pointer = string;

/** Returns the segments of a pointer, unescaped: `/a~1b/0` gives ["a/b", "0"], and the empty pointer []. */
export function segmentsOf(pointer: Pointer): readonly string[] {
  const known = split.get(pointer);
  if (known !== undefined) return known;
  const segments =
    pointer === ""
      ? []
      : pointer
          .slice(1)
          .split("/")
          .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (split.size >= mostSplit) split.clear();
  split.set(pointer, segments);
  return segments;
}

/** Contracts and semantics ask every rule for the same few places, and splitting them takes most of the time of reading a rule. */
const split = new Map<Pointer, readonly string[]>();
const mostSplit = 1_000;

/** Returns the pointer with these segments, escaped: ["a/b", 0] gives `/a~1b/0`. */
export function pointerOf(segments: Path): Pointer {
  return segments.map((segment) => `/${String(segment).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Decides whether a string is a pointer: empty, or beginning with `/` and with `~` escaped properly. */
export function isPointer(text: string): boolean {
  return text === "" || /^(\/([^~/]|~[01])*)+$/.test(text);
}

/** Returns the value at `pointer`; undefined where there is none. */
export function valueAt(value: Json | undefined, pointer: Pointer): Json | undefined {
  return segmentsOf(pointer).reduce((here, segment) => {
    if (isJsonObject(here)) return field(here, segment);
    return isJsonArray(here) && /^(0|[1-9]\d*)$/.test(segment) ? here[Number(segment)] : undefined;
  }, value);
}

/** Returns a copy of `document` with `value` at `pointer`; objects that are missing on the way are made. */
export function withValueAt(document: Json | undefined, pointer: Pointer, value: Json): Json {
  const [first, ...rest] = segmentsOf(pointer);
  if (first === undefined) return value;
  const below = pointerOf(rest);
  if (isJsonArray(document)) {
    return document.map((element, index) => (String(index) === first ? withValueAt(element, below, value) : element));
  }
  const fields = isJsonObject(document) ? document : {};
  const changed = withValueAt(field(fields, first), below, value);
  return Object.fromEntries([...Object.entries(fields).filter(([key]) => key !== first), [first, changed]]);
}

/** Sets a value in an object, as {@link withValueAt} does; returns it unchanged where it would not stay an object. */
export function withFieldAt(object: JsonObject, pointer: Pointer, value: Json): JsonObject {
  const changed = withValueAt(object, pointer, value);
  return isJsonObject(changed) ? changed : object;
}

/** Returns a copy of `document` without the value at `pointer`, and without the objects that held nothing else. */
export function withoutValueAt(document: JsonObject, pointer: Pointer): JsonObject {
  const [first, ...rest] = segmentsOf(pointer);
  if (first === undefined || !Object.hasOwn(document, first)) return document;
  const others = Object.entries(document).filter(([key]) => key !== first);
  if (rest.length === 0) return Object.fromEntries(others);
  const below = document[first];
  if (!isJsonObject(below)) return document;
  const kept = withoutValueAt(below, pointerOf(rest));
  if (kept === below) return document;
  return Object.fromEntries(Object.keys(kept).length === 0 ? others : [...others, [first, kept]]);
}

/** Decides whether a pattern names the value at a path, or one around it. */
export function isAtOrBelow(path: Path, pattern: Pointer): boolean {
  return isAt(path.slice(0, segmentsOf(pattern).length), pattern);
}

/** Decides whether a pattern names the value at a path. */
export function isAt(path: Path, pattern: Pointer): boolean {
  const wanted = segmentsOf(pattern);
  return (
    wanted.length === path.length &&
    wanted.every((segment, index) => segment === "*" || segment === String(path[index]))
  );
}
