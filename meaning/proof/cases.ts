import { inAny, inBoth, merged, type Ranges } from "../decider/regions.ts";
import { anything, no, not, undecided, type Verdict, verdictOf, yes } from "../evaluate/verdict.ts";
import type { Bound, Comparison, Operand } from "../language/normal-form.ts";
import { casesOf, type Value } from "../language/values.ts";
import { type Box, intersection } from "./box.ts";
import { addressesOf } from "./comparisons.ts";
import { behindPrefix, type Scale, spellings } from "./scale.ts";
import { opaqueStates, type Space } from "./space.ts";

/** One of the ways in which a comparison can turn out. All of them together are every payment. */
export interface Case {
  readonly box: Box;
  readonly verdict: Verdict;
  /**
   * False where a field that is compared is missing, without a value by the semantics, or has a value of another type; and where an
   * opaque comparison cannot be told.
   */
  readonly isCompared: boolean;
}

/** What a comparison makes of every payment, as `evaluate` does. */
export function casesOfComparison(comparison: Comparison, space: Space): readonly Case[] {
  if (comparison.operand.kind === "none") return ofPresence(comparison, space);
  return space.isOpaque(comparison) ? ofOpaque(comparison, space) : ofRegions(comparison, space);
}

/** What a bound of a rule's force makes of every payment. */
export function casesOfBound(bound: Bound, side: "from" | "until", space: Space): readonly Case[] {
  const { clock } = space;
  if (clock === undefined) return [{ box: new Map(), verdict: yes | no, isCompared: false }];
  const { variable, scale } = clock;
  const point = scale.regionOf(bound.instant);
  const first = bound.counts ? point : point + 1;
  const last = bound.counts ? point : point - 1;
  const holds: Ranges = inBoth(side === "from" ? [first, scale.missing - 1] : [0, last], scale.values);
  if (variable === space.now) return onValues(space, variable, { yes: holds, unknown: [] }, scale.values, false);
  return ofField(space, space.semantics.payment.time ?? "", { yes: holds, unknown: [] }, false, yes | no);
}

function ofPresence({ field, operator, isNegated }: Comparison, space: Space): Case[] {
  const { variable, scale } = space.field(field);
  const isExists = (operator === "exists") !== isNegated;
  const present = scale.others([scale.missing, scale.missing]);
  return cases(space, [
    [variable, present, verdictOf(isExists), true],
    [variable, [scale.missing, scale.missing], verdictOf(!isExists), true],
  ]);
}

/** The regions in which a comparison, without its negation, is true, and those in which it is not known. */
interface Holds {
  readonly yes: Ranges;
  readonly unknown: Ranges;
}

function ofRegions(comparison: Comparison, space: Space): Case[] {
  const { scale } = space.field(comparison.field);
  const so = space.missing(comparison.field);
  const ofMissing = so === "comparisonFalse" ? no : undecided;
  const [first = [], ...others] = casesOf(comparison.ignoresCase).map((alike) =>
    inBoth(regionsOf(comparison, scale, alike), scale.values),
  );
  const sure = others.reduce(inBoth, first);
  const maybe = inAny(first, ...others);
  const unknown = inBoth(maybe, scale.others(sure));
  return ofField(space, comparison.field, { yes: sure, unknown }, comparison.isNegated, ofMissing);
}

/** As {@link onValues}, and what follows where the field has no value of its type. */
function ofField(space: Space, name: string, holds: Holds, isNegated: boolean, ofMissing: Verdict): Case[] {
  const { variable, scale } = space.field(name);
  const given = space.given(name);
  const odd: readonly [number, Ranges, Verdict, boolean] = [variable, [scale.odd, scale.odd], anything, false];
  if (given === undefined)
    return [
      ...onValues(space, variable, holds, scale.values, isNegated),
      ...cases(space, [[variable, [scale.missing, scale.missing], ofMissing, false], odd]),
    ];
  const region = scale.regionOf(given);
  const asGiven = (ranges: Ranges): Ranges => {
    const isIn = inBoth(ranges, [region, region]).length > 0;
    return isIn ? inAny(ranges, [scale.missing, scale.missing]) : ranges;
  };
  const both = { yes: asGiven(holds.yes), unknown: asGiven(holds.unknown) };
  return [...onValues(space, variable, both, asGiven(scale.values), isNegated), ...cases(space, [odd])];
}

function onValues(space: Space, variable: number, holds: Holds, values: Ranges, isNegated: boolean): Case[] {
  const told = inAny(holds.yes, holds.unknown);
  return cases(space, [
    [variable, holds.yes, verdictOf(!isNegated), true],
    [variable, holds.unknown, anything, true],
    [variable, inBoth(values, space.others(variable, told)), verdictOf(isNegated), true],
  ]);
}

