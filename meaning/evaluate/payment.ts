import { z } from "zod";
import { type DescribedFile, readDescribed } from "../../sdk/files/described-file.ts";
import { getOrMake } from "../../sdk/get-or-make.ts";
import type { Json, JsonObject } from "../../sdk/json/json.ts";
import { valueAt } from "../../sdk/json/pointer.ts";
import { fieldIn, type Semantics } from "../language/schema.ts";
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
    return getOrMake(this.#read, name, () => this.#fieldOf(name));
  }

  /** Returns whether the payment itself has the field, of whatever type. null is missing. */
  has(name: string): boolean {
    return (valueAt(this.#json, fieldIn(this.#semantics, name).at) ?? null) !== null;
  }

  /** Returns the outcome that the payment really had; undefined where the semantics do not say. */
  actual(): string | undefined {
    const { actual } = this.#semantics.payment;
    const word = actual === null ? undefined : valueAt(this.#json, actual.at);
    if (actual === null || typeof word === "object" || word === undefined) return undefined;
    return Object.hasOwn(actual.words, String(word)) ? actual.words[String(word)] : undefined;
  }

  #fieldOf(name: string): FieldReading {
    const { at, type, list, missing } = fieldIn(this.#semantics, name);
    const so = missing ?? this.#semantics.missing;
    const written = valueAt(this.#json, at) ?? null;
    if (written === null && typeof so === "string") return { kind: "missing", so };
    const found = written === null && typeof so === "object" ? so.value : written;
    const one = list ? undefined : readValue(found, type);
    const values = list ? readValues(found, type) : one && [one];
    if (values === undefined) return { kind: "odd", found, type: `${list ? "list of " : ""}${type}` };
    return { kind: "values", values, found };
  }
}

/**
 * Parses one payment: a string that is a JSON object, or YAML that gives one.
 * @throws MerchantRulesError PAYMENTS_INVALID, with line and column
 */
export function parsePayment(text: string, file: string): JsonObject {
  return readDescribed(text, file, kind);
}

const kind: DescribedFile<JsonObject> = {
  schema: z.record(z.string(), z.json()),
  name: "the payment",
  code: "PAYMENTS_INVALID",
  advice: "give one payment, as a JSON object",
  verdict: "cannot be read",
  hasColumns: true,
  inconsistencies: () => [],
};
