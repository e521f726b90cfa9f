import { anything, isPossible, no, not, type Verdict, verdictOfMissing, yes } from "../evaluate/verdict.ts";
import type { Comparison } from "../language/normal-form.ts";
import type { Missing } from "../language/schema-payment.ts";
import type { Value } from "../language/values.ts";
import { turn } from "./region-vectors.ts";

/** A comparison of one field as a bit of a vector has it. */
export interface PlacedLiteral {
  /** The number of its term, which is its bit. */
  readonly term: number;
  readonly comparison: Comparison;
  readonly isFlipped: boolean;
  /** The vector in which it counts: of what surely holds, of what possibly does, or both. */
  readonly counts: "certain" | "possible" | "both";
  /** True of a bound of a rule's force: without an instant nothing is known of it. */
  readonly isForce?: boolean;
}

/** The value of a field of a payment, or why there is none. */
export type Found = Value | "missing" | "odd";

/**
 * Some comparisons of one field, looked up together. After {@link Plane.look} the vectors have a bit set for each term of which the
 * literals in this plane hold, and for each term without any.
 */
export interface Plane {
  certain: Int32Array;
  certainAt: number;
  possible: Int32Array;
  possibleAt: number;
  /** How many terms it can rule out. */
  readonly terms: number;
  look(found: Found, text: string): void;
}

/** The vectors of a plane where a payment has no value to compare. */
export class WithoutValue {
  readonly #vectors: Int32Array;
  readonly #words: number;

  constructor(words: number, literals: readonly PlacedLiteral[], missing: Missing, undecidedIs: Verdict) {
    this.#words = words;
    const vectors = new Int32Array(4 * words).fill(-1);
    this.#vectors = vectors;
    const clear = (row: number, term: number): void => {
      const [at, bit] = [row * words + (term >>> 5), 1 << (term & 31)];
      if (((vectors[at] ?? 0) & bit) !== 0) turn(vectors, row * words, term);
    };
    for (const { term, isFlipped, counts, isForce = false } of literals) {
      const ofMissing = isForce ? yes | no : verdictOfMissing(missing);
      for (const [row, verdict] of [ofMissing, anything].entries()) {
        const seen = isFlipped ? not(verdict) : verdict;
        if (counts !== "possible" && seen !== yes) clear(2 * row, term);
        if (counts !== "certain" && !isPossible(seen, undecidedIs)) clear(2 * row + 1, term);
      }
    }
  }

  look(plane: Plane, why: "missing" | "odd"): void {
    const row = why === "missing" ? 0 : 2;
    plane.certain = this.#vectors;
    plane.possible = this.#vectors;
    plane.certainAt = row * this.#words;
    plane.possibleAt = (row + 1) * this.#words;
  }
}

export function termsIn(literals: readonly PlacedLiteral[]): number {
  return new Set(literals.map(({ term }) => term)).size;
}
