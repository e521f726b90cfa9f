import { isJsonArray, isJsonObject, type Json } from "./json.ts";
import type { Path } from "./walk.ts";

/**
 * Replaces parts of a value; parts in which nothing is replaced are not copied. `visit` is called on each value before its
 * children. What it returns replaces the value, and is not visited; undefined keeps the value.
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
    if (isJsonArray(value)) {
      const elements = value.map((element, index) => below(index, element));
      return elements.every((element, index) => element === value[index]) ? value : elements;
    }
    if (!isJsonObject(value)) return value;
    const changed: [string, Json][] = [];
    for (const [key, child] of Object.entries(value)) {
      const mapped = below(key, child);
      if (mapped !== child) changed.push([key, mapped]);
    }
    return changed.length === 0 ? value : Object.fromEntries([...Object.entries(value), ...changed]);
  }

  return step(root);
}
