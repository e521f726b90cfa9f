import { isJsonArray, type Json, type JsonObject } from "../../sdk/json/json.ts";
import { type Pointer, segmentsOf, valueAt } from "../../sdk/json/pointer.ts";
import type { Verdict } from "../evaluate/verdict.ts";
import { fieldIn, type Semantics } from "../language/schema.ts";
import type { PaymentField } from "../language/schema-payment.ts";
import { type Alike, cased, readValue } from "../language/values.ts";
import { PartPlane } from "./part-plane.ts";
import type { PlacedLiteralOfKind } from "./placing.ts";
import { type Found, type PlacedLiteral, type Plane, termsIn, WithoutValue } from "./plane.ts";
import { RankPlane } from "./rank-plane.ts";
import { turn } from "./region-vectors.ts";

export class FieldPlanes {
  readonly planes: readonly Plane[];
  readonly #get: (payment: JsonObject) => Json | undefined;
  readonly #type: PaymentField["type"];
  /** The value of a missing field; undefined where it then has none. */
  readonly #default: Json | undefined;
  readonly #presence: PresencePlane | undefined;
  readonly #ranks: readonly RankPlane[];
  readonly #exact: readonly Plane[];
  readonly #caseless: readonly Plane[];

  constructor(
    name: string,
    literals: readonly PlacedLiteralOfKind[],
    semantics: Semantics,
    words: number,
    undecidedIs: Verdict,
  ) {
    const { at, type, missing: own } = fieldIn(semantics, name);
    const missing = own ?? semantics.missing;
    this.#get = getterOf(at);
    this.#type = type;
    this.#default = typeof missing === "object" ? missing.value : undefined;
    const of = (kind: PlacedLiteralOfKind["kind"], ignoresCase: boolean): PlacedLiteralOfKind[] =>
      literals.filter((each) => each.kind === kind && each.ignoresCase === ignoresCase);
    const planesFor = ({ ignoresCase }: Alike): { ranks: RankPlane[]; parts: PartPlane[] } => {
      const without = (own: readonly PlacedLiteral[]): WithoutValue =>
        new WithoutValue(words, own, missing, undecidedIs);
      const ranked = of("rank", ignoresCase);
      const parts = (["startsWith", "endsWith", "contains"] as const).flatMap((operator) => {
        const own = of(operator, ignoresCase);
        return own.length === 0 ? [] : [new PartPlane(words, operator, own, { ignoresCase }, without(own))];
      });
      return {
        ranks: ranked.length === 0 ? [] : [new RankPlane(words, ranked, { ignoresCase }, without(ranked))],
        parts,
      };
    };
    const [exact, caseless] = [planesFor({ ignoresCase: false }), planesFor({ ignoresCase: true })];
    const present = of("presence", false);
    this.#presence = present.length === 0 ? undefined : new PresencePlane(words, present);
    this.#ranks = exact.ranks;
    this.#exact = [...exact.ranks, ...exact.parts];
    this.#caseless = [...caseless.ranks, ...caseless.parts];
    this.planes = [...(this.#presence === undefined ? [] : [this.#presence]), ...this.#exact, ...this.#caseless];
  }

  look(payment: JsonObject): void {
    const written = this.#get(payment) ?? null;
    this.#presence?.show(written !== null);
    if (this.#exact.length + this.#caseless.length === 0) return;
    const json = written ?? this.#default ?? null;
    if (typeof json === "number" && this.#type === "decimal" && Number.isFinite(json)) {
      for (const plane of this.#ranks) plane.lookAtNumber(json);
      return;
    }
    const found: Found =
      json === null
        ? "missing"
        : typeof json === "string" && this.#type === "text"
          ? { type: "text", text: json }
          : (readValue(json, this.#type) ?? "odd");
    const text = typeof json === "string" ? json : "";
    for (const plane of this.#exact) plane.look(found, text);
    if (this.#caseless.length === 0) return;
    const lower = cased(text, { ignoresCase: true });
    for (const plane of this.#caseless) plane.look(found, lower);
  }
}

/** Whether a payment has a field at all. */
class PresencePlane implements Plane {
  readonly terms: number;
  certain: Int32Array;
  certainAt = 0;
  possible: Int32Array;
  possibleAt = 0;
  readonly #words: number;

  constructor(words: number, literals: readonly PlacedLiteral[]) {
    this.terms = termsIn(literals);
    this.#words = words;
    const vectors = new Int32Array(2 * words).fill(-1);
    const cleared = new Set<number>();
    for (const { term, comparison, isFlipped } of literals) {
      const isOfPresent = (comparison.operator === "exists") !== (comparison.isNegated !== isFlipped);
      const bit = (isOfPresent ? 0 : words * 32) + term;
      if (!cleared.has(bit)) turn(vectors, 0, bit);
      cleared.add(bit);
    }
    this.certain = vectors;
    this.possible = vectors;
  }

  look(found: Found): void {
    this.show(found !== "missing");
  }

  /** Points to the vectors for a payment that has the field, or that lacks it. */
  show(isPresent: boolean): void {
    this.certainAt = isPresent ? this.#words : 0;
    this.possibleAt = this.certainAt;
  }
}

/** Returns a function that gives the value at a pointer of an object, as `valueAt` does. It is made once for many objects. */
export function getterOf(pointer: Pointer): (object: JsonObject) => Json | undefined {
  const segments = segmentsOf(pointer);
  const [first = "", second = ""] = segments;
  // A name that every object inherits needs the look whether it is its own.
  if (segments.length === 0 || segments.length > 2 || segments.some((name) => name in Object.prototype))
    return (object) => valueAt(object, pointer);
  if (segments.length === 1) return (object) => object[first];
  const rest = pointer.slice(pointer.indexOf("/", 1));
  return (object) => {
    const inside = object[first];
    if (typeof inside !== "object" || inside === null) return undefined;
    return isJsonArray(inside) ? valueAt(inside, rest) : (inside as JsonObject)[second];
  };
}
