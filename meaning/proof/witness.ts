import type { Json, JsonObject } from "../../sdk/json/json.ts";
import { withFieldAt } from "../../sdk/json/pointer.ts";
import { isIn } from "../decider/regions.ts";
import { comparedFields } from "../language/normal-form.ts";
import type { Value } from "../language/values.ts";
import type { Box } from "./box.ts";
import type { Scale } from "./scale.ts";
import { opaqueStates, type Space } from "./space.ts";
import { listsFor, textsFor, type Wanted, writtenValue } from "./tried-values.ts";

/** A payment that shows something. */
export interface Witness {
  readonly payment: JsonObject;
  /** The instant (RFC 3339) at which it shows it, where rules are in force by the present. */
  readonly at: string | undefined;
}

/** Of one box no more payments than this are tried. */
const mostTried = 200;
/** Of one field no more values than this. */
const mostValues = 12;

/**
 * Finds a payment in boxes for which `holds` is true. Payments are made and tried: not every state of a box has a payment.
 * @param holds decides of a payment by the evaluator
 * @returns undefined where none was found
 */
export function witnessOf(
  boxes: readonly Box[],
  space: Space,
  holds: (witness: Witness) => boolean,
): Witness | undefined {
  for (const box of boxes)
    for (const witness of witnessesIn(box, space).take(mostTried)) if (holds(witness)) return witness;
  return undefined;
}

/** A place in a payment, and what can stand there; undefined: nothing. */
interface Choice {
  readonly put: (made: Witness, value: Json | undefined) => Witness;
  readonly values: readonly (Json | undefined)[];
}

function* witnessesIn(box: Box, space: Space): Generator<Witness> {
  const choices: Choice[] = [];
  const opaque: Wanted[] = [];
  for (const [variable, ranges] of box) {
    const found = space.variables[variable];
    if (found?.kind === "opaque") opaque.push({ comparison: found.comparison, is: ranges[0] === opaqueStates.yes });
  }
  for (const [variable, ranges] of box) {
    const found = space.variables[variable];
    if (found?.kind === "now") {
      const values = samplesOf(ranges, found.scale).map(writtenValue);
      choices.push({ values, put: (made, at) => ({ ...made, at: typeof at === "string" ? at : undefined }) });
    }
    if (found?.kind !== "field") continue;
    const { at } = space.field(found.name).described;
    choices.push({
      values: valuesOf(found.name, ranges, opaque, space),
      put: (made, value) => (value === undefined ? made : { ...made, payment: withFieldAt(made.payment, at, value) }),
    });
  }
  yield* combined(choices, { payment: {}, at: undefined });
}

/** Yields every way to choose, the first values of each first. */
function* combined([first, ...others]: readonly Choice[], made: Witness): Generator<Witness> {
  if (first === undefined) {
    yield made;
    return;
  }
  for (const value of first.values) yield* combined(others, first.put(made, value));
}

function samplesOf(ranges: readonly number[], scale: Scale): Value[] {
  const found: Value[] = [];
  for (let at = 0; at < ranges.length; at += 2)
    for (let region = ranges[at] ?? 0; region <= Math.min(ranges[at + 1] ?? -1, scale.missing - 1); region += 1) {
      const [plainest] = scale.samples(region);
      if (plainest !== undefined) found.push(plainest);
      if (found.length >= mostValues) return found;
    }
  return found;
}

function valuesOf(
  name: string,
  ranges: readonly number[],
  opaque: readonly Wanted[],
  space: Space,
): readonly (Json | undefined)[] {
  const { scale, described } = space.field(name);
  const own = opaque.filter(({ comparison }) => comparedFields(comparison).includes(name));
  const isValue = ranges.length > 0 && (ranges[0] ?? 0) < scale.missing;
  const none = isIn(ranges, scale.missing) ? [undefined] : [];
  const odd = isIn(ranges, scale.odd) ? [described.type === "text" ? 5 : "none"] : [];
  if (!isValue) return [...none, ...odd];
  if (described.list) return [...listsFor(own), ...none, ...odd];
  const made =
    described.type === "text"
      ? textsFor(own).filter((text) => isIn(ranges, scale.regionOf({ type: "text", text })))
      : [];
  const samples = samplesOf(ranges, scale).map(writtenValue);
  // A field that may be missing is left out where nothing speaks against that: the payment is shorter.
  return own.length === 0 ? [...none, ...samples, ...odd] : [...made, ...samples, ...none, ...odd];
}
