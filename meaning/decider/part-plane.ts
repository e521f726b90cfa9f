import { type Alike, cased } from "../language/values.ts";
import { Affixes, Needles } from "./needles.ts";
import { type Found, type PlacedLiteral, type Plane, termsIn, type WithoutValue } from "./plane.ts";
import { turn } from "./region-vectors.ts";

export type PartOperator = "startsWith" | "endsWith" | "contains";

/**
 * Comparisons with a part of a text, by one operator. A text contains few of the parts, so its vector is that of a text without any part,
 * with the bits of its own parts turned. Therefore a vector has at most one literal of each term.
 */
export class PartPlane implements Plane {
  certain: Int32Array;
  certainAt = 0;
  possible: Int32Array;
  possibleAt = 0;
  readonly terms: number;
  readonly #words: number;
  readonly #without: WithoutValue;
  readonly #finder: Affixes | Needles;
  /** The vectors of a text without any part, certain and possible; then the two of the last text. */
  readonly #vectors: Int32Array;
  /** The terms of each part in each of the two vectors. */
  readonly #certainOf: readonly (readonly number[])[];
  readonly #possibleOf: readonly (readonly number[])[];
  /** The number of the look in which a part was last found. */
  readonly #seen: Uint32Array;
  #looks = 0;
  #hasAny = false;

  constructor(
    words: number,
    operator: PartOperator,
    literals: readonly PlacedLiteral[],
    alike: Alike,
    without: WithoutValue,
  ) {
    this.#words = words;
    this.terms = termsIn(literals);
    this.#without = without;
    this.#vectors = new Int32Array(4 * words).fill(-1);
    this.certain = this.#vectors;
    this.possible = this.#vectors;
    const numbers = new Map<string, number>();
    const certainOf: number[][] = [];
    const possibleOf: number[][] = [];
    for (const { term, comparison, isFlipped, counts } of literals) {
      const { operand } = comparison;
      if (operand.kind !== "value" || operand.value.type !== "text") throw new TypeError(`${operator} needs a text`);
      const part = cased(operand.value.text, alike);
      const number = numbers.get(part) ?? numbers.size;
      if (!numbers.has(part)) {
        numbers.set(part, number);
        certainOf.push([]);
        possibleOf.push([]);
      }
      for (const [row, name, termsOf] of [
        [0, "certain", certainOf],
        [1, "possible", possibleOf],
      ] as const) {
        if (counts !== "both" && counts !== name) continue;
        termsOf[number]?.push(term);
        if (comparison.isNegated === isFlipped) turn(this.#vectors, row * words, term);
      }
    }
    const parts = [...numbers.keys()];
    this.#certainOf = certainOf;
    this.#possibleOf = possibleOf;
    this.#seen = new Uint32Array(parts.length);
    this.#finder = operator === "contains" ? new Needles(parts) : new Affixes(parts, operator === "endsWith");
  }

  look(found: Found, text: string): void {
    if (typeof found === "string") {
      this.#without.look(this, found);
      return;
    }
    this.#looks = (this.#looks + 1) >>> 0;
    // After 2^32 looks the numbers begin again.
    if (this.#looks === 0) {
      this.#seen.fill(0);
      this.#looks = 1;
    }
    this.#hasAny = false;
    this.#finder.find(text, this.#found);
    const row = this.#hasAny ? 2 : 0;
    this.certain = this.#vectors;
    this.possible = this.#vectors;
    this.certainAt = row * this.#words;
    this.possibleAt = (row + 1) * this.#words;
  }

  readonly #found = (part: number): void => {
    if (this.#seen[part] === this.#looks) return;
    this.#seen[part] = this.#looks;
    const words = this.#words;
    if (!this.#hasAny) this.#vectors.copyWithin(2 * words, 0, 2 * words);
    this.#hasAny = true;
    for (const term of this.#certainOf[part] ?? []) turn(this.#vectors, 2 * words, term);
    for (const term of this.#possibleOf[part] ?? []) turn(this.#vectors, 3 * words, term);
  };
}
