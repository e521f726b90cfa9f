import type { Json, JsonObject } from "../../../sdk/json/index.ts";
import {
  isArray,
  mapValues,
  type PropertyMap,
  type PropertyValue,
  ResourceReference,
  Secret,
  Unknown,
} from "../../../stack/values/value.ts";

/** The key that carries a dynamic provider's code; never shown. */
export const providerKey = "__provider";

/** Returns a value as people may see it: no secret in it, and words for what is not known. */
export function printable(value: PropertyValue): Json {
  if (value instanceof Secret) return "[secret]";
  if (value instanceof Unknown) return "[unknown]";
  if (value instanceof ResourceReference) return value.urn;
  if (isArray(value)) return value.map(printable);
  return typeof value === "object" && value !== null ? printableMap(value) : value;
}

export function printableMap(map: PropertyMap): JsonObject {
  return mapValues(withoutProvider(map), printable);
}

export function withoutProvider(map: PropertyMap): PropertyMap {
  return Object.fromEntries(Object.entries(map).filter(([key]) => key !== providerKey));
}

/** Writes a value on one line; the words for secrets and unknowns stand without quotes. */
export function formatValue(value: PropertyValue | undefined, maxLength = Number.POSITIVE_INFINITY): string {
  if (value === undefined) return "[absent]";
  const shown = printable(value);
  const bare = shown === "[secret]" || shown === "[unknown]";
  const text = bare ? shown : JSON.stringify(shown);
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
}
