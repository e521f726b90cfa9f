import { EngineError } from "../errors.ts";
import { isArray, isMap, mapValues, type PropertyMap, type PropertyValue, property, Secret } from "./value.ts";

/** The place of a value inside a property map: names of keys and positions in arrays. `"*"` stands for any of them. */
export type PropertyPath = readonly (string | number)[];

/** Writes a path as the Pulumi CLI does: `definition.list[0]["odd key"]`. */
export function formatPath(path: PropertyPath): string {
  let text = "";
  for (const [i, part] of path.entries()) {
    if (typeof part === "number") text += `[${part}]`;
    else if (/[^A-Za-z0-9_]/.test(part)) text += `["${part.replaceAll('"', '\\"')}"]`;
    else text += i === 0 ? part : `.${part}`;
  }
  return text;
}

/** Reads a path as the Pulumi engine does: a bare name runs up to the next `.` or `[`. Fails on an open quote or bracket. */
export function parsePath(text: string): PropertyPath {
  const fail = (why: string): EngineError => new EngineError("BAD_CALL", `"${text}" is not a property path: ${why}`);
  if (text.startsWith(".")) throw fail("it begins with a dot");
  const path: (string | number)[] = [];
  let rest = text;
  while (rest.length > 0) {
    if (rest.startsWith(".")) {
      rest = rest.slice(1);
      if (rest === "") throw fail("it ends with a dot");
      continue;
    }
    const quoted = /^\["((?:\\"|[^"])*)"\]/.exec(rest);
    const indexed = /^\[([^\]"]*)\]/.exec(rest);
    const bare = /^[^.[]+/.exec(rest);
    const match = quoted ?? indexed ?? bare;
    if (match === null) throw fail("a quote or a bracket is not closed");
    if (quoted !== null) path.push((quoted[1] ?? "").replaceAll('\\"', '"'));
    else if (indexed !== null) path.push(indexOf(indexed[1] ?? "", fail));
    else path.push(match[0]);
    rest = rest.slice(match[0].length);
  }
  return path;
}

function indexOf(text: string, fail: (why: string) => EngineError): string | number {
  if (text === "*") return text;
  if (!/^-?\d+$/.test(text)) throw fail(`"${text}" is not a position in an array`);
  return Number(text);
}

/** Decides whether `outer` is `inner` or a part of the way to it. */
export function pathContains(outer: PropertyPath, inner: PropertyPath): boolean {
  return outer.length <= inner.length && outer.every((part, i) => part === "*" || part === inner[i]);
}

/** Returns the value at a path, looking into secrets on the way; undefined when there is none. */
export function valueAt(map: PropertyMap, path: PropertyPath): PropertyValue | undefined {
  let value: PropertyValue | undefined = map;
  let secret = false;
  for (const part of path) {
    while (value instanceof Secret) {
      secret = true;
      value = value.element;
    }
    if (typeof part === "number" && isArray(value)) value = value[part];
    else if (typeof part === "string" && isMap(value)) value = property(value, part);
    else return undefined;
  }
  return secret && value !== undefined && !(value instanceof Secret) ? new Secret(value) : value;
}

/** Reads a path as `parsePath`; undefined where the string is none. */
export function pathIn(text: string): PropertyPath | undefined {
  try {
    return parsePath(text);
  } catch (error) {
    if (error instanceof EngineError) return undefined;
    throw error;
  }
}

/**
 * Returns `inputs` with the values at the paths set back to what they were in `old` (the `ignoreChanges` option). A string
 * that is no path says nothing. `failed` lists the paths that go through an element which only one side has; what they name in
 * the elements that both have is set back all the same.
 */
export function resetPaths(
  inputs: PropertyMap,
  old: PropertyMap,
  paths: readonly string[],
): { inputs: PropertyMap; failed: string[] } {
  const failed: string[] = [];
  let result: PropertyMap = inputs;
  for (const text of paths) {
    const path = pathIn(text);
    if (path === undefined) continue;
    const { value, isWhole } = reset(result, old, path, false);
    if (!isWhole) failed.push(text);
    if (isMap(value)) result = value;
  }
  return { inputs: result, failed };
}

/** A value as far as it was set back, and whether the path led everywhere that it should. */
interface Reset {
  readonly value: PropertyValue;
  readonly isWhole: boolean;
}

/** Sets a value back. `oldHidden`: a secret was opened in the old value but not in the new one, so what is copied must be hidden again. */
function reset(now: PropertyValue, old: PropertyValue | undefined, path: PropertyPath, oldHidden: boolean): Reset {
  if (now instanceof Secret) {
    const inner = reset(now.element, old instanceof Secret ? old.element : old, path, false);
    return { ...inner, value: inner.value === now.element ? now : new Secret(inner.value) };
  }
  if (old instanceof Secret) return reset(now, old.element, path, true);
  const [part, ...rest] = path;
  if (part === undefined) return { value: now, isWhole: false };
  const copied = (value: PropertyValue): PropertyValue =>
    oldHidden && !(value instanceof Secret) ? new Secret(value) : value;
  const step = (a: PropertyValue, b: PropertyValue): Reset =>
    rest.length === 0 ? { value: copied(b), isWhole: true } : reset(a, b, rest, oldHidden);
  if (part === "*") return rest.length === 0 ? resetAll(now, old, copied) : resetEach(now, old, step);
  if (typeof part === "number") {
    if (!isArray(now) || !isArray(old)) return { value: now, isWhole: part >= 0 && !isArray(now) && !isArray(old) };
    const [a, b] = [now[part], old[part]];
    if (a === undefined || b === undefined)
      return { value: now, isWhole: part >= 0 && rest.length === 0 && a === undefined && b === undefined };
    const element = step(a, b);
    return { ...element, value: now.with(part, element.value) };
  }
  const b = isMap(old) ? property(old, part) : undefined;
  if (rest.length === 0) {
    if (!isMap(now)) return { value: now, isWhole: b === undefined };
    return { value: b === undefined ? without(now, part) : { ...now, [part]: copied(b) }, isWhole: true };
  }
  if (!isMap(now) || !isMap(old)) return { value: now, isWhole: !isMap(now) && !isMap(old) };
  const a = property(now, part);
  if (a === undefined) return { value: now, isWhole: b === undefined };
  // Below what was added the path is set back, too: there is nothing in the old value, so it goes.
  const below = reset(a, b, rest, oldHidden);
  return { ...below, value: { ...now, [part]: below.value } };
}

/** Sets every element of a map or an array back. An array keeps its length. */
function resetAll(
  now: PropertyValue,
  old: PropertyValue | undefined,
  copied: (value: PropertyValue) => PropertyValue,
): Reset {
  if (isMap(now)) return { value: isMap(old) ? mapValues(old, copied) : now, isWhole: true };
  if (!isArray(now) || !isArray(old)) return { value: now, isWhole: isArray(now) };
  const value = now.map((element, i) => (i < old.length ? copied(old[i] ?? null) : element));
  return { value, isWhole: now.length === old.length };
}

/** Goes on in every element that both sides have, up to the first in which the path leads nowhere. */
function resetEach(
  now: PropertyValue,
  old: PropertyValue | undefined,
  step: (a: PropertyValue, b: PropertyValue) => Reset,
): Reset {
  let isWhole = true;
  const next = (a: PropertyValue | undefined, b: PropertyValue | undefined): PropertyValue => {
    if (!isWhole || a === undefined || b === undefined) return a ?? null;
    const found = step(a, b);
    isWhole = found.isWhole;
    return found.value;
  };
  if (isArray(now) && isArray(old)) {
    const value = now.map((element, i) => next(element, old[i]));
    return { value, isWhole: isWhole && now.length === old.length };
  }
  if (!isMap(now) || !isMap(old)) return { value: now, isWhole: false };
  const value = mapValues(now, (element, key) => next(element, property(old, key)));
  return { value, isWhole: isWhole && Object.keys(old).every((key) => Object.hasOwn(now, key)) };
}

function without(map: PropertyMap, key: string): PropertyMap {
  return Object.fromEntries(Object.entries(map).filter(([name]) => name !== key));
}
