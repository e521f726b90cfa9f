import { isIn } from "../decider/regions.ts";
import { comparedFields, comparisonsIn, type Rule } from "../language/normal-form.ts";
import type { Semantics } from "../language/schema.ts";
import type { Value } from "../language/values.ts";
import { type Box, everything, intersection, textOf } from "../proof/box.ts";
import { type Cover, cover, type Owned } from "../proof/cover.ts";
import { regionOf } from "../proof/region-of.ts";
import { Space } from "../proof/space.ts";

/** For one question no more pieces than this are examined. */
const mostPieces = 1000;

/** Returns whether there is no payment to which a rule surely applies. */
export function neverMatches(rule: Rule, space: Space): boolean {
  return regionOf(rule, "certain", space)?.length === 0;
}

/** Returns a string that is the same only for rules that apply to the same payments; undefined of a rule with too many boxes. */
export function sameText(rule: Rule, space: Space): string | undefined {
  const regions = (["certain", "possible"] as const).map((certainty) => regionOf(rule, certainty, space));
  const texts = regions.flatMap((boxes) => (boxes === undefined ? [] : [textOf(boxes)]));
  return texts.length === regions.length ? texts.join("#") : undefined;
}

/** Returns whether boxes hold every payment whose fields have the types that the semantics say, from an instant on. */
export function matchesAll(boxes: readonly Box[], from: Value, space: Space): boolean {
  const start = intersection(typed(space), since(from, boxes, space));
  if (start === undefined || boxes.every(({ size }) => size > 2)) return false;
  return covered([start], boxes, space).kind === "covered";
}

/** Decides whether boxes are covered by others, named by their indexes in `by`. */
export function covered(boxes: readonly Box[], by: readonly Box[], space: Space): Cover<number> {
  const owned = by.map((box, owner): Owned<number> => ({ box, owner }));
  const around = (point: (variable: number) => number): Owned<number> | undefined =>
    owned.find(({ box }) => [...box].every(([variable, ranges]) => isIn(ranges, point(variable))));
  return cover(boxes, around, space, mostPieces);
}

/** Returns the payments to which a rule surely applies; from an instant on, where any of the space's rules is in force for a time. */
export function fromNowOn(rule: Rule, from: Value, space: Space): readonly Box[] | undefined {
  const boxes = regionOf(rule, "certain", space);
  const start = space.clock === undefined ? everything : since(from, boxes ?? [], space);
  return boxes?.flatMap((box) => intersection(box, start) ?? []);
}

/**
 * Returns the box of all payments from an instant on; everything where no box asks for the time.
 * @param isTimed whether the time counts though no box asks for it. Default: where one of the space's rules is in force for a time
 */
export function since(from: Value, boxes: readonly Box[], space: Space, isTimed = space.isTimed): Box {
  const { clock } = space;
  if (clock === undefined || !(isTimed || boxes.some((box) => box.has(clock.variable)))) return everything;
  return space.box(clock.variable, [clock.scale.regionOf(from), clock.scale.missing - 1]) ?? everything;
}

/** Returns the box of every payment whose fields have the types that the semantics say, or are missing. */
function typed(space: Space): Box {
  return new Map(
    space.variables.map((found, variable) => [
      variable,
      found.kind === "field" ? space.others(variable, [found.scale.odd, found.scale.odd]) : space.toldStates(variable),
    ]),
  );
}

/**
 * Returns the fields that a payment needs so that the semantics say whether a rule applies to it; few of them, but not always the
 * fewest. Of a rule with too many boxes, all fields that it compares.
 */
export function untoldFields(rule: Rule, semantics: Semantics): readonly string[] {
  const space = new Space([rule], semantics);
  const [possible, told] = [regionOf(rule, "possible", space), regionOf(rule, "told", space)];
  const asked = [...new Set(comparisonsIn(rule.when).flatMap(comparedFields))];
  if (possible === undefined || told === undefined) return asked;
  const isTold = (present: readonly string[]): boolean => {
    const having = new Map(
      present.map((name) => {
        const { variable, scale } = space.field(name);
        return [variable, scale.values];
      }),
    );
    const within = intersection(typed(space), having);
    const boxes = possible.flatMap((box) => (within === undefined ? [] : (intersection(box, within) ?? [])));
    return covered(boxes, told, space).kind === "covered";
  };
  return withoutSpare(asked, isTold);
}

/** Returns some of `all` that are enough together, and of which none is spare. `all` must be enough. */
export function withoutSpare<Each>(
  all: readonly Each[],
  areEnough: (some: readonly Each[]) => boolean,
): readonly Each[] {
  let kept = all;
  for (const each of all) {
    const others = kept.filter((other) => other !== each);
    if (areEnough(others)) kept = others;
  }
  return kept;
}
