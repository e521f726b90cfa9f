import { evaluate } from "../evaluate/evaluate.ts";
import type { Answer } from "../evaluate/verdict.ts";
import type { Rule } from "../language/normal-form.ts";
import type { Semantics } from "../language/schema.ts";
import type { Value } from "../language/values.ts";
import { type Box, intersection } from "../proof/box.ts";
import { Space } from "../proof/space.ts";
import { type Witness, witnessOf } from "../proof/witness.ts";
import { fromNowOn } from "./claims.ts";

/**
 * A payment, from the present on, to which all of some rules surely apply, and of which something else holds by the evaluator.
 * @param isTimed whether it has a time, also where none of the rules asks for it. Default: false
 * @returns undefined where none was found
 */
export function showing(
  rules: readonly Rule[],
  { semantics, at }: { readonly semantics: Semantics; readonly at: Value },
  holds: (witness: Witness) => boolean,
  { isTimed = false }: { readonly isTimed?: boolean } = {},
): Witness | undefined {
  const space = new Space(rules, semantics, [at]);
  const regions = rules.map((rule) => fromNowOn(rule, at, space) ?? []);
  const { clock } = space;
  const now =
    isTimed && clock !== undefined
      ? space.box(clock.variable, [clock.scale.regionOf(at), clock.scale.missing - 1])
      : undefined;
  const [first = [], ...others] = now === undefined ? regions : [[now], ...regions];
  const boxes = others.reduce<readonly Box[]>(
    (met, region) => met.flatMap((box) => region.flatMap((other) => intersection(box, other) ?? [])),
    first,
  );
  return witnessOf(boxes, space, holds);
}

/** What the evaluator says of each rule. */
export function appliesTo({ payment, at }: Witness, rules: readonly Rule[], semantics: Semantics): readonly Answer[] {
  const readings = rules.map((rule) => ({ kind: "rule" as const, rule }));
  return evaluate(payment, readings, semantics, at === undefined ? {} : { at }).rules.map(({ applies }) => applies);
}
