import { field, isJsonObject, type JsonObject, type Path, pathOf } from "../json/index.ts";

/** Returns the paths of the fields that a rule has and a listed one lacks, objects in depth; nulls may be lacking. */
export function pathsLackingIn(listed: JsonObject, rule: JsonObject, at: Path = []): string[] {
  return Object.entries(rule).flatMap(([name, value]) => {
    const path = [...at, name];
    const shown = field(listed, name);
    if (shown === undefined) return value === null ? [] : [pathOf(path)];
    return isJsonObject(shown) && isJsonObject(value) ? pathsLackingIn(shown, value, path) : [];
  });
}
