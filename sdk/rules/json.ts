/** A JSON value (RFC 8259). A rule's definition is a JsonObject; its fields are a gap (seed, section 2). */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

/** Whether a JSON value is an object: not null, not an array. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a JSON value is an array (narrows a readonly one, which Array.isArray does not). */
export function isJsonArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Whether an object is of no class, as those are that JSON is read into. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** An own field of an object; `constructor`, `__proto__` and the like are fields as any other, or absent. */
export function field(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** An object from entries, in which `__proto__` is a plain field. */
export function jsonObject(entries: Iterable<readonly [string, Json]>): JsonObject {
  return Object.fromEntries(entries);
}

/** A place in a value that is not JSON, as a path that reads like code: `conditions[0].value`. */
export interface NotJson {
  readonly path: string;
  readonly found: string;
}

/** How deep a definition may nest. Deeper is refused rather than overflowing the stack of some hook later. */
export const maxDepth = 100;

/**
 * Where a value is not JSON, or nests deeper than `levels`; first place first: undefined, NaN, an infinity, -0 is fine,
 * BigInt, Date, Map, a function, a cycle, half a surrogate pair, which UTF-8 has no bytes for. `undefined` when all of it
 * is JSON.
 */
export function findNotJson(
  value: unknown,
  path = "",
  above: readonly object[] = [],
  levels = maxDepth,
): NotJson | undefined {
  if (value === null || typeof value === "boolean") return undefined;
  if (typeof value === "string") return value.isWellFormed() ? undefined : { path, found: "half a surrogate pair" };
  if (typeof value === "number") return Number.isFinite(value) ? undefined : { path, found: String(value) };
  if (typeof value !== "object") return { path, found: typeof value };
  if (above.includes(value)) return { path, found: "a reference to what it is part of" };
  if (above.length >= levels) return { path, found: `more than ${levels} levels of nesting` };
  const isArray = Array.isArray(value);
  if (!isArray && !isPlainObject(value)) return { path, found: `a ${value.constructor.name}` };
  const within = [...above, value];
  for (const [key, child] of isArray ? value.entries() : Object.entries(value)) {
    if (typeof key === "string" && !key.isWellFormed())
      return { path, found: "a field whose name has half a surrogate pair" };
    const found = findNotJson(child, joinPath(path, key), within, levels);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Where a JSON value has a number that its readers may have rounded: an integer beyond 2^53, or an infinity, which is
 * what `1e400` is read as. First place first; `undefined` where there is none. At most {@link maxDepth} levels are looked
 * at.
 */
export function findInexactNumber(value: Json, path = "", depth = 0): NotJson | undefined {
  if (typeof value === "number")
    return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
      ? undefined
      : { path, found: String(value) };
  if (typeof value !== "object" || value === null || depth > maxDepth) return undefined;
  for (const [key, child] of isJsonArray(value) ? value.entries() : Object.entries(value)) {
    const found = findInexactNumber(child, joinPath(path, key), depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a value is a JSON object through and through; see {@link findNotJson}. */
export function isJson(value: unknown): value is Json {
  return findNotJson(value) === undefined;
}

/** One step further down a property path, in the notation that the engine prints: `a.b[0]["odd key"]`. */
export function joinPath(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  if (/^[A-Za-z_$][\w$]*$/.test(key)) return path === "" ? key : `${path}.${key}`;
  return `${path}[${JSON.stringify(key)}]`;
}

/** What JSON.parse says of a text, without the piece of the text that some of its messages quote: it may be secret. */
export function whyNotJson(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/(?:, (?:\.\.\.)?"| in JSON at position).*$/s, "");
}
