import { isExactNumber } from "./exact-number.ts";
import { field, isJsonArray, isJsonObject, type Json, type JsonObject } from "./json.ts";
import { isEmpty, type NormalForm, type ValueForm, valueFormsOf, valueText } from "./normal-form.ts";
import { type Pointer, segmentsOf, valueAt } from "./pointer.ts";
import type { Path } from "./walk.ts";

/** What makes rules equal that are written differently. The contract's `rule` is one. */
export interface CompareOptions {
  /** Arrays whose order means nothing; contract `rule.unordered`. */
  readonly unordered: readonly Pointer[];
  /** The forms in which the service stores values; contract `rule.forms`. */
  readonly forms: readonly NormalForm[];
  /** Places of which a service does not show what it was sent; contract `rule.writeOnly`. Default: none. */
  readonly writeOnly?: readonly Pointer[];
}

/** Compares JSON as it is written: for values that are no part of a rule, or where no contract is known. */
export const asWritten: CompareOptions = { unordered: [], forms: [] };

/**
 * Returns the string that two values share exactly when they are equal: object keys sorted, elements of unordered arrays
 * sorted, numbers by value (1 and 1.0 are one number, "1" is none, -0 is 0), and what has a normal form in that form.
 * @param path where the value stands in its rule
 */
export function canonical(value: Json, by: CompareOptions, path: Path = []): string {
  return textOf(value, spotAt(by, path));
}

/** Returns the canonical string of the value at `pointer` in a rule; undefined where that is absent or null. */
export function canonicalAt(rule: Json | undefined, pointer: Pointer, by: CompareOptions): string | undefined {
  const value = valueAt(rule, pointer);
  return value === undefined || value === null ? undefined : canonical(value, by, segmentsOf(pointer));
}

/** Decides whether two values have one canonical form. `path`: where both stand in their rule. */
export function isEqual(a: Json, b: Json, by: CompareOptions, path: Path = []): boolean {
  return isEqualAt(a, b, spotAt(by, path));
}

/** Decides whether two values have one canonical string. Of objects, and of arrays whose order counts, it makes no string. */
export function isEqualAt(a: Json, b: Json, spot: Spot | undefined): boolean {
  if (a === b) return true;
  if (isExactNumber(a) || isExactNumber(b)) return textOf(a, spot) === textOf(b, spot);
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

/** Returns the canonical string of a value at a spot; see {@link canonical}. */
export function textOf(value: Json, spot: Spot | undefined): string {
  if (spot?.isNullEmpty && isEmpty(value)) return "null";
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
  return valueText(value, spot?.forms ?? []);
}

/** A place in a rule at which, or below which, values that are written differently can be equal, or one is not shown. */
export class Spot {
  readonly isWriteOnly: boolean;
  readonly isUnordered: boolean;
  readonly isDistinct: boolean;
  /** What is empty and null are one value. */
  readonly isNullEmpty: boolean;
  readonly forms: readonly ValueForm[];
  /** The canonical string of the default of a field; undefined for none. */
  readonly defaultText: string | undefined;
  readonly #further: readonly Saying[];
  readonly #names: ReadonlySet<string>;
  /** By the names that patterns have, and `*` for all others. */
  readonly #below = new Map<string, Spot | undefined>();

  constructor(sayings: readonly Saying[]) {
    const here = sayings.filter(({ rest }) => rest.length === 0);
    this.#further = sayings.filter(({ rest }) => rest.length > 0);
    this.#names = new Set(this.#further.map(({ rest: [name = ""] }) => name));
    this.isWriteOnly = here.some(({ says }) => says === "write-only");
    this.isUnordered = here.some(({ says }) => says === "unordered");
    const said = here.flatMap(({ says }) => (typeof says === "string" ? [] : [says]));
    const forms = said.flatMap(({ is }) => is ?? []);
    this.isDistinct = forms.includes("distinct");
    this.isNullEmpty = forms.includes("empty");
    this.forms = valueFormsOf(forms);
    const fallback = said.find((form) => form.default !== undefined)?.default;
    this.defaultText = fallback === undefined ? undefined : textOf(fallback, this);
  }

  /** Returns the spot of a field or an element; undefined where no pattern is about it or anything below. */
  below(key: string | number): Spot | undefined {
    if (this.#further.length === 0) return undefined;
    const name = String(key);
    const known = this.#names.has(name) ? name : "*";
    if (!this.#below.has(known)) {
      const sayings = this.#further.flatMap(({ rest: [first, ...rest], says }) =>
        first === known || first === "*" ? [{ rest, says }] : [],
      );
      this.#below.set(known, sayings.length === 0 ? undefined : new Spot(sayings));
    }
    return this.#below.get(known);
  }

  /** Decides whether a pattern below names an element by its index; `inForms`: a pattern of anything else than an order, at any depth. */
  namesElements({ inForms = false } = {}): boolean {
    return this.#further.some(({ rest, says }) =>
      inForms ? says !== "unordered" && rest.some(isNumber) : isNumber(rest[0]),
    );
  }
}

function isNumber(segment: string | undefined): boolean {
  return segment !== undefined && /^\d/.test(segment);
}

/** A pattern as seen from a spot: the segments that are left, and what it says of the place. */
interface Saying {
  readonly rest: readonly string[];
  readonly says: NormalForm | "unordered" | "write-only";
}

const roots = new WeakMap<CompareOptions, Spot>();

/** Returns the spot of a path; undefined where only values that are written the same are equal. */
export function spotAt(by: CompareOptions, path: Path = []): Spot | undefined {
  const { unordered, forms, writeOnly = [] } = by;
  if (unordered.length === 0 && forms.length === 0 && writeOnly.length === 0) return undefined;
  let root = roots.get(by);
  if (root === undefined) {
    root = new Spot([
      ...unordered.map((pattern): Saying => ({ rest: segmentsOf(pattern), says: "unordered" })),
      ...writeOnly.map((pattern): Saying => ({ rest: segmentsOf(pattern), says: "write-only" })),
      ...forms.map((form) => ({ rest: segmentsOf(form.at), says: form })),
    ]);
    roots.set(by, root);
  }
  return path.reduce<Spot | undefined>((spot, key) => spot?.below(key), root);
}
