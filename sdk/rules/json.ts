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
 * Where a value is not JSON, first place first: undefined, NaN, an infinity, -0 is fine, BigInt, Date, Map, a function,
 * a cycle, nesting beyond {@link maxDepth}. `undefined` when all of it is JSON.
 */
export function findNotJson(value: unknown, path = "", above: readonly object[] = []): NotJson | undefined {
  if (value === null || typeof value === "boolean" || typeof value === "string") return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : { path, found: String(value) };
  if (typeof value !== "object") return { path, found: typeof value };
  if (above.includes(value)) return { path, found: "a reference to what it is part of" };
  if (above.length >= maxDepth) return { path, found: `more than ${maxDepth} levels of nesting` };
  const prototype: unknown = Object.getPrototypeOf(value);
  const isArray = Array.isArray(value);
  if (!isArray && prototype !== Object.prototype && prototype !== null)
    return { path, found: `a ${value.constructor.name}` };
  const within = [...above, value];
  for (const [key, child] of isArray ? value.entries() : Object.entries(value)) {
    const found = findNotJson(child, joinPath(path, key), within);
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
