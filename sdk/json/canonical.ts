import { field, isJsonArray, isJsonObject, type Json, type JsonObject } from "./json.ts";
import { type NormalForm, type ValueForm, valueFormsOf, valueText } from "./normal-form.ts";
import { type Pointer, segmentsOf, valueAt } from "./pointer.ts";
import type { Path } from "./walk.ts";

/** What makes two rules equal that are written otherwise. The contract's `rule` is one. */
export interface CompareOptions {
  /** Arrays whose order means nothing; contract `rule.unordered`. */
  readonly unordered: readonly Pointer[];
  /** The forms in which the service stores values; contract `rule.forms`. */
  readonly forms: readonly NormalForm[];
}

/** Compares JSON as it is written: for values that are no part of a rule, or where no contract is known. */
export const asWritten: CompareOptions = { unordered: [], forms: [] };

/**
 * The text that two values share exactly when they are equal: object keys sorted, elements of unordered arrays sorted,
 * numbers by value (1 and 1.0 are one number, "1" is none, -0 is 0), and what has a normal form in that form.
 * @param path where the value stands in its rule
 */
export function canonical(value: Json, by: CompareOptions, path: Path = []): string {
  return textOf(value, spotAt(by, path));
}

/** The canonical text of what a pointer names in a rule; undefined where that is nothing or null. */
export function canonicalAt(rule: Json | undefined, pointer: Pointer, by: CompareOptions): string | undefined {
  const value = valueAt(rule, pointer);
  return value === undefined || value === null ? undefined : canonical(value, by, segmentsOf(pointer));
}

/** True where two values are equal in their canonical form. */
export function isEqual(a: Json, b: Json, by: CompareOptions, path: Path = []): boolean {
  return isEqualAt(a, b, spotAt(by, path));
}

/** The same as equal canonical texts, of which it makes none where both sides are objects, or arrays whose order counts. */
export function isEqualAt(a: Json, b: Json, spot: Spot | undefined): boolean {
  if (a === b) return true;
  if (isJsonObject(a) && isJsonObject(b)) return areEqualObjects(a, b, spot);
  if (isJsonArray(a) && isJsonArray(b) && spot?.isUnordered !== true && spot?.isDistinct !== true)
    return (
      a.length === b.length && a.every((element, index) => isEqualAt(element, b[index] ?? null, spot?.below(index)))
    );
  return spot !== undefined && textOf(a, spot) === textOf(b, spot);
}

function areEqualObjects(a: JsonObject, b: JsonObject, spot: Spot | undefined): boolean {
  const names = Object.keys(a);
  if (spot === undefined && names.length !== Object.keys(b).length) return false;
  const isSame = (name: string): boolean => {
    const [one, other, below] = [field(a, name), field(b, name), spot?.below(name)];
    if (one !== undefined && other !== undefined) return isEqualAt(one, other, below);
    const given = one ?? other;
    return given !== undefined && below?.defaultText !== undefined && textOf(given, below) === below.defaultText;
  };
  return (
    names.every(isSame) &&
    (spot === undefined || Object.keys(b).every((name) => Object.hasOwn(a, name) || isSame(name)))
  );
}

/** The canonical text of a value at a spot. */
export function textOf(value: Json, spot: Spot | undefined): string {
  if (isJsonArray(value)) {
    const texts = value.map((element, index) => textOf(element, spot?.below(index)));
    const elements = spot?.isDistinct ? [...new Set(texts)] : texts;
    return `[${(spot?.isUnordered ? elements.sort() : elements).join(",")}]`;
  }
  if (isJsonObject(value)) {
    const fields: string[] = [];
    for (const key of Object.keys(value).sort()) {
      const below = spot?.below(key);
      const text = textOf(field(value, key) ?? null, below);
      if (text !== below?.defaultText) fields.push(`${JSON.stringify(key)}:${text}`);
    }
    return `{${fields.join(",")}}`;
  }
  if (spot !== undefined) return valueText(value, spot.forms);
  return JSON.stringify(value === 0 ? 0 : value);
}

/** A place in a rule at which, or below which, something makes values equal that are written otherwise. */
export class Spot {
  readonly isUnordered: boolean;
  readonly isDistinct: boolean;
  readonly forms: readonly ValueForm[];
  /** The canonical text of the value that a field has here when it is not there. */
  readonly defaultText: string | undefined;
  readonly #further: readonly Saying[];
  readonly #names: ReadonlySet<string>;
  /** By the names that patterns have, and `*` for all others. */
  readonly #below = new Map<string, Spot | undefined>();

  constructor(sayings: readonly Saying[]) {
    const here = sayings.filter(({ rest }) => rest.length === 0);
    this.#further = sayings.filter(({ rest }) => rest.length > 0);
    this.#names = new Set(this.#further.map(({ rest: [name = ""] }) => name));
    this.isUnordered = here.some(({ form }) => form === undefined);
    const forms = here.flatMap(({ form }) => form?.is ?? []);
    this.isDistinct = forms.includes("distinct");
    this.forms = valueFormsOf(forms);
    const fallback = here.find(({ form }) => form?.default !== undefined)?.form?.default;
    this.defaultText = fallback === undefined ? undefined : textOf(fallback, this);
  }

  /** The spot of a field or an element; undefined where nothing is said of it, nor of anything below. */
  below(key: string | number): Spot | undefined {
    if (this.#further.length === 0) return undefined;
    const name = String(key);
    const known = this.#names.has(name) ? name : "*";
    if (!this.#below.has(known)) this.#below.set(known, spotOf(this.#sayingsBelow(known)));
    return this.#below.get(known);
  }

  #sayingsBelow(name: string): Saying[] {
    return this.#further.flatMap(({ rest: [first, ...rest], form }) =>
      first === name || first === "*" ? [{ rest, form }] : [],
    );
  }

  /** True where a pattern below names an element by its number; `inForms`: one of a normal form, at any depth. */
  namesElements({ inForms = false } = {}): boolean {
    return this.#further.some(({ rest, form }) =>
      inForms ? form !== undefined && rest.some(isNumber) : isNumber(rest[0]),
    );
  }
}

function isNumber(segment: string | undefined): boolean {
  return segment !== undefined && /^\d/.test(segment);
}

/** A pattern as seen from a spot: what leads on to what it names, and the form of that; undefined: it is unordered. */
interface Saying {
  readonly rest: readonly string[];
  readonly form: NormalForm | undefined;
}

function spotOf(sayings: readonly Saying[]): Spot | undefined {
  return sayings.length === 0 ? undefined : new Spot(sayings);
}

const roots = new WeakMap<CompareOptions, Spot>();

/** The spot of a path; undefined where nothing there is equal but what is written the same. */
export function spotAt(by: CompareOptions, path: Path = []): Spot | undefined {
  if (by.unordered.length === 0 && by.forms.length === 0) return undefined;
  let root = roots.get(by);
  if (root === undefined) {
    root = new Spot([
      ...by.unordered.map((pattern) => ({ rest: segmentsOf(pattern), form: undefined })),
      ...by.forms.map((form) => ({ rest: segmentsOf(form.at), form })),
    ]);
    roots.set(by, root);
  }
  return path.reduce<Spot | undefined>((spot, key) => spot?.below(key), root);
}
