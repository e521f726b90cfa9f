import { type CompareOptions, isEqualAt, type Spot, spotAt, textOf } from "./canonical.ts";
import { field, isJsonArray, isJsonObject, type Json, type JsonObject } from "./json.ts";
import { isMask } from "./mask.ts";
import { matching } from "./matching.ts";
import { isAt, type Pointer, pointerOf, segmentsOf, valueAt } from "./pointer.ts";
import type { Path } from "./walk.ts";

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
 * Returns the part of a live rule that the declared one manages. It is equal to `declared` exactly when the rule is as
 * declared, and then it is written as declared, to the letter.
 * - A field that is not declared is not managed: it is left out.
 * - A declared field that is missing stays missing; one that is declared as null is null, because services drop nulls; one
 *   that is declared as its default is that, because services drop defaults.
 * - Each element is projected onto the declared one at its index; those of unordered arrays are put into declared order
 *   first. An element without a declared one comes whole. Where each element counts once, it is there as often as declared.
 * - A value that is equal to the declared one in its normal form is the declared one.
 * - A declared value at a write-only place is taken as declared, whatever is shown there.
 */
export function project(live: Json, declared: Json, by: CompareOptions): Json {
  return projected(live, declared, spotAt(by));
}

function projected(live: Json, declared: Json, spot: Spot | undefined): Json {
  if (spot?.isWriteOnly) return declared;
  if (isJsonObject(live) && isJsonObject(declared)) {
    const fields: [string, Json][] = [];
    for (const key of Object.keys(declared)) {
      const [value, wanted, below] = [field(live, key), field(declared, key) ?? null, spot?.below(key)];
      if (value !== undefined) fields.push([key, projected(value, wanted, below)]);
      else if (wanted === null || isDefault(wanted, below) || isHidden(wanted, below)) fields.push([key, wanted]);
    }
    return Object.fromEntries(fields);
  }
  if (isJsonArray(live) && isJsonArray(declared)) {
    if (spot?.isDistinct) return projectedOnce(live, declared, spot);
    const counterparts = spot?.isUnordered ? inDeclaredOrder(live, declared, spot) : live;
    return counterparts.map((element, index) => {
      const counterpart = declared[index];
      return counterpart === undefined ? element : projected(element, counterpart, spot?.below(index));
    });
  }
  return spot !== undefined && isEqualAt(live, declared, spot) ? declared : live;
}

/** Returns an array in which each element counts once, projected onto the declared one. */
function projectedOnce(live: readonly Json[], declared: readonly Json[], spot: Spot): Json {
  const [found, wanted] = [distinct(live, spot), distinct(declared, spot)];
  const elements = [...found.values()];
  const counterparts = spot.isUnordered ? inDeclaredOrder(elements, [...wanted.values()], spot) : elements;
  const places = new Map([...wanted.keys()].map((text, index) => [text, index]));
  const asOften = declared.flatMap((element, index) => {
    const below = spot.below(index);
    const counterpart = counterparts[places.get(textOf(element, below)) ?? -1];
    return counterpart === undefined ? [] : [projected(counterpart, element, below)];
  });
  return [...asOften, ...counterparts.slice(wanted.size)];
}

/** Returns the first element of each canonical string, by that string. */
function distinct(elements: readonly Json[], spot: Spot): Map<string, Json> {
  const found = new Map<string, Json>();
  for (const [index, element] of elements.entries()) {
    const text = textOf(element, spot.below(index));
    if (!found.has(text)) found.set(text, element);
  }
  return found;
}

/** Decides whether a value is the default of a field at a spot, so that it equals an absent field. */
function isDefault(value: Json, spot: Spot | undefined): boolean {
  return spot?.defaultText !== undefined && textOf(value, spot) === spot.defaultText;
}

/** Decides whether a service shows nothing of a value: it is write-only, or all that it holds is. */
function isHidden(value: Json, spot: Spot | undefined): boolean {
  if (spot === undefined || spot.isWriteOnly) return spot !== undefined;
  const parts = isJsonArray(value) || isJsonObject(value) ? Object.entries(value) : [];
  return parts.length > 0 && parts.every(([key, part]) => isHidden(part, spot.below(key)));
}

