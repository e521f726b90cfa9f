import type { Comparison } from "../language/normal-form.ts";
import { addressesOf, type Value } from "../language/values.ts";

/** Ranges of numbers, each from and to, both counted; sorted, and none in another: [from, to, from, to]. */
export type Ranges = readonly number[];

export function inBoth(one: Ranges, other: Ranges): Ranges {
  const both: number[] = [];
  for (let [a, b] = [0, 0]; a < one.length && b < other.length; ) {
    const [from, to, otherFrom, otherTo] = [one[a] ?? 0, one[a + 1] ?? 0, other[b] ?? 0, other[b + 1] ?? 0];
    if (Math.max(from, otherFrom) <= Math.min(to, otherTo)) both.push(Math.max(from, otherFrom), Math.min(to, otherTo));
    if (to < otherTo) a += 2;
    else b += 2;
  }
  return both;
}

/** Returns the numbers from 0 to below `count` that are in none of the ranges. */
export function outside(ranges: Ranges, count: number): Ranges {
  const rest: number[] = [];
  let from = 0;
  for (let at = 0; at < ranges.length; at += 2) {
    const start = ranges[at] ?? 0;
    if (from < start) rest.push(from, start - 1);
    from = (ranges[at + 1] ?? 0) + 1;
  }
  if (from < count) rest.push(from, count - 1);
  return rest;
}

export function inAny(...several: readonly Ranges[]): Ranges {
  return merged(
    several.flatMap((ranges) =>
      Array.from({ length: ranges.length / 2 }, (_, index): [number, number] => [
        ranges[2 * index] ?? 0,
        ranges[2 * index + 1] ?? 0,
      ]),
    ),
  );
}

export function isIn(ranges: Ranges, number: number): boolean {
  return ranges.some((edge, index) => index % 2 === 0 && edge <= number && number <= (ranges[index + 1] ?? -1));
}

/** Returns ranges in any order, which may meet or overlap, as sorted ones that do not. */
export function merged(ranges: readonly (readonly [number, number])[]): Ranges {
  const result: number[] = [];
  for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
    const last = result.at(-1);
    if (last !== undefined && from <= last + 1) result[result.length - 1] = Math.max(last, to);
    else result.push(from, to);
  }
  return result;
}

/**
 * Values in their order, each once. Each is a region of its own (an odd number), and so is what lies between two of them (an even
 * number). In one region all comparisons with these values have one result.
 */
export class Borders {
  readonly values: readonly Value[];
  /** How many regions there are: their numbers begin at 0. */
  readonly regions: number;
  readonly #order: (one: Value, other: Value) => number;

  constructor(values: readonly Value[], order: (one: Value, other: Value) => number) {
    const sorted = [...values].sort(order);
    this.values = sorted.filter((value, index) => {
      const before = sorted[index - 1];
      return before === undefined || order(before, value) !== 0;
    });
    this.regions = 2 * this.values.length + 1;
    this.#order = order;
  }

  regionOf(value: Value): number {
    let [low, high] = [0, this.values.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const border = this.values[middle];
      const order = border === undefined ? 0 : this.#order(value, border);
      if (order === 0) return 2 * middle + 1;
      if (order < 0) high = middle;
      else low = middle + 1;
    }
    return 2 * low;
  }
}

/**
 * Returns the regions, from 0 to `last`, in which a comparison by equality, by order or with networks is true, without its negation.
 * @param at returns the first and the last region of the values that are equal to a value
 */
export function regionsWhere(
  { operator, operand }: Comparison,
  last: number,
  at: (value: Value) => readonly [number, number],
): Ranges {
  if (operand.kind === "values") {
    const listed = merged(operand.values.map(at));
    return operator === "notIn" ? outside(listed, last + 1) : listed;
  }
  if (operand.kind === "networks")
    return merged(
      operand.networks.map((network) => {
        const [first, end] = addressesOf(network);
        return [at(first)[0], at(end)[1]];
      }),
    );
  if (operand.kind === "range") {
    const { from, to, ends } = operand;
    const [[first, afterFirst], [beforeLast, end]] = [at(from), at(to)];
    const start = ends === "both" || ends === "lower" ? first : afterFirst + 1;
    const stop = ends === "both" || ends === "upper" ? end : beforeLast - 1;
    return start <= stop ? [start, stop] : [];
  }
  if (operand.kind !== "value") throw new TypeError(`${operator} has no regions`);
  const [first, end] = at(operand.value);
  switch (operator) {
    case "eq":
      return [first, end];
    case "ne":
      return outside([first, end], last + 1);
    case "gt":
      return [end + 1, last];
    case "gte":
      return [first, last];
    case "lt":
      return [0, first - 1];
    case "lte":
      return [0, end];
    default:
      throw new TypeError(`${operator} has no regions`);
  }
}
