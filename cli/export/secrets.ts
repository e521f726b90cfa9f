import {
  isAt,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  mapJson,
  type Path,
  pointerOf,
  walk,
} from "../../sdk/json/index.ts";
import type { ExportedRule } from "./exported-rule.ts";

/** A secret value of a rule, and the key that it gets in the stack's config. */
export interface ExportedSecret {
  readonly rule: ExportedRule;
  readonly path: Path;
  readonly value: Json;
  readonly configKey: string;
}

/** Finds the paths of secrets in a definition, outermost first. A path inside a secret is left out, and null is no secret. */
export function secretPaths(definition: JsonObject, patterns: readonly string[]): Path[] {
  const found: Path[] = [];
  if (patterns.length === 0) return found;
  walk(definition, (value, { path }) => {
    const isInside = found.some((outer) => outer.every((key, depth) => path[depth] === key));
    if (!isInside && value !== null && patterns.some((pattern) => isAt(path, pattern))) found.push([...path]);
    return undefined;
  });
  return found;
}

/** Returns every secret of the rules, each with a key of its own. */
export function secretsOf(
  rules: readonly ExportedRule[],
  valueAt: (rule: ExportedRule, path: Path) => Json,
): ExportedSecret[] {
  const taken = new Set<string>();
  return rules.flatMap((rule) =>
    rule.secrets.map((path) => {
      const base = [rule.key, ...path].join("-").replace(/[^A-Za-z0-9_-]+/g, "-");
      let configKey = base;
      for (let n = 2; taken.has(configKey); n += 1) configKey = `${base}-${n}`;
      taken.add(configKey);
      return { rule, path, value: valueAt(rule, path), configKey };
    }),
  );
}

/**
 * Returns a definition without its secrets, for a file. Elements of arrays keep their places by a null; what is around a secret
 * stays, so that it can be put back.
 */
export function withoutSecrets(definition: JsonObject, paths: readonly Path[]): JsonObject {
  const without = paths.reduce<Json>((rule, path) => withoutAt(rule, path), definition);
  return isJsonObject(without) ? without : {};
}

function withoutAt(value: Json, [key, ...rest]: Path): Json {
  if (key === undefined) return {};
  if (isJsonArray(value))
    return value.map((element, index) =>
      index !== key ? element : rest.length === 0 ? null : withoutAt(element, rest),
    );
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(value).filter(([name]) => rest.length > 0 || name !== key);
  return Object.fromEntries(fields.map(([name, child]) => [name, name === key ? withoutAt(child, rest) : child]));
}

/** Returns a definition in which something else stands in place of each secret. */
export function withSecretsAs(value: Json, paths: readonly Path[], replace: (secret: Json) => Json): Json {
  const pointers = new Set(paths.map(pointerOf));
  if (pointers.size === 0) return value;
  return mapJson(value, (each, path) => (pointers.has(pointerOf(path)) ? replace(each) : undefined));
}
