import type { Json, Path } from "../../sdk/json/index.ts";
import { isPlainObject } from "../../sdk/json/json.ts";

/** A value that is known only after the run. */
export interface UnknownValue {
  readonly path: Path;
  /** The error that the policy host threw when the value was read. */
  readonly error: Error;
}

/** The result of reading a value that is not known yet. */
export class UnknownRead {
  readonly error: Error;

  constructor(error: Error) {
    this.error = error;
  }
}

/** Reads a property. The policy host throws where the value is not known yet, and at nothing else. */
export function read(holder: object, field: string): unknown {
  try {
    return Reflect.get(holder, field);
  } catch (error) {
    if (error instanceof Error && "unknownTypeSentinel" in error) return new UnknownRead(error);
    throw error;
  }
}

/** Returns whether a field of what the policy host shows is not known yet. */
export function isUnknownField(holder: object, field: string): boolean {
  return read(holder, field) instanceof UnknownRead;
}

/** Returns the JSON of what a program declares, without values that are not known yet; these are added to `unknown`. */
export function knownJson(shown: unknown, unknown: UnknownValue[]): Json | undefined {
  const value = behind(shown);
  return isSurelyKnown(value) ? value : known(shown, [], unknown);
}

/**
 * Returns the value behind the proxies by which the policy host shows properties. For a policy that may change a resource,
 * secrets are such proxies, too. A proxy gives its target for this name.
 */
export function behind(shown: unknown): unknown {
  if (typeof shown !== "object" || shown === null) return shown;
  const target: unknown = Reflect.get(shown, "__getSpecialProxyTarget");
  return typeof target === "object" && target !== null ? behind(target) : shown;
}

/** The host's mark of a value that is not known yet is a string of this length. */
const markLength = 36;

/** Returns whether a value is JSON without a mark. To ask proxies for each value takes ten times as long. */
function isSurelyKnown(value: unknown): value is Json {
  if (typeof value === "string") return value.length !== markLength;
  if (Array.isArray(value)) return value.every(isSurelyKnown);
  if (typeof value === "object" && value !== null)
    return isPlainObject(value) && Object.values(value).every(isSurelyKnown);
  return value === null || typeof value === "number" || typeof value === "boolean";
}

function known(value: unknown, path: Path, unknown: UnknownValue[]): Json | undefined {
  if (value instanceof UnknownRead) {
    unknown.push({ path, error: value.error });
    return undefined;
  }
  if (Array.isArray(value)) {
    // The others keep their places.
    return Array.from(value.keys(), (index) => known(read(value, String(index)), [...path, index], unknown) ?? null);
  }
  if (typeof value === "object" && value !== null) {
    const fields = Object.keys(value).map((key) => [key, known(read(value, key), [...path, key], unknown)] as const);
    return Object.fromEntries(fields.filter((entry): entry is [string, Json] => entry[1] !== undefined));
  }
  return value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? value
    : undefined;
}
