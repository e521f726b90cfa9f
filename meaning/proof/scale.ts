import { Borders, inBoth, outside, type Ranges } from "../decider/regions.ts";
import type { ValueType } from "../language/schema-words.ts";
import { type Alike, cased, compareValues, type Value } from "../language/values.ts";
import { neighbours } from "./neighbours.ts";

/**
 * The states of one field, as numbers: the regions of the values that rules name (see {@link Borders}), and behind them two more
 * states: the field is missing, and it has a value of another type.
 *
 * Texts of which A to Z and a to z may be alike are sorted by their small letters first, so that all spellings of a text are neighbours.
 */
export class Scale {
  readonly type: ValueType;
  /** How many states there are. */
  readonly states: number;
  /** The state in which the field is missing. */
  readonly missing: number;
  /** The state in which it has a value of another type. */
  readonly odd: number;
  /** The regions of values in which there is a value. */
  readonly values: Ranges;
  /** The same, and the two states behind them. */
  readonly all: Ranges;
  readonly #isFolded: boolean;
  readonly #borders: Borders;

  /**
   * @param named the values that rules name, in any order
   * @param isFolded whether some comparison takes A to Z and a to z for alike, or may
   */
  constructor(type: ValueType, named: readonly Value[], isFolded: boolean) {
    this.type = type;
    this.#isFolded = isFolded;
    this.#borders = new Borders([...named, ...alwaysNamed[type]], (one, other) => {
      const folded = isFolded ? compareValues(one, other, { ignoresCase: true }) : 0;
      return folded === 0 ? compareValues(one, other) : folded;
    });
    const { values, regions } = this.#borders;
    this.missing = regions;
    this.odd = regions + 1;
    this.states = regions + 2;
    const empty: number[] = [];
    for (let index = 0; index <= values.length; index += 1)
      if (this.#isEmptyBetween(values[index - 1], values[index])) empty.push(2 * index, 2 * index);
    this.all = outside(empty, this.states);
    this.values = inBoth(this.all, [0, regions - 1]);
  }

  regionOf(value: Value): number {
    return this.#borders.regionOf(value);
  }

  /** Returns the first and the last region of all values that are equal to a value that rules name. */
  regionsOf(value: Value, alike: Alike): readonly [number, number] {
    const [first, last] = spellings(value, alike);
    return [this.regionOf(first), this.regionOf(last)];
  }

  /** Returns the states that are not in the ranges. */
  others(ranges: Ranges): Ranges {
    return inBoth(outside(ranges, this.states), this.all);
  }

  /** Returns some values of a region, the plainest first; none where none was found. */
  samples(region: number): readonly Value[] {
    const { values } = this.#borders;
    const border = values[(region - 1) / 2];
    if (border !== undefined) return [border];
    const [low, high] = [values[region / 2 - 1], values[region / 2]];
    return neighbours(this.type, low, high).filter((value) => this.regionOf(value) === region);
  }

  /** Returns whether no value lies between two neighbours; undefined stands for no neighbour. */
  #isEmptyBetween(low: Value | undefined, high: Value | undefined): boolean {
    if (this.type === "boolean") return true;
    if (this.type === "ip") return !(low?.type === "ip" && high?.type === "ip") || isNext(low.bits, high.bits);
    if (high?.type !== "text") return false;
    if (low?.type !== "text") return high.text === "";
    const [one, other] = [low.text, high.text].map((text) => cased(text, { ignoresCase: true }));
    return this.#isFolded && one === other && BigInt(casesOf(high.text)) - BigInt(casesOf(low.text)) === 1n;
  }
}

/** Returns the first and the last spelling of a value in the order of a {@link Scale}: of a text in capital, and in small letters. */
export function spellings(value: Value, { ignoresCase }: Alike): readonly [Value, Value] {
  if (value.type !== "text" || !ignoresCase) return [value, value];
  return [
    { type: "text", text: value.text.replace(/[a-z]+/g, (letters) => letters.toUpperCase()) },
    { type: "text", text: cased(value.text, { ignoresCase }) },
  ];
}

/** Returns the first string of a {@link Scale} behind all that start with a prefix; undefined where there is none. */
export function behindPrefix(prefix: string, { ignoresCase }: Alike): string | undefined {
  const text = cased(prefix, { ignoresCase });
  for (let end = text.length; end > 0; end -= 1) {
    const next = nextUnit(text.charCodeAt(end - 1));
    if (next === undefined) continue;
    // Texts without capital letters have none of A to Z, so their next sign is the one behind Z.
    const unit = ignoresCase && next === "A".charCodeAt(0) ? "[".charCodeAt(0) : next;
    return `${text.slice(0, end - 1)}${String.fromCharCode(unit)}`;
  }
  return undefined;
}

/** Returns the next UTF-16 unit in the order of code points, in which surrogates come last; undefined behind the last. */
function nextUnit(unit: number): number | undefined {
  if (unit === 0xdfff) return undefined;
  if (unit === 0xffff) return 0xd800;
  return unit === 0xd7ff ? 0xe000 : unit + 1;
}

const alwaysNamed: Readonly<Record<ValueType, readonly Value[]>> = {
  decimal: [],
  text: [],
  instant: [],
  boolean: [
    { type: "boolean", is: false },
    { type: "boolean", is: true },
  ],
  ip: [32, 128].flatMap((length): Value[] => [
    { type: "ip", bits: "0".repeat(length) },
    { type: "ip", bits: "1".repeat(length) },
  ]),
};

function isNext(low: string, high: string): boolean {
  return low.length !== high.length || BigInt(`0b${high}`) - BigInt(`0b${low}`) === 1n;
}

/** Returns the cases of the letters of a text as a binary number: 0 for a capital letter. Its spellings are in the order of these numbers. */
function casesOf(text: string): string {
  return `0b0${text
    .replace(/[^A-Za-z]/g, "")
    .replace(/[A-Z]/g, "0")
    .replace(/[a-z]/g, "1")}`;
}
