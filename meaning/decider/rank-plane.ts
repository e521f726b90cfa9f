import { decimalOf } from "../../sdk/json/normal-form.ts";
import { type Operand, valuesIn } from "../language/normal-form.ts";
import { isEquality } from "../language/schema-words.ts";
import { type Alike, addressesOf, cased, compareValues, type Value } from "../language/values.ts";
import { type Found, type PlacedLiteral, type Plane, termsIn, type WithoutValue } from "./plane.ts";
import { RegionVectors } from "./region-vectors.ts";
import { Borders, inBoth, outside, type Ranges, regionsWhere } from "./regions.ts";

/** Comparisons by equality and by order. The values that they name are {@link Borders}. */
export class RankPlane implements Plane {
  certain: Int32Array;
  certainAt = 0;
  possible: Int32Array;
  possibleAt = 0;
  readonly terms: number;
  readonly #borders: Borders;
  readonly #certain: RegionVectors;
  readonly #possible: RegionVectors;
  readonly #without: WithoutValue;
  /** The regions of texts that are named. */
  readonly #named = new Map<string, number>();
  readonly #isOrdered: boolean;
  readonly #numbers: Numbers;

  constructor(words: number, literals: readonly PlacedLiteral[], alike: Alike, without: WithoutValue) {
    this.terms = termsIn(literals);
    this.#without = without;
    this.#borders = new Borders(
      literals.flatMap(({ comparison }) => bordersOf(comparison.operand)),
      (one, other) => compareValues(one, other, alike),
    );
    const { values, regions } = this.#borders;
    for (const [index, border] of values.entries())
      if (border.type === "text") this.#named.set(cased(border.text, alike), 2 * index + 1);
    this.#isOrdered = literals.some(({ comparison }) => !isEquality(comparison.operator));
    this.#numbers = new Numbers(values);
    const at = (value: Value): [number, number] => {
      const region = this.#borders.regionOf(value);
      return [region, region];
    };
    const [certain, possible] = [new Map<number, Ranges>(), new Map<number, Ranges>()];
    for (const { term, comparison, isFlipped, counts } of literals) {
      const ranges = regionsWhere(comparison, regions - 1, at);
      const isOpposite = comparison.isNegated !== isFlipped;
      const holds = isOpposite ? outside(ranges, regions) : ranges;
      for (const [bits, name] of [
        [certain, "certain"],
        [possible, "possible"],
      ] as const) {
        if (counts !== "both" && counts !== name) continue;
        const known = bits.get(term);
        bits.set(term, known === undefined ? holds : inBoth(known, holds));
      }
    }
    this.#certain = new RegionVectors(words, regions, certain);
    this.#possible = literals.every(({ counts }) => counts === "both")
      ? this.#certain
      : new RegionVectors(words, regions, possible);
    this.certain = this.#certain.vectors;
    this.possible = this.#possible.vectors;
  }

  look(found: Found, text: string): void {
    if (typeof found === "string") this.#without.look(this, found);
    else this.#show(found.type === "text" ? this.#regionOfText(text) : this.#borders.regionOf(found));
  }

  /** Looks up a number as {@link look} does, without making it a decimal first. */
  lookAtNumber(number: number): void {
    this.#show(this.#numbers.region(number, this.#byDigits));
  }

  #show(region: number): void {
    this.certain = this.#certain.vectors;
    this.possible = this.#possible.vectors;
    this.certainAt = this.#certain.at(region);
    this.possibleAt = this.#possible === this.#certain ? this.certainAt : this.#possible.at(region);
  }

  #regionOfText(text: string): number {
    const named = this.#named.get(text);
    if (named !== undefined) return named;
    return this.#isOrdered ? this.#borders.regionOf({ type: "text", text }) : 0;
  }

  readonly #byDigits = (number: number): number => {
    const decimal = decimalOf(number);
    if (decimal === undefined) throw new TypeError(`${number} is no decimal`);
    return this.#borders.regionOf({ type: "decimal", decimal });
  };
}

/** Returns the values at which the result of a comparison with an operand may change. */
function bordersOf(operand: Operand): readonly Value[] {
  return operand.kind === "networks" ? operand.networks.flatMap(addressesOf) : valuesIn(operand);
}

/**
 * Decimals among floating-point numbers. A number stands for its shortest decimal, and that and a border which are rounded to different
 * numbers are in the order of these. So only a number to which a border is rounded has to be compared by its digits.
 */
class Numbers {
  /** The numbers to which borders are rounded, in order. */
  readonly #rounded: Float64Array;
  /** The region between each of them and the one before. */
  readonly #below: Int32Array;
  /** The region of each of them; -1 where it has not been asked for. */
  readonly #own: Int32Array;

  constructor(borders: readonly Value[]) {
    const rounded: number[] = [];
    const below: number[] = [];
    for (const [index, border] of borders.entries()) {
      const number = border.type === "decimal" ? numberOf(border.decimal) : 0;
      if (number === rounded.at(-1)) continue;
      rounded.push(number);
      below.push(2 * index);
    }
    this.#rounded = Float64Array.from(rounded);
    this.#below = Int32Array.from([...below, 2 * borders.length]);
    this.#own = new Int32Array(rounded.length).fill(-1);
  }

  /** Returns the region of a number. @param byDigits returns the region of a number by its exact digits */
  region(number: number, byDigits: (number: number) => number): number {
    let [low, high] = [0, this.#rounded.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const border = this.#rounded[middle] ?? 0;
      if (border === number) return this.#ownRegion(middle, number, byDigits);
      if (number < border) high = middle;
      else low = middle + 1;
    }
    return this.#below[low] ?? 0;
  }

  #ownRegion(index: number, number: number, byDigits: (number: number) => number): number {
    if (this.#own[index] === -1) this.#own[index] = byDigits(number);
    return this.#own[index] ?? 0;
  }
}

function numberOf({ sign, digits, exponent }: { sign: string; digits: string; exponent: number }): number {
  return Number(`${sign}${digits}e${exponent}`);
}