/** Returns a rule as a service shows it: without write-only values, and without the fields that hold nothing else. */
export function withoutWriteOnly(rule: JsonObject, by: CompareOptions): JsonObject {
  return (by.writeOnly ?? []).length === 0 ? rule : fieldsToShow(rule, spotAt(by));
}

function fieldsToShow(fields: JsonObject, spot: Spot | undefined): JsonObject {
  const shown = Object.entries(fields).filter(([name, value]) => !isHidden(value, spot?.below(name)));
  return Object.fromEntries(shown.map(([name, value]) => [name, toShow(value, spot?.below(name))]));
}

function toShow(value: Json, spot: Spot | undefined): Json {
  if (spot === undefined) return value;
  if (isJsonObject(value)) return fieldsToShow(value, spot);
  if (!isJsonArray(value)) return value;
  return value.flatMap((each, at) => (spot.below(at)?.isWriteOnly ? [] : [toShow(each, spot.below(at))]));
}

/** Decides whether two definitions differ at a write-only place, which no reading can show. */
export function differsUnseen(before: JsonObject, after: JsonObject, by: CompareOptions): boolean {
  const { writeOnly = [] } = by;
  const changes = writeOnly.length === 0 ? [] : differences(before, after, by);
  return changes.some((change) => writeOnly.some((pattern) => touches(change, pattern, by)));
}

/** Returns the names of the fields that a service must show of a rule: all but those that are null, write-only or have a default. */
export function fieldsShown(rule: JsonObject, by: CompareOptions): string[] {
  const spot = spotAt(by);
  return Object.entries(rule).flatMap(([name, value]) => {
    const below = spot?.below(name);
    return value === null || below?.defaultText !== undefined || isHidden(value, below) ? [] : [name];
  });
}

/** Returns a live rule with the declared fields in their place: objects are merged in depth, all else is as declared. */
export function laidOver(live: JsonObject, declared: JsonObject): JsonObject {
  const laid = Object.entries(declared).map(([key, value]): [string, Json] => {
    const below = field(live, key);
    return [key, isJsonObject(below) && isJsonObject(value) ? laidOver(below, value) : value];
  });
  return Object.fromEntries([...Object.entries(live), ...laid]);
}

/** Returns the fields that a rule has and `part` of it lacks, objects in depth. */
export function fieldsLackingIn(part: JsonObject, rule: JsonObject, at: Path = []): { path: Path; value: Json }[] {
  return Object.entries(rule).flatMap(([name, value]) => {
    const path = [...at, name];
    const there = field(part, name);
    if (there === undefined) return [{ path, value }];
    return isJsonObject(there) && isJsonObject(value) ? fieldsLackingIn(there, value, path) : [];
  });
}

/**
 * Returns the differences from `before` to `after`, each as deep inside as both sides go; empty exactly when they are equal.
 * The mask of a secret is one value: no difference lies inside.
 */
export function differences(before: Side, after: Side, by: CompareOptions): Difference[] {
  return differencesAt(before, after, spotAt(by), []);
}

function differencesAt(before: Side, after: Side, spot: Spot | undefined, path: Path): Difference[] {
  if (before === undefined) return after === undefined || isDefault(after, spot) ? [] : [{ path, kind: "add", after }];
  if (after === undefined) return isDefault(before, spot) ? [] : [{ path, kind: "delete", before }];
  if (isEqualAt(before, after, spot)) return [];
  if (isJsonObject(before) && isJsonObject(after) && !isMask(before) && !isMask(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) =>
      differencesAt(field(before, key), field(after, key), spot?.below(key), [...path, key]),
    );
  }
  if (isJsonArray(before) && isJsonArray(after)) {
    const counterparts = spot?.isUnordered ? inDeclaredOrder(after, before, spot) : after;
    const length = Math.max(before.length, counterparts.length);
    return Array.from({ length }).flatMap((_, index) =>
      differencesAt(before[index], counterparts[index], spot?.below(index), [...path, index]),
    );
  }
  return [{ path, kind: "update", before, after }];
}

