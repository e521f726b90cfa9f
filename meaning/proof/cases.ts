import { inAny, inBoth, isIn, type Ranges, regionsWhere } from "../decider/regions.ts";
import { anything, no, not, type Verdict, verdictOf, verdictOfMissing, yes } from "../evaluate/verdict.ts";
import { type Bound, type Comparison, comparedFields } from "../language/normal-form.ts";
import { type Alike, casesOf } from "../language/values.ts";
import { type Box, intersection } from "./box.ts";
import { behindPrefix, type Scale, spellings } from "./scale.ts";
import { opaqueStates, type Space } from "./space.ts";

/** One of the ways in which a comparison can turn out. All of them together are every payment. */
export interface Case {
  readonly box: Box;
  readonly verdict: Verdict;
  /**
   * False where a field that is compared is missing, without a value by the semantics, or has a value of another type; and where an
   * opaque comparison is unknown.
   */
  readonly isCompared: boolean;
}

/** Returns every way in which a comparison can turn out, with its payments, as `evaluate` decides. */
export function casesOfComparison(comparison: Comparison, space: Space): readonly Case[] {
  if (comparison.operand.kind === "none") return ofPresence(comparison, space);
  return space.isOpaque(comparison) ? ofOpaque(comparison, space) : ofRegions(comparison, space);
}

/** Returns every way in which a bound of a rule's force can turn out, with its payments. */
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
  const ofMissing = verdictOfMissing(space.missing(comparison.field));
  const [first = [], ...others] = casesOf(comparison.ignoresCase).map((alike) =>
    inBoth(regionsOf(comparison, scale, alike), scale.values),
  );
  const sure = others.reduce(inBoth, first);
  const maybe = inAny(first, ...others);
  const unknown = inBoth(maybe, scale.others(sure));
  return ofField(space, comparison.field, { yes: sure, unknown }, comparison.isNegated, ofMissing);
}

/** Returns the cases of {@link onValues}, and those in which the field has no value of its type. */
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
  const asGiven = (ranges: Ranges): Ranges =>
    isIn(ranges, region) ? inAny(ranges, [scale.missing, scale.missing]) : ranges;
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

/** Returns the regions in which a comparison is true, without its negation. */
function regionsOf(comparison: Comparison, scale: Scale, alike: Alike): Ranges {
  const { operator, operand } = comparison;
  const end = scale.missing - 1;
  if (operator !== "startsWith" || operand.kind !== "value")
    return regionsWhere(comparison, end, (value) => scale.regionsOf(value, alike));
  const [first] = scale.regionsOf(operand.value, alike);
  const behind = operand.value.type === "text" ? behindPrefix(operand.value.text, alike) : undefined;
  if (behind === undefined) return [first, end];
  const [smallest] = spellings({ type: "text", text: behind }, alike);
  return [first, scale.regionOf(smallest) - 1];
}

/** Returns the cases of a comparison that is a variable of its own where all fields that it compares have values. */
function ofOpaque(comparison: Comparison, space: Space): Case[] {
  const { operator, isNegated } = comparison;
  const found: Case[] = [];
  // Field by field: it has a value, and the next field follows; or it has none, or one of another type.
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
    const missing: Ranges = [scale.missing, scale.missing];
    const hasValue = typeof so === "object" ? inAny(scale.values, missing) : scale.values;
    for (const [states, next] of [
      [hasValue, seen],
      [typeof so === "object" ? [] : missing, { ...seen, missing: seen.missing | verdictOfMissing(so) }],
      [[scale.odd, scale.odd], { ...seen, isOdd: true }],
    ] as const) {
      const own = space.box(variable, states);
      const both = own === undefined ? undefined : intersection(box, own);
      if (both !== undefined) step(both, rest, next);
    }
  };
  step(new Map(), comparedFields(comparison), { missing: 0, isOdd: false });
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
