import type { Json, JsonObject } from "../../sdk/json/json.ts";
import { valueAt } from "../../sdk/json/pointer.ts";
import type { Semantics } from "../language/schema.ts";
import type { Missing } from "../language/schema-payment.ts";
import { readValue, readValues, type Value } from "../language/values.ts";

/** A field of a payment. */
export type FieldReading =
  /** Its values: of a field that is no list, one. */
  | { readonly kind: "values"; readonly values: readonly Value[]; readonly found: Json }
  /** It is not there, or null; and what follows. */
  | { readonly kind: "missing"; readonly so: "unknown" | "comparisonFalse" }
  /** It has another type than the semantics say. */
  | { readonly kind: "odd"; readonly found: Json; readonly type: string };

/** The fields of one payment, each read on first use. */
export class Payment {
  readonly #json: JsonObject;
  readonly #semantics: Semantics;
  readonly #read = new Map<string, FieldReading>();

  constructor(json: JsonObject, semantics: Semantics) {
    this.#json = json;
    this.#semantics = semantics;
  }

  field(name: string): FieldReading {
    const known = this.#read.get(name);
    if (known !== undefined) return known;
    const read = this.#fieldOf(name);
    this.#read.set(name, read);
    return read;
  }

  /** Returns whether the payment itself has the field, of whatever type. null is missing. */
  has(name: string): boolean {
    return this.#written(name) !== null;
  }

  /** Returns the outcome that the payment really had; undefined where the semantics do not say. */
  actual(): string | undefined {
    const { actual } = this.#semantics.payment;
    const word = actual === null ? undefined : valueAt(this.#json, actual.at);
    if (actual === null || typeof word === "object" || word === undefined) return undefined;
    return Object.hasOwn(actual.words, String(word)) ? actual.words[String(word)] : undefined;
  }

  #written(name: string): Json {
    return valueAt(this.#json, this.#described(name).at) ?? null;
  }

  #described(name: string): Semantics["payment"]["fields"][string] {
    const described = this.#semantics.payment.fields[name];
    if (described === undefined) throw new TypeError(`the semantics have no field ${name}`);
    return described;
  }

  #fieldOf(name: string): FieldReading {
    const { type, list, missing } = this.#described(name);
    const written = this.#written(name);
    const so: Missing = missing ?? this.#semantics.missing;
    if (written === null && typeof so === "string") return { kind: "missing", so };
    const found = written === null && typeof so === "object" ? so.value : written;
    const one = list ? undefined : readValue(found, type);
    const values = list ? readValues(found, type) : one && [one];
    if (values === undefined) return { kind: "odd", found, type: `${list ? "list of " : ""}${type}` };
    return { kind: "values", values, found };
  }
}
