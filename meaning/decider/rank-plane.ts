import { decimalOf } from "../../sdk/json/normal-form.ts";
import type { Comparison, Operand } from "../language/normal-form.ts";
import { type Alike, cased, compareValues, type Value } from "../language/values.ts";
import { type Found, type PlacedLiteral, type Plane, termsIn, type WithoutValue } from "./plane.ts";
import { inBoth, merged, outside, type Ranges, RegionVectors } from "./regions.ts";

/**
 * Comparisons by equality and by order. The values that they name are sorted; each is a region of its own, and so is what lies
 * between two of them. In one region all comparisons have one answer.
 */
export class RankPlane implements Plane {
  certain: Int32Array;
  certainAt = 0;
  possible: Int32Array;
  possibleAt = 0;
  readonly terms: number;
  readonly #alike: Alike;
  readonly #borders: readonly Value[];
  readonly #certain: RegionVectors;
  readonly #possible: RegionVectors;
  readonly #without: WithoutValue;
  /** The regions of texts that are named. */
  readonly #named = new Map<string, number>();
  readonly #isOrdered: boolean;
  readonly #numbers: Numbers;

  constructor(words: number, literals: readonly PlacedLiteral[], alike: Alike, without: WithoutValue) {
    this.terms = termsIn(literals);
    this.#alike = alike;
    this.#without = without;
    const order = (one: Value, other: Value): number => compareValues(one, other, alike);
    const named = literals.flatMap(({ comparison }) => bordersOf(comparison.operand)).sort(order);
    this.#borders = named.filter((value, index) => {
      const before = named[index - 1];
      return before === undefined || order(before, value) !== 0;
    });
    for (const [index, border] of this.#borders.entries())
      if (border.type === "text") this.#named.set(cased(border.text, alike), 2 * index + 1);
    this.#isOrdered = literals.some(({ comparison }) => !equalities.includes(comparison.operator));
    this.#numbers = new Numbers(this.#borders);
    const regions = 2 * this.#borders.length + 1;
    const [certain, possible] = [new Map<number, Ranges>(), new Map<number, Ranges>()];
    for (const { term, comparison, isFlipped, counts } of literals) {
      const ranges = this.#ranges(comparison);
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
    else this.#show(found.type === "text" ? this.#regionOfText(text) : this.#region(found));
  }

  /** As {@link look}, of a number, which need not be made a decimal first. */
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
    return this.#isOrdered ? this.#region({ type: "text", text }) : 0;
  }

  readonly #byDigits = (number: number): number => {
    const decimal = decimalOf(number);
    if (decimal === undefined) throw new TypeError(`${number} is no decimal`);
    return this.#region({ type: "decimal", decimal });
  };

  #region(value: Value): number {
    let [low, high] = [0, this.#borders.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const border = this.#borders[middle];
      const order = border === undefined ? 0 : compareValues(value, border, this.#alike);
      if (order === 0) return 2 * middle + 1;
      if (order < 0) high = middle;
      else low = middle + 1;
    }
    return 2 * low;
  }

  /** The regions in which a comparison is true, without its negation. */
  #ranges({ operator, operand }: Comparison): Ranges {
    const last = 2 * this.#borders.length;
    const at = (value: Value): number => this.#region(value);
    if (operand.kind === "values") {
      const points = merged(operand.values.map((value) => [at(value), at(value)]));
      return operator === "notIn" ? outside(points, last + 1) : points;
    }
    if (operand.kind === "networks")
      return merged(operand.networks.map((network) => endsOf(network)).map(([from, to]) => [at(from), at(to)]));
    if (operand.kind === "range") {
      const { from, to, ends } = operand;
      const start = ends === "both" || ends === "lower" ? at(from) : at(from) + 1;
      const end = ends === "both" || ends === "upper" ? at(to) : at(to) - 1;
      return start <= end ? [start, end] : [];
    }
    if (operand.kind !== "value") throw new TypeError(`${operator} has no rank`);
    const point = at(operand.value);
    switch (operator) {
      case "eq":
        return [point, point];
      case "ne":
        return outside([point, point], last + 1);
      case "gt":
        return [point + 1, last];
      case "gte":
        return [point, last];
      case "lt":
        return [0, point - 1];
      case "lte":
        return [0, point];
      default:
        throw new TypeError(`${operator} has no rank`);
    }
  }
}

const equalities: readonly string[] = ["eq", "ne", "in", "notIn"];

function bordersOf(operand: Operand): readonly Value[] {
  switch (operand.kind) {
    case "value":
      return [operand.value];
    case "values":
      return operand.values;
    case "range":
      return [operand.from, operand.to];
    case "networks":
      return operand.networks.flatMap(endsOf);
    default:
      return [];
  }
}

/** The first and the last address of a network. */
function endsOf({ prefix, length }: { readonly prefix: string; readonly length: number }): [Value, Value] {
  return [
    { type: "ip", bits: prefix.padEnd(length, "0") },
    { type: "ip", bits: prefix.padEnd(length, "1") },
  ];
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

  /** @param byDigits the region of a number by its digits */
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
