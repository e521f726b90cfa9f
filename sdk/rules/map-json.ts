import { isJsonArray, isJsonObject, type Json } from "./json.ts";
import type { Path } from "./walk.ts";

/**
 * A copy of a value. `visit` is called on each value before its children; what it returns replaces the value, and is not
 * looked into. undefined keeps the value.
 * @param visit gets one path for the whole walk, and its fields change with every step: copy it to keep it
 * @param start the path of `root` itself
 */
export function mapJson(root: Json, visit: (value: Json, path: Path) => Json | undefined, start: Path = []): Json {
  const path = [...start];

  function below(key: string | number, value: Json): Json {
    path.push(key);
    const mapped = step(value);
    path.pop();
    return mapped;
  }

  function step(value: Json): Json {
    const replaced = visit(value, path);
    if (replaced !== undefined) return replaced;
    if (isJsonArray(value)) return value.map((element, index) => below(index, element));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, below(key, child)]));
  }

  return step(root);
}
