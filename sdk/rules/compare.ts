import { field, isJsonArray, isJsonObject, type Json, type JsonObject } from "./json.ts";
import { isMask } from "./mask.ts";
import { matching } from "./matching.ts";
import { isAt, type Pointer, pointerOf, segmentsOf, valueAt } from "./pointer.ts";
import { type Path, walk } from "./walk.ts";

export interface CompareOptions {
  /** Arrays whose order means nothing; contract `rule.unordered`. */
  readonly unordered: readonly Pointer[];
}

const ordered: CompareOptions = { unordered: [] };

/** A value, or undefined where there is none. */
type Side = Json | undefined;

/** One field or element that is not the same on both sides. */
export interface Difference {
  readonly path: Path;
  readonly kind: "add" | "delete" | "update";
  readonly before?: Json;
  readonly after?: Json;
}

/**
 * The text that two values share exactly when they are equal: object keys sorted, elements of unordered arrays sorted,
 * numbers by value (1 and 1.0 are one number, "1" is none, -0 is 0).
 */
export function canonical(value: Json, options: CompareOptions = ordered, path: Path = []): string {
  // Only unordered arrays need paths; without any, none are built.
  const below = (key: string | number): Path => (options.unordered.length === 0 ? path : [...path, key]);
  if (isJsonArray(value)) {
    const elements = value.map((element, index) => canonical(element, options, below(index)));
    return `[${(isUnordered(path, options) ? elements.sort() : elements).join(",")}]`;
  }
  if (isJsonObject(value)) {
    const fields = Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonical(field(value, key) ?? null, options, below(key))}`);
    return `{${fields.join(",")}}`;
  }
  return JSON.stringify(value === 0 ? 0 : value);
}

/** True where two values are equal in their canonical form. */
export function isEqual(a: Json, b: Json, options: CompareOptions = ordered, path: Path = []): boolean {
  return a === b || canonical(a, options, path) === canonical(b, options, path);
}

/**
 * The part of the live rule that the declared one speaks of. Equal to `declared` exactly when the rule is as declared.
 * - A field that is not declared is not managed: it is left out.
 * - A declared field that is missing stays missing; one that is declared as null is null, because services drop nulls.
 * - Each element is projected onto the declared one at its index; those of unordered arrays are put into declared order
 *   first. An element without a declared one comes whole.
 */
export function project(live: Json, declared: Json, options: CompareOptions = ordered, path: Path = []): Json {
  if (isJsonObject(live) && isJsonObject(declared)) {
    const fields: [string, Json][] = [];
    for (const key of Object.keys(declared)) {
      const [value, wanted] = [field(live, key), field(declared, key) ?? null];
      if (value !== undefined) fields.push([key, project(value, wanted, options, [...path, key])]);
      else if (wanted === null) fields.push([key, null]);
    }
    return Object.fromEntries(fields);
  }
  if (isJsonArray(live) && isJsonArray(declared)) {
    const counterparts = isUnordered(path, options) ? inDeclaredOrder(live, declared, options, path) : live;
    return counterparts.map((element, index) => {
      const counterpart = declared[index];
      return counterpart === undefined ? element : project(element, counterpart, options, [...path, index]);
    });
  }
  return live;
}

/** The fields of a rule with the declared ones in their place: objects in depth, arrays and all else as declared. */
export function laidOver(live: JsonObject, declared: JsonObject): JsonObject {
  const laid = Object.entries(declared).map(([key, value]): [string, Json] => {
    const below = field(live, key);
    return [key, isJsonObject(below) && isJsonObject(value) ? laidOver(below, value) : value];
  });
  return Object.fromEntries([...Object.entries(live), ...laid]);
}

/**
 * The differences from `before` to `after`, each as deep inside as both sides go; empty exactly when they are equal. The
 * mask of a secret is one value: no difference lies inside.
 */
export function differences(
  before: Side,
  after: Side,
  options: CompareOptions = ordered,
  path: Path = [],
): Difference[] {
  if (before === undefined) return after === undefined ? [] : [{ path, kind: "add", after }];
  if (after === undefined) return [{ path, kind: "delete", before }];
  if (isEqual(before, after, options, path)) return [];
  if (isJsonObject(before) && isJsonObject(after) && !isMask(before) && !isMask(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => differences(field(before, key), field(after, key), options, [...path, key]));
  }
  if (isJsonArray(before) && isJsonArray(after)) {
    const counterparts = isUnordered(path, options) ? inDeclaredOrder(after, before, options, path) : after;
    const length = Math.max(before.length, counterparts.length);
    return Array.from({ length }).flatMap((_, index) =>
      differences(before[index], counterparts[index], options, [...path, index]),
    );
  }
  return [{ path, kind: "update", before, after }];
}

/**
 * True where a difference changes what a pattern names: it lies there, below it, or above it with another value there.
 */
export function touches({ path, before, after }: Difference, pattern: Pointer): boolean {
  const wanted = segmentsOf(pattern);
  const above = pointerOf(wanted.slice(0, path.length));
  return isAt(path.slice(0, wanted.length), above) && isChangedAt(before, after, wanted.slice(path.length));
}

function isChangedAt(before: Side, after: Side, [segment, ...rest]: readonly string[]): boolean {
  if (segment === undefined) return differences(before, after).length > 0;
  const keys = segment === "*" ? [before, after].flatMap((side) => Object.keys(Object(side))) : [segment];
  return keys.some((key) => isChangedAt(valueAt(before, pointerOf([key])), valueAt(after, pointerOf([key])), rest));
}

function isUnordered(path: Path, { unordered }: CompareOptions): boolean {
  return unordered.length > 0 && unordered.some((pattern) => isAt(path, pattern));
}

/**
 * The live elements, each at the index of a declared element that it satisfies; the others fill the gaps in order. As
 * many as possible are matched: one that satisfies several declared elements goes where no other can.
 */
function inDeclaredOrder(
  live: readonly Json[],
  declared: readonly Json[],
  options: CompareOptions,
  path: Path,
): readonly Json[] {
  const similarTo = bySimilarity(live);
  // Where a pattern names elements by their number, equal elements may have different candidates.
  const isNumbered = options.unordered.some((pattern) => /^\d/.test(segmentsOf(pattern)[path.length] ?? ""));
  const known = new Map<string, readonly number[]>();
  const candidates = declared.map((wanted, index) => {
    const here = [...path, index];
    const text = canonical(wanted, options, here);
    const key = isNumbered ? `${index} ${text}` : text;
    const satisfies = (at: number): boolean =>
      canonical(project(live[at] ?? null, wanted, options, here), options, here) === text;
    const found = known.get(key) ?? similarTo(wanted).filter(satisfies);
    known.set(key, found);
    return found;
  });
  const chosen = matching(candidates);
  const taken = new Set(chosen);
  const left = live.filter((_, at) => !taken.has(at)).values();
  const placed = chosen.map((at) => (at === undefined ? left.next().value : live[at]));
  return [...placed.filter((element) => element !== undefined), ...left];
}

/**
 * An index of elements. It gives those that have all marks of a wanted one, and so all that satisfy it: projection takes
 * fields away and adds nothing but nulls. Without it, each element would be compared with each.
 */
function bySimilarity(elements: readonly Json[]): (wanted: Json) => readonly number[] {
  const marks = elements.map(marksOf);
  const all = [...elements.keys()];
  const marked = new Map<string, number[]>();
  for (const mark of new Set(marks.flatMap((each) => [...each]))) marked.set(mark, []);
  for (const at of all) for (const mark of marks[at] ?? []) marked.get(mark)?.push(at);
  return (wanted) => {
    const needed = [...marksOf(wanted)];
    const fewest = needed.reduce<readonly number[]>((few, mark) => {
      const others = marked.get(mark) ?? [];
      return others.length < few.length ? others : few;
    }, all);
    return fewest.filter((at) => needed.every((mark) => marks[at]?.has(mark)));
  };
}

/** The texts, numbers and truth values in an element, each with the names that lead there; indices may change. */
function marksOf(element: Json): ReadonlySet<string> {
  const marks = new Set<string>();
  walk(element, (value, { path }) => {
    const names = path.map((key) => (typeof key === "number" ? "*" : key));
    if (typeof value !== "object") marks.add(`${canonical(value)} ${names.join("/")}`);
  });
  return marks;
}
