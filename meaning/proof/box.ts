import { inBoth, type Ranges } from "../decider/regions.ts";

/**
 * A set of payments: for each variable that it names, the states that the variable may have. A variable that is not named may have any.
 * No variable is named without a state, so a box is never empty.
 */
export type Box = ReadonlyMap<number, Ranges>;

/** Returns the states of a variable that are not in the ranges. */
export type Others = (variable: number, ranges: Ranges) => Ranges;

/** The box of all payments. */
export const everything: Box = new Map();

/** Returns the payments that are in both boxes; undefined where there are none. */
export function intersection(one: Box, other: Box): Box | undefined {
  const [small, large] = one.size < other.size ? [one, other] : [other, one];
  const both = new Map(large);
  for (const [variable, ranges] of small) {
    const known = large.get(variable);
    const met = known === undefined ? ranges : inBoth(known, ranges);
    if (met.length === 0) return undefined;
    both.set(variable, met);
  }
  return both;
}

/** Returns the payments that are in the first box and not in the second: boxes of which no two overlap. */
export function difference(one: Box, other: Box, others: Others): readonly Box[] {
  if (intersection(one, other) === undefined) return [one];
  const rest: Box[] = [];
  let left = one;
  for (const [variable, ranges] of other) {
    const known = left.get(variable);
    const not = others(variable, ranges);
    const outer = known === undefined ? not : inBoth(known, not);
    if (outer.length > 0) rest.push(new Map(left).set(variable, outer));
    left = new Map(left).set(variable, known === undefined ? ranges : inBoth(known, ranges));
  }
  return rest;
}

/** Returns the same payments in fewer boxes: all boxes that name one and the same variable alone become one box. */
export function joined(boxes: readonly Box[], union: (one: Ranges, other: Ranges) => Ranges): readonly Box[] {
  const single = new Map<number, Ranges>();
  const others: Box[] = [];
  for (const box of boxes) {
    const [first] = box;
    if (first === undefined) return [everything];
    if (box.size > 1) others.push(box);
    else {
      const known = single.get(first[0]);
      single.set(first[0], known === undefined ? first[1] : union(known, first[1]));
    }
  }
  return [...[...single].map(([variable, ranges]): Box => new Map([[variable, ranges]])), ...others];
}
/** Returns a string that is the same for the same boxes, in any order. */
export function textOf(boxes: readonly Box[]): string {
  return boxes
    .map((box) =>
      [...box]
        .sort(([one], [other]) => one - other)
        .map(([variable, ranges]) => `${variable}:${ranges.join(",")}`)
        .join(";"),
    )
    .sort()
    .join("|");
}
