import { isJsonArray, isJsonObject, type Json, type JsonObject, type Pointer, segmentsOf } from "../rules/index.ts";

/** The texts and numbers of a definition that the contract calls secret (`rule.secret`), all that lie below them included. */
export function secretTextsIn(definition: JsonObject, patterns: readonly Pointer[]): string[] {
  return patterns.flatMap((pattern) => below(definition, segmentsOf(pattern))).flatMap(leavesOf);
}

function below(value: Json, [segment, ...rest]: readonly string[]): Json[] {
  if (segment === undefined) return [value];
  if (!isJsonArray(value) && !isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, child]: [string, Json]) =>
    segment === "*" || segment === key ? below(child, rest) : [],
  );
}

function leavesOf(value: Json): string[] {
  if (isJsonArray(value) || isJsonObject(value)) return Object.values(value).flatMap((child: Json) => leavesOf(child));
  // A single digit or a truth value would be found everywhere and tells nothing.
  if (typeof value === "number") return String(value).length > 2 ? [String(value)] : [];
  return typeof value === "string" ? [value] : [];
}
