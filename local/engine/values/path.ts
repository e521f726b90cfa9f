import { EngineError } from "../errors.ts";
import { isArray, isMap, mapValues, type PropertyMap, type PropertyValue, property, Secret } from "./value.ts";

/** Where a value is inside a property map: names of keys and positions in arrays. `"*"` stands for any of them. */
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

/** Whether `outer` is `inner` or a part of the way to it. */
export function pathContains(outer: PropertyPath, inner: PropertyPath): boolean {
  return outer.length <= inner.length && outer.every((part, i) => part === "*" || part === inner[i]);
}

/** The value at a path, looking into secrets on the way; undefined when there is none. */
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

/**
 * `inputs` with the values at the paths set back to what they were in `old` (the `ignoreChanges` option). `failed` lists
 * the paths that go through an element which only one side has.
 */
export function resetPaths(
  inputs: PropertyMap,
  old: PropertyMap,
  paths: readonly string[],
): { inputs: PropertyMap; failed: string[] } {
  const failed: string[] = [];
  let result: PropertyMap = inputs;
  for (const text of paths) {
    const next = reset(result, old, parsePath(text), false);
    if (next === failure) failed.push(text);
    else if (isMap(next)) result = next;
  }
  return { inputs: result, failed };
}

const failure = Symbol("path cannot be reset");

/** `oldHidden` is whether a secret was opened in the old value but not in the new one: what is copied must be hidden again. */
function reset(
  now: PropertyValue,
  old: PropertyValue,
  path: PropertyPath,
  oldHidden: boolean,
): PropertyValue | typeof failure {
  if (now instanceof Secret) {
    const inner = reset(now.element, old instanceof Secret ? old.element : old, path, false);
    return inner === failure ? failure : inner === now.element ? now : new Secret(inner);
  }
  if (old instanceof Secret) return reset(now, old.element, path, true);
  const [part, ...rest] = path;
  if (part === undefined) return failure;
  const copied = (value: PropertyValue): PropertyValue =>
    oldHidden && !(value instanceof Secret) ? new Secret(value) : value;
  const step = (a: PropertyValue, b: PropertyValue): PropertyValue | typeof failure =>
    rest.length === 0 ? copied(b) : reset(a, b, rest, oldHidden);
  if (part === "*") return resetEach(now, old, rest.length === 0 ? copied : undefined, step);
  if (typeof part === "number") {
    if (!isArray(now) || !isArray(old)) return isArray(now) === isArray(old) ? now : failure;
    const [a, b] = [now[part], old[part]];
    if (a === undefined && b === undefined && rest.length === 0) return now;
    if (a === undefined || b === undefined) return failure;
    const element = step(a, b);
    return element === failure ? failure : now.map((value, i) => (i === part ? element : value));
  }
  const b = isMap(old) ? property(old, part) : undefined;
  if (rest.length === 0) {
    if (b === undefined) return isMap(now) ? without(now, part) : now;
    return isMap(now) ? { ...now, [part]: copied(b) } : failure;
  }
  const a = isMap(now) ? property(now, part) : undefined;
  if (a === undefined || b === undefined || !isMap(now)) return a === undefined && b === undefined ? now : failure;
  const value = reset(a, b, rest, oldHidden);
  return value === failure ? failure : { ...now, [part]: value };
}

/** `copied` is given where the path ends here: each element is set back as a whole. */
function resetEach(
  now: PropertyValue,
  old: PropertyValue,
  copied: ((value: PropertyValue) => PropertyValue) | undefined,
  step: (a: PropertyValue, b: PropertyValue) => PropertyValue | typeof failure,
): PropertyValue | typeof failure {
  if (isArray(now) && isArray(old)) {
    if (now.length !== old.length) return failure;
    const elements = now.map((element, i) => step(element, old[i] ?? null));
    return elements.includes(failure) ? failure : elements.filter((element) => element !== failure);
  }
  if (isMap(now) && isMap(old)) {
    if (copied !== undefined) return mapValues(old, copied);
    if (Object.keys(old).some((key) => !Object.hasOwn(now, key))) return failure;
    const entries: [string, PropertyValue][] = [];
    for (const [key, value] of Object.entries(now)) {
      const b = property(old, key);
      const next = b === undefined ? value : step(value, b);
      if (next === failure) return failure;
      entries.push([key, next]);
    }
    return Object.fromEntries(entries);
  }
  return copied !== undefined && (isArray(now) || isMap(now)) ? now : failure;
}

function without(map: PropertyMap, key: string): PropertyMap {
  return Object.fromEntries(Object.entries(map).filter(([name]) => name !== key));
}
