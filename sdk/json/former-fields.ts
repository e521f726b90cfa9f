import type { CompareOptions } from "./canonical.ts";
import { differences, fieldsLackingIn, project } from "./compare.ts";
import { field, isJsonObject, type Json, type JsonObject } from "./json.ts";
import { pointerOf, valueAt } from "./pointer.ts";
import type { Path } from "./walk.ts";

/**
 * Returns the paths in a live rule of what was declared before and is no more. Where an object has more than was declared, they
 * lead to its fields. A null is nothing to have. Of an array that is still declared they lead to elements and into them.
 */
export function formerFields(live: JsonObject, former: JsonObject, definition: JsonObject, by: CompareOptions): Path[] {
  return differences(project(live, former, by), definition, by).flatMap(({ kind, path, before = null }) => {
    if (kind !== "delete") return [];
    if (isInArray(path)) return before === null ? [] : [path];
    const at = pointerOf(path);
    return pathsOf(valueAt(former, at) ?? null, valueAt(live, at) ?? null, path);
  });
}

/** Decides whether a path leads into an array, which is sent as it is declared. */
export function isInArray(path: Path): boolean {
  return path.some((segment) => typeof segment === "number");
}

function pathsOf(former: Json, live: Json, path: Path): Path[] {
  if (live === null) return [];
  if (!isJsonObject(former) || !isJsonObject(live) || Object.keys(former).length === 0) return [path];
  const own = Object.entries(former).flatMap(([key, each]) => pathsOf(each, field(live, key) ?? null, [...path, key]));
  return own.length > 0 && fieldsLackingIn(former, live).length === 0 ? [path] : own;
}
