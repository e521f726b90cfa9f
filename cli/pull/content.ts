import type { DriftedPath } from "../../report/drift/drift.ts";
import { fileOf, mergedObject, type RuleSource } from "../../sdk/files/rule-folder.ts";
import {
  asWritten,
  isEqual,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  type Path,
  pathOf,
  pointerOf,
  valueAt,
} from "../../sdk/json/index.ts";

/** The contents of a rule's files; undefined where it has no such file. */
export interface Contents {
  readonly base: JsonObject | undefined;
  readonly overlay: JsonObject | undefined;
}

/**
 * Returns the contents with which a rule's files say what is live. Each change goes to the file from which the value came; what an
 * overlay takes away that the folder has, is null there.
 * @returns where it cannot be done, why, as the rest of a sentence
 */
export function changedContents(source: RuleSource, differences: readonly DriftedPath[]): Contents | string {
  let contents: Contents = { base: source.base?.content, overlay: source.overlay?.content };
  let wanted: Json = source.rule;
  // Elements are taken away from the end, so that the others keep their places until then.
  const sets = differences.filter(({ after }) => after !== undefined);
  const deletes = differences.filter(({ after }) => after === undefined).toReversed();
  for (const { path, before, after } of [...sets, ...deletes]) {
    const here = valueAt(source.rule, pointerOf(path));
    if (isSame(here, after)) continue;
    if (!isSame(here, before))
      return `${pathOf(path)} is ${shown(here)} in the files, and was declared as ${shown(before)} by the last up`;
    wanted = withAt(wanted, path, after);
    contents = changedAt(source, contents, path, after);
  }
  const { base, overlay } = contents;
  const result = overlay === undefined ? base : mergedObject(base ?? {}, overlay);
  return isSame(result, wanted) ? contents : "an overlay cannot say what is live";
}

function changedAt(source: RuleSource, { base, overlay }: Contents, path: Path, after: Json | undefined): Contents {
  if (fileOf(source, path) === source.base) return { base: objectWithAt(base, path, after), overlay };
  const isBelow = after === undefined && isInFields(overlay, path) && valueAt(base, pointerOf(path)) !== undefined;
  return { base, overlay: objectWithAt(overlay, path, isBelow ? null : after) };
}

/** Decides whether a path leads through objects alone: where it ends, what the folder has below shows through. */
function isInFields(value: Json | undefined, path: Path): boolean {
  return path.every((_, depth) => isJsonObject(valueAt(value, pointerOf(path.slice(0, depth)))));
}

function objectWithAt(object: JsonObject | undefined, path: Path, value: Json | undefined): JsonObject {
  const changed = withAt(object ?? {}, path, value);
  return isJsonObject(changed) ? changed : {};
}

/** Returns a copy with a value at a path, or without what is there. */
function withAt(whole: Json, [name, ...rest]: Path, value: Json | undefined): Json {
  if (name === undefined) return value ?? {};
  if (isJsonArray(whole)) {
    const index = Number(name);
    if (rest.length === 0 && value === undefined) return whole.toSpliced(index, 1);
    const next = rest.length === 0 ? value : withAt(whole[index] ?? null, rest, value);
    return index < whole.length ? whole.with(index, next ?? null) : [...whole, next ?? null];
  }
  const fields = new Map(isJsonObject(whole) ? Object.entries(whole) : []);
  const key = String(name);
  const next = rest.length === 0 ? value : withAt(fields.get(key) ?? {}, rest, value);
  if (next === undefined) fields.delete(key);
  else fields.set(key, next);
  return Object.fromEntries(fields);
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return one === undefined || other === undefined ? one === other : isEqual(one, other, asWritten);
}

function shown(value: Json | undefined): string {
  return value === undefined ? "absent" : JSON.stringify(value);
}
