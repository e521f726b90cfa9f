import { field, isJsonArray, isJsonObject, type Json, joinPath, jsonObject } from "./json.ts";
import { isAt, type Pointer, pointerOf, segmentsOf, valueAt } from "./pointer.ts";

/** Where the order of elements means nothing; contract `rule.unordered`. */
export interface CompareOptions {
  readonly unordered: readonly Pointer[];
}

const ordered: CompareOptions = { unordered: [] };
type Place = readonly (string | number)[];

/** One field or element that is not the same on both sides. */
export interface Difference {
  readonly place: Place;
  readonly kind: "add" | "delete" | "update";
  readonly before?: Json;
  readonly after?: Json;
}

/**
 * The text that two values share exactly when they are equal: object keys sorted, elements of unordered arrays sorted,
 * numbers by value (1 and 1.0 are one number, "1" is none, -0 is 0).
 */
export function canonical(value: Json, options: CompareOptions = ordered, place: Place = []): string {
  // Places matter to unordered arrays alone; without any, none are built.
  const below = (key: string | number): Place => (options.unordered.length === 0 ? place : [...place, key]);
  if (isJsonArray(value)) {
    const elements = value.map((element, index) => canonical(element, options, below(index)));
    return `[${(isUnordered(place, options) ? elements.sort() : elements).join(",")}]`;
  }
  if (isJsonObject(value)) {
    const fields = Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonical(field(value, key) ?? null, options, below(key))}`);
    return `{${fields.join(",")}}`;
  }
  return JSON.stringify(value === 0 ? 0 : value);
}

/** Whether two values are equal in their canonical form. */
export function isEqual(a: Json, b: Json, options: CompareOptions = ordered): boolean {
  return a === b || canonical(a, options) === canonical(b, options);
}

/**
 * The live rule as far as the declared one speaks of it: fields that are not declared are not managed and left out;
 * a declared field that is not there stays absent, except that one declared as null is as declared (services drop
 * nulls); elements are taken as their declared counterparts, those of
 * unordered arrays in declared order; what has no counterpart comes whole. Equal to `declared` exactly when the rule
 * is as declared.
 */
export function project(live: Json, declared: Json, options: CompareOptions = ordered, place: Place = []): Json {
  if (isJsonObject(live) && isJsonObject(declared)) {
    const fields: [string, Json][] = [];
    for (const key of Object.keys(declared)) {
      const [value, wanted] = [field(live, key), field(declared, key) ?? null];
      if (value !== undefined) fields.push([key, project(value, wanted, options, [...place, key])]);
      else if (wanted === null) fields.push([key, null]);
    }
    return jsonObject(fields);
  }
  if (isJsonArray(live) && isJsonArray(declared)) {
    const counterparts = isUnordered(place, options) ? inDeclaredOrder(live, declared, options, place) : live;
    return counterparts.map((element, index) => {
      const counterpart = declared[index];
      return counterpart === undefined ? element : project(element, counterpart, options, [...place, index]);
    });
  }
  return live;
}

/** What is different from `before` to `after`, innermost first known place; empty exactly when they are equal. */
export function differences(
  before: Json,
  after: Json,
  options: CompareOptions = ordered,
  place: Place = [],
): Difference[] {
  if (isEqualAt(before, after, options, place)) return [];
  if (isJsonObject(before) && isJsonObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => between(field(before, key), field(after, key), options, [...place, key]));
  }
  if (isJsonArray(before) && isJsonArray(after)) {
    const counterparts = isUnordered(place, options) ? inDeclaredOrder(after, before, options, place) : after;
    const length = Math.max(before.length, counterparts.length);
    return Array.from({ length }).flatMap((_, index) =>
      between(before[index], counterparts[index], options, [...place, index]),
    );
  }
  return [{ place, kind: "update", before, after }];
}

/** A place as the engine prints it: `conditions[0].value`. */
export function pathOf(place: Place): string {
  return place.reduce<string>(joinPath, "");
}

/** Whether a difference touches what a pattern names: lies at it or below it, or above it and changes what is there. */
export function touches({ place, before, after }: Difference, pattern: Pointer): boolean {
  const wanted = segmentsOf(pattern);
  return (
    wanted.slice(0, place.length).every((segment, index) => segment === "*" || segment === String(place[index])) &&
    isChangedAt(before, after, wanted.slice(place.length))
  );
}

function isChangedAt(
  before: Json | undefined,
  after: Json | undefined,
  [segment, ...rest]: readonly string[],
): boolean {
  if (segment === undefined)
    return before === undefined || after === undefined ? before !== after : !isEqual(before, after);
  const keys = segment === "*" ? [...keysOf(before), ...keysOf(after)] : [segment];
  return keys.some((key) => isChangedAt(valueAt(before, pointerOf([key])), valueAt(after, pointerOf([key])), rest));
}

function keysOf(value: Json | undefined): string[] {
  return isJsonObject(value) || isJsonArray(value) ? Object.keys(value) : [];
}

function between(
  before: Json | undefined,
  after: Json | undefined,
  options: CompareOptions,
  place: Place,
): Difference[] {
  if (before === undefined) return after === undefined ? [] : [{ place, kind: "add", after }];
  if (after === undefined) return [{ place, kind: "delete", before }];
  return differences(before, after, options, place);
}

function isUnordered(place: Place, { unordered }: CompareOptions): boolean {
  return unordered.length > 0 && unordered.some((pattern) => isAt(place, pattern));
}

function isEqualAt(a: Json, b: Json, options: CompareOptions, place: Place): boolean {
  return a === b || canonical(a, options, place) === canonical(b, options, place);
}

/**
 * The elements of `live`, each where a declared element stands that it satisfies; the others fill the gaps in order.
 * As many as can be are matched: one that satisfies several must not be taken from the only one it is there for
 * (augmenting paths, after Kuhn).
 */
function inDeclaredOrder(
  live: readonly Json[],
  declared: readonly Json[],
  options: CompareOptions,
  place: Place,
): readonly Json[] {
  const candidates = declared.map((wanted, index) => {
    const here = [...place, index];
    const satisfies = (element: Json): boolean =>
      isEqualAt(project(element, wanted, options, here), wanted, options, here);
    return [...live.keys()].filter((at) => satisfies(live[at] ?? null));
  });
  const takenBy = new Map<number, number>();
  const settle = (index: number, tried: Set<number>): boolean => {
    for (const at of candidates[index] ?? []) {
      if (tried.has(at)) continue;
      tried.add(at);
      const other = takenBy.get(at);
      if (other !== undefined && !settle(other, tried)) continue;
      takenBy.set(at, index);
      return true;
    }
    return false;
  };
  for (const index of declared.keys()) settle(index, new Set());
  const chosen = new Map([...takenBy].map(([at, index]) => [index, live[at]]));
  const left = live.filter((_, at) => !takenBy.has(at));
  const placed = [...declared.keys()].map((index) => (chosen.has(index) ? chosen.get(index) : left.shift()));
  return [...placed.filter((element) => element !== undefined), ...left];
}
