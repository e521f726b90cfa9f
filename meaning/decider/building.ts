import { type EvaluateOptions, judgeForceForAll } from "../evaluate/evaluate.ts";
import { no, yes } from "../evaluate/verdict.ts";
import type { Bound, Comparison, Condition, Force, Rule, RuleReading } from "../language/normal-form.ts";
import type { Semantics } from "../language/schema.ts";
import { orderOf, type Ranked } from "./order.ts";

export interface PlacedRule extends Ranked {
  /** The term from which on this rule, where it surely applies, beats all. */
  readonly end: number;
}

interface BuiltTerm {
  readonly literals: Term;
  /** Bounds of the rule's force, by the time of the payment. */
  readonly bounds: readonly Comparison[];
  readonly isCertain: boolean;
}

/** Returns the terms of rules in the order in which they are asked, and the rules in that order: `rule` is a term's place there. */
export function termsInOrder(readings: readonly RuleReading[], semantics: Semantics, options: EvaluateOptions) {
  const termsOfRules = new Map<number, readonly BuiltTerm[]>();
  const rules: Ranked[] = [];
  for (const [index, reading] of readings.entries()) {
    const { when, force, outcome, order }: Partial<Rule> = reading.kind === "rule" ? reading.rule : reading.known;
    const { isCertain, bounds } = boundsOf(force, semantics, options);
    const literals = when === undefined ? [[]] : termsOf(when);
    if (bounds === undefined || literals.length === 0) continue;
    rules.push({ index, outcome, order, unlisted: options.unlisted?.get(index) });
    const built = literals.map((each) => ({ literals: each, bounds, isCertain: isCertain && when !== undefined }));
    termsOfRules.set(index, built);
  }
  const { groups, firstBeaten } = orderOf(rules, semantics.wins);
  const terms: (BuiltTerm & { readonly rule: number })[] = [];
  const placed: PlacedRule[] = [];
  for (const [number, group] of groups.entries()) {
    const start = placed.length;
    for (const [at, ranked] of group.entries())
      for (const term of termsOfRules.get(ranked.index) ?? []) terms.push({ ...term, rule: start + at });
    const end = number < firstBeaten ? Number.POSITIVE_INFINITY : terms.length;
    placed.push(...group.map((ranked) => ({ ...ranked, end })));
  }
  return { terms, placed };
}

/** Returns whether a rule is surely in force, and the bounds on the time of the payment; no bounds (undefined) where it never is. */
function boundsOf(
  force: Force | undefined,
  semantics: Semantics,
  options: EvaluateOptions,
): { isCertain: boolean; bounds: readonly Comparison[] | undefined } {
  if (force === undefined) return { isCertain: false, bounds: [] };
  const verdict = judgeForceForAll(force, semantics, options);
  const { time } = semantics.payment;
  if (verdict === undefined && time !== null)
    return { isCertain: true, bounds: [...boundIn(time, force.from, "gt"), ...boundIn(time, force.until, "lt")] };
  return { isCertain: verdict === yes, bounds: verdict === no ? undefined : [] };
}

/** Returns a bound of a rule's force as a comparison of the payment's time: one, or none where there is no bound. */
function boundIn(field: string, bound: Bound | undefined, strict: "gt" | "lt"): Comparison[] {
  if (bound === undefined) return [];
  return [
    {
      kind: "comparison",
      at: "",
      field,
      operator: bound.counts ? `${strict}e` : strict,
      isNegated: false,
      ignoresCase: false,
      operand: { kind: "value", value: bound.instant },
      written: undefined,
    },
  ];
}

/** A part of a rule's conditions, or its opposite. */
export interface Literal {
  readonly condition: Condition;
  readonly isFlipped: boolean;
}

/** Literals that must all hold. */
export type Term = readonly Literal[];

/** A rule with more terms keeps a part of its conditions whole. */
const mostTerms = 64;

/**
 * Returns terms of which one is enough for a condition to hold (its disjunctive normal form). "Surely" and "possibly" both distribute
 * over all and any once negation has moved to the leaves, so the terms are exact for both.
 */
export function termsOf(condition: Condition, isFlipped = false): readonly Term[] {
  switch (condition.kind) {
    case "always":
    case "never":
      return (condition.kind === "always") === isFlipped ? [] : [[]];
    case "not":
      return termsOf(condition.of, !isFlipped);
    case "comparison":
      return [[{ condition, isFlipped }]];
    case "all":
    case "any": {
      const parts = condition.of.map((each) => termsOf(each, isFlipped));
      const terms = (condition.kind === "all") === isFlipped ? parts.flat() : productOf(parts);
      return terms === undefined || terms.length > mostTerms ? [[{ condition, isFlipped }]] : terms;
    }
  }
}

/** Returns every way to join one term of each part; undefined where these are more than {@link mostTerms}. */
function productOf(parts: readonly (readonly Term[])[]): readonly Term[] | undefined {
  let terms: readonly Term[] = [[]];
  for (const part of parts) {
    if (terms.length * part.length > mostTerms) return undefined;
    terms = terms.flatMap((term) => part.map((other) => [...term, ...other]));
  }
  return terms;
}
