import { getOrMake } from "../../sdk/get-or-make.ts";
import { RegionVectors } from "../decider/region-vectors.ts";
import type { Ranges } from "../decider/regions.ts";
import { type Box, difference } from "./box.ts";
import type { Space } from "./space.ts";

/** A box, and its owner. */
export interface Owned<Owner> {
  readonly box: Box;
  readonly owner: Owner;
}

/** Many boxes; those around a point are found at once. */
export class BoxIndex<Owner> {
  readonly boxes: readonly Owned<Owner>[];
  readonly #words: number;
  readonly #vectors = new Map<number, RegionVectors>();

  /** @param boxes whose variables the space has by now */
  constructor(boxes: readonly Owned<Owner>[], space: Space) {
    this.boxes = boxes;
    this.#words = Math.max(1, Math.ceil(boxes.length / 32));
    const bits = new Map<number, Map<number, Ranges>>();
    for (const [index, { box }] of boxes.entries())
      for (const [variable, ranges] of box) {
        getOrMake(bits, variable, () => new Map<number, Ranges>()).set(index, ranges);
      }
    for (const [variable, own] of bits)
      this.#vectors.set(variable, new RegionVectors(this.#words, space.states(variable), own));
  }

  /** Yields the boxes around a point, in the order in which the constructor took them. */
  *around(point: (variable: number) => number): Generator<Owned<Owner>> {
    const found = new Int32Array(this.#words).fill(-1);
    for (const [variable, of] of this.#vectors) {
      const at = of.at(point(variable));
      for (let word = 0; word < this.#words; word += 1) found[word] = (found[word] ?? 0) & (of.vectors[at + word] ?? 0);
    }
    for (const [word, bits] of found.entries())
      for (let left = bits; left !== 0; left &= left - 1) {
        const owned = this.boxes[word * 32 + 31 - Math.clz32(left & -left)];
        if (owned !== undefined) yield owned;
      }
  }
}

/** Returns a point of a box: of each variable the first state that the box allows, or the plainest where the box does not name it. */
export function pointIn(box: Box, space: Space): (variable: number) => number {
  return (variable) => box.get(variable)?.[0] ?? space.plain(variable);
}

/** The result of {@link cover}. */
export type Cover<Owner> =
  | { readonly kind: "covered"; readonly by: ReadonlySet<Owner> }
  /** A box in which none of the others has the plainest point. */
  | { readonly kind: "open"; readonly box: Box }
  /** It would take more pieces than were allowed. */
  | { readonly kind: "limit" };

/**
 * Decides whether boxes are covered by the union of others: takes a point of each, subtracts a box around it, and goes on with the rest.
 * @param find returns one of the others around a point; undefined where there is none
 * @param mostPieces how many pieces are examined at most
 */
export function cover<Owner>(
  boxes: readonly Box[],
  find: (point: (variable: number) => number) => Owned<Owner> | undefined,
  space: Space,
  mostPieces: number,
): Cover<Owner> {
  const pieces = [...boxes];
  const by = new Set<Owner>();
  let looked = 0;
  for (let piece = pieces.pop(); piece !== undefined; piece = pieces.pop()) {
    looked += 1;
    if (looked + pieces.length > mostPieces) return { kind: "limit" };
    const found = find(pointIn(piece, space));
    if (found === undefined) return { kind: "open", box: piece };
    by.add(found.owner);
    pieces.push(...difference(piece, found.box, space.others));
  }
  return { kind: "covered", by };
}
