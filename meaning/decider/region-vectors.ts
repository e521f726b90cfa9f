import type { Ranges } from "./regions.ts";

/** More bytes than this are not held; vectors in between are then made from the nearest one that is. */
const mostBytes = 1_048_576;

/** A bit vector for each region, in which a bit is set where the region is in the bit's ranges. Bits without ranges are set. */
export class RegionVectors {
  readonly #words: number;
  readonly #stride: number;
  readonly #scratch: number;
  /** The bits that turn at the begin of each region: those from `#starts[region]` to the next. */
  readonly #starts: Int32Array;
  readonly #turns: Int32Array;
  /** Vectors one after another. Those from offset {@link at} are the region's, until the next call. */
  readonly vectors: Int32Array;

  constructor(words: number, regions: number, bits: ReadonlyMap<number, Ranges>) {
    this.#words = words;
    this.#stride = Math.ceil((regions * words * 4) / mostBytes);
    this.#scratch = Math.ceil(regions / this.#stride) * words;
    this.vectors = new Int32Array(this.#scratch + words).fill(-1);
    const counts = new Int32Array(regions + 2);
    const turning = (visit: (bit: number, region: number) => void): void => {
      for (const [bit, ranges] of bits)
        for (const [index, edge] of ranges.entries()) visit(bit, index % 2 === 0 ? edge : edge + 1);
    };
    turning((_, region) => {
      counts[region + 1] = (counts[region + 1] ?? 0) + 1;
    });
    for (let region = 1; region < counts.length; region += 1)
      counts[region] = (counts[region] ?? 0) + (counts[region - 1] ?? 0);
    this.#starts = counts;
    const next = counts.slice();
    this.#turns = new Int32Array(counts.at(-1) ?? 0);
    turning((bit, region) => {
      const place = next[region] ?? 0;
      this.#turns[place] = bit;
      next[region] = place + 1;
    });
    const row = new Int32Array(words).fill(-1);
    for (const bit of bits.keys()) turn(row, 0, bit);
    for (let region = 0; region < regions; region += 1) {
      this.#turn(row, 0, region);
      if (region % this.#stride === 0) this.vectors.set(row, (region / this.#stride) * words);
    }
  }

  at(region: number): number {
    const held = Math.floor(region / this.#stride);
    if (held * this.#stride === region) return held * this.#words;
    this.vectors.copyWithin(this.#scratch, held * this.#words, (held + 1) * this.#words);
    for (let each = held * this.#stride + 1; each <= region; each += 1) this.#turn(this.vectors, this.#scratch, each);
    return this.#scratch;
  }

  #turn(vectors: Int32Array, offset: number, region: number): void {
    const end = this.#starts[region + 1] ?? 0;
    for (let at = this.#starts[region] ?? 0; at < end; at += 1) turn(vectors, offset, this.#turns[at] ?? 0);
  }
}

/** Turns one bit of the vector at an offset. */
export function turn(vectors: Int32Array, offset: number, bit: number): void {
  const at = offset + (bit >>> 5);
  vectors[at] = (vectors[at] ?? 0) ^ (1 << (bit & 31));
}