function cases(space: Space, of: readonly (readonly [number, Ranges, Verdict, boolean])[]): Case[] {
  return of.flatMap(([variable, ranges, verdict, isCompared]) => {
    const box = space.box(variable, ranges);
    return box === undefined ? [] : [{ box, verdict, isCompared }];
  });
}

/** The regions in which a comparison is true, without its negation. */
function regionsOf({ operator, operand }: Comparison, scale: Scale, alike: { ignoresCase: boolean }): Ranges {
  const end = scale.missing - 1;
  const at = (value: Value): readonly [number, number] => scale.regionsOf(value, alike);
  if (operand.kind === "values") {
    const listed = merged(operand.values.map(at));
    return operator === "notIn" ? scale.others(listed) : listed;
  }
  if (operand.kind === "networks")
    return merged(
      operand.networks.map((network) => {
        const [first, last] = addressesOf(network);
        return [scale.regionOf(first), scale.regionOf(last)];
      }),
    );
  if (operand.kind === "range") return between(operand, at);
  if (operand.kind !== "value") throw new TypeError(`${operator} has no regions`);
  const [first, last] = at(operand.value);
  switch (operator) {
    case "eq":
      return [first, last];
    case "ne":
      return scale.others([first, last]);
    case "gt":
      return [last + 1, end];
    case "gte":
      return [first, end];
    case "lt":
      return [0, first - 1];
    case "lte":
      return [0, last];
    case "startsWith": {
      const behind = operand.value.type === "text" ? behindPrefix(operand.value.text, alike) : undefined;
      if (behind === undefined) return [first, end];
      const [smallest] = spellings({ type: "text", text: behind }, alike);
      return [first, scale.regionOf(smallest) - 1];
    }
    default:
      throw new TypeError(`${operator} has no regions`);
  }
}

function between(
  { from, to, ends }: Operand & { readonly kind: "range" },
  at: (value: Value) => readonly [number, number],
): Ranges {
  const [first, afterFirst] = at(from);
  const [beforeLast, last] = at(to);
  const start = ends === "both" || ends === "lower" ? first : afterFirst + 1;
  const end = ends === "both" || ends === "upper" ? last : beforeLast - 1;
  return start <= end ? [start, end] : [];
}

/** A comparison that is a variable of its own, where all fields that it compares have values. */
function ofOpaque(comparison: Comparison, space: Space): Case[] {
  const { field, operand, operator, isNegated } = comparison;
  const names = operand.kind === "field" ? [field, operand.field] : [field];
  const found: Case[] = [];
  // The fields one after another: each has a value, and the next is looked at; or it has none, or one of another type.
  const step = (box: Box, [name, ...rest]: readonly string[], seen: { missing: Verdict; isOdd: boolean }): void => {
    if (name === undefined) {
      if (seen.missing !== 0) found.push({ box, verdict: seen.missing, isCompared: false });
      else if (seen.isOdd) found.push({ box, verdict: anything, isCompared: false });
      else
        found.push(
          ...ofAnswers(box, comparison, operator === "ne" || operator === "notIn" ? !isNegated : isNegated, space),
        );
      return;
    }
    const { variable, scale } = space.field(name);
    const so = space.missing(name);
    const ofMissing = so === "comparisonFalse" ? no : undecided;
    const missing: Ranges = [scale.missing, scale.missing];
    const hasValue = typeof so === "object" ? inAny(scale.values, missing) : scale.values;
    for (const [states, next] of [
      [hasValue, seen],
      [typeof so === "object" ? [] : missing, { ...seen, missing: seen.missing | ofMissing }],
      [[scale.odd, scale.odd], { ...seen, isOdd: true }],
    ] as const) {
      const own = space.box(variable, states);
      const both = own === undefined ? undefined : intersection(box, own);
      if (both !== undefined) step(both, rest, next);
    }
  };
  step(new Map(), names, { missing: 0, isOdd: false });
  return found;
}

function ofAnswers(box: Box, comparison: Comparison, isNegated: boolean, space: Space): Case[] {
  const variable = space.opaque(comparison);
  const verdicts = { yes, no, unknown: anything };
  return (["yes", "no", "unknown"] as const).flatMap((answer): Case[] => {
    const own = space.box(variable, [opaqueStates[answer], opaqueStates[answer]]);
    const both = own === undefined ? undefined : intersection(box, own);
    const verdict = isNegated ? not(verdicts[answer]) : verdicts[answer];
    return both === undefined ? [] : [{ box: both, verdict, isCompared: answer !== "unknown" }];
  });
}
