import type { Candidate } from "../evaluate/decide.ts";
import { type Evaluation, evaluate } from "../evaluate/evaluate.ts";
import type { Rule } from "../language/normal-form.ts";
import type { Semantics } from "../language/schema.ts";
import type { Value } from "../language/values.ts";
import { type Box, intersection } from "../proof/box.ts";
import type { BoxIndex } from "../proof/cover.ts";
import { Space } from "../proof/space.ts";
import { type Witness, witnessOf } from "../proof/witness.ts";
import { fromNowOn, since } from "./claims.ts";

/**
 * Finds a payment, from the present on, to which all of some rules surely apply, and for which `holds` is true by the evaluator.
 * @param isTimed whether it has a time, also where none of the rules asks for it. Default: false
 * @returns undefined where none was found
 */
export function showing(
  rules: readonly Rule[],
  { semantics, at }: Pick<Subject, "semantics" | "at">,
  holds: (witness: Witness) => boolean,
  isTimed = false,
): Witness | undefined {
  const space = new Space(rules, semantics, [at]);
  const regions = rules.map((rule) => fromNowOn(rule, at, space) ?? []);
  const [first = [], ...others] = isTimed ? [[since(at, [], space, true)], ...regions] : regions;
  const boxes = others.reduce<readonly Box[]>(
    (met, region) => met.flatMap((box) => region.flatMap((other) => intersection(box, other) ?? [])),
    first,
  );
  return witnessOf(boxes, space, holds);
}

/** Finds a payment, from the present on, to which all of some rules surely apply, also by the evaluator; undefined where none was found. */
export function showingAll(rules: readonly Rule[], of: Pick<Subject, "semantics" | "at">): Witness | undefined {
  return showing(rules, of, (made) =>
    evaluated(made, rules, of.semantics).rules.every(({ applies }) => applies === "true"),
  );
}

/** Evaluates a payment by some rules, which the service lists in the order of the array. */
export function evaluated(
  { payment, at }: Witness,
  rules: readonly Rule[],
  semantics: Semantics,
  unlisted?: ReadonlyMap<number, number>,
): Evaluation {
  const readings = rules.map((rule) => ({ kind: "rule" as const, rule }));
  return evaluate(payment, readings, semantics, { at, unlisted });
}

/** A rule that takes part. */
export interface Examined {
  readonly index: number;
  readonly rule: Rule;
  readonly candidate: Candidate;
}

/** The rules that take part, as all questions see them. */
export interface Subject {
  readonly semantics: Semantics;
  readonly at: Value;
  /** In the order in which they are asked, as far as that is known. */
  readonly rules: readonly Examined[];
  /** With all letters of unknown case as different: a claim is first looked for there. */
  readonly space: Space;
  readonly plain: ReadonlyMap<number, Rule>;
  /** The payments to which each rule surely applies, in that space. */
  readonly certain: ReadonlyMap<number, readonly Box[]>;
  readonly around: BoxIndex<Examined>;
}