/** Decides whether a difference changes what a pattern names: it lies there, below it, or above it with another value there. */
export function touches({ path, before, after }: Difference, pattern: Pointer, by: CompareOptions): boolean {
  const wanted = segmentsOf(pattern);
  const above = pointerOf(wanted.slice(0, path.length));
  const isOnTheWay = isAt(path.slice(0, wanted.length), above);
  return isOnTheWay && isChangedAt(before, after, wanted.slice(path.length), spotAt(by, path));
}

function isChangedAt(
  before: Side,
  after: Side,
  [segment, ...rest]: readonly string[],
  spot: Spot | undefined,
): boolean {
  if (segment === undefined) return differencesAt(before, after, spot, []).length > 0;
  const keys = segment === "*" ? [before, after].flatMap((side) => Object.keys(Object(side))) : [segment];
  return keys.some((key) => {
    const pointer = pointerOf([key]);
    return isChangedAt(valueAt(before, pointer), valueAt(after, pointer), rest, spot?.below(key));
  });
}

/**
 * Returns the live elements, each at the index of a declared element that it satisfies; the others fill the gaps in order.
 * As many as possible are matched: one that satisfies several declared elements goes where no other can.
 */
function inDeclaredOrder(live: readonly Json[], declared: readonly Json[], spot: Spot): readonly Json[] {
  const similarTo = bySimilarity(live, spot);
  // Where a pattern names elements by their number, equal elements may have different candidates.
  const isNumbered = spot.namesElements();
  const known = new Map<string, readonly number[]>();
  const candidates = declared.map((wanted, index) => {
    const here = spot.below(index);
    const text = textOf(wanted, here);
    const key = isNumbered ? `${index} ${text}` : text;
    const satisfies = (at: number): boolean => textOf(projected(live[at] ?? null, wanted, here), here) === text;
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
 * Indexes elements, so that not each is compared with each. Returns a function that gives the places of the elements with all
 * marks of a wanted one. All that satisfy it are among them: projection takes fields away, and adds only nulls and defaults.
 */
function bySimilarity(elements: readonly Json[], spot: Spot): (wanted: Json) => readonly number[] {
  const all = [...elements.keys()];
  // There an element has other marks at another place.
  if (spot.namesElements({ inForms: true })) return () => all;
  const marks = elements.map((element) => marksOf(element, spot.below(0)));
  const marked = new Map<string, number[]>();
  for (const mark of new Set(marks.flatMap((each) => [...each]))) marked.set(mark, []);
  for (const at of all) for (const mark of marks[at] ?? []) marked.get(mark)?.push(at);
  return (wanted) => {
    const needed = [...marksOf(wanted, spot.below(0))];
    const fewest = needed.reduce<readonly number[]>((few, mark) => {
      const others = marked.get(mark) ?? [];
      return others.length < few.length ? others : few;
    }, all);
    return fewest.filter((at) => needed.every((mark) => marks[at]?.has(mark)));
  };
}

/** Returns the strings, numbers and booleans in an element, each with the names that lead there: indices may change. Defaults and write-only values are left out. */
function marksOf(element: Json, spot: Spot | undefined): ReadonlySet<string> {
  const marks = new Set<string>();
  const note = (value: Json, here: Spot | undefined, names: string): void => {
    if (here?.isWriteOnly || isDefault(value, here)) return;
    if (isJsonArray(value)) for (const each of value) note(each, here?.below(0), `${names}/*`);
    else if (isJsonObject(value))
      for (const [name, each] of Object.entries(value)) note(each, here?.below(name), `${names}/${name}`);
    else if (value !== null) marks.add(`${textOf(value, here)} ${names}`);
  };
  note(element, spot, "");
  return marks;
}
