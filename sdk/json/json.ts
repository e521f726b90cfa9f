import { types } from "node:util";
import { isExactNumber } from "./exact-number.ts";
import type { Json, JsonObject } from "./json-types.ts";
import { type Path, walk } from "./walk.ts";

export type { Json, JsonObject } from "./json-types.ts";

/** Decides whether a JSON value is an object: neither null, an array nor an exact number. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

/** Decides whether a JSON value is an array; unlike Array.isArray, it narrows a readonly one. */
export function isJsonArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Decides whether an object is a plain one, as JSON is read into: not a Date, a Map or of another class. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Returns an own field of an object. `constructor` and `__proto__` are fields like any other, or absent. */
export function field(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** A place where a value is not JSON. */
export interface NotJson {
  readonly path: Path;
  readonly found: string;
}

/** The most levels in a definition. Deeper is refused, so that no later step overflows the stack. */
export const maxDepth = 100;

/**
 * Returns the first place where a value is not JSON: undefined, NaN, an infinity, a BigInt, a Date, a Map, a function, a
 * cycle, more than `levels` levels of nesting, or half a surrogate pair, which UTF-8 has no bytes for. undefined: it is JSON.
 */
export function findNotJson(root: unknown, levels = maxDepth): NotJson | undefined {
  return walk(root, (value, { path, isCycle }) => {
    const key = path.at(-1);
    if (typeof key === "string" && !key.isWellFormed())
      return { path: path.slice(0, -1), found: "a field whose name has half a surrogate pair" };
    const found = isCycle ? "a reference to an object that contains it" : notJson(value, path.length < levels, levels);
    return found === undefined ? undefined : { path: [...path], found };
  });
}

/** Returns why a value itself is not JSON, apart from what is in it; undefined where it is. */
function notJson(value: unknown, mayNest: boolean, levels: number): string | undefined {
  if (value === null || typeof value === "boolean" || isExactNumber(value)) return undefined;
  if (typeof value === "string") return value.isWellFormed() ? undefined : "half a surrogate pair";
  if (typeof value === "number") return Number.isFinite(value) ? undefined : String(value);
  if (typeof value !== "object") return typeof value;
  if (!mayNest) return `more than ${levels} levels of nesting`;
  return Array.isArray(value) || isPlainObject(value) ? undefined : `a ${value.constructor.name}`;
}

/** Decides whether a value and everything in it is JSON; see {@link findNotJson}. */
export function isJson(value: unknown): value is Json {
  return findNotJson(value) === undefined;
}

/** Returns the first place of a number that a program may have rounded: an integer beyond 2^53, or an infinity. */
export function findInexactNumber(root: Json): NotJson | undefined {
  return walk(root, (value, { path }) => {
    if (typeof value !== "number") return undefined;
    const isExact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
    return isExact ? undefined : { path: [...path], found: String(value) };
  });
}

/** Returns the message of a thrown value, which may be anything. */
export function reasonOf(error: unknown): string {
  return isError(error) ? error.message : String(error);
}

/** Decides whether a value is an error, also one that Node made in another realm, as under jest. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value);
}

/** Returns the message of JSON.parse without the piece of the text that it may quote: that may be secret. */
export function whyNotJson(error: unknown): string {
  return reasonOf(error).replace(/(?:, (?:\.\.\.)?"| in JSON at position).*$/s, "");
}
