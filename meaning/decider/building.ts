import { type EvaluateOptions, judgeForceForAll } from "../evaluate/evaluate.ts";
import { no, yes } from "../evaluate/verdict.ts";
import type { Bound, Comparison, Rule, RuleReading } from "../language/normal-form.ts";
import type { Semantics } from "../language/schema.ts";
import { orderOf, type Ranked } from "./order.ts";
import { type Term, termsOf } from "./terms.ts";

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

/** Collects rules, and gives their terms in the order in which they are asked. */
export class Building {
  readonly #semantics: Semantics;
  readonly #options: EvaluateOptions;
  readonly #rules: { readonly ranked: Ranked; readonly terms: readonly BuiltTerm[] }[] = [];

  constructor(semantics: Semantics, options: EvaluateOptions) {
    this.#semantics = semantics;
    this.#options = options;
  }

  add(reading: RuleReading, index: number): void {
    const rule: Partial<Rule> = reading.kind === "rule" ? reading.rule : reading.known;
    const { isCertain, bounds } = this.#forceOf(rule);
    if (bounds === undefined) return;
    const terms = rule.when === undefined ? [[]] : termsOf(rule.when);
    if (terms.length === 0) return;
    this.#rules.push({
      ranked: { index, outcome: rule.outcome, order: rule.order, unlisted: this.#options.unlisted?.get(index) },
      terms: terms.map((literals) => ({ literals, bounds, isCertain: isCertain && rule.when !== undefined })),
    });
  }

  inOrder(): {
    readonly terms: readonly (BuiltTerm & { readonly rule: number })[];
    readonly placed: readonly PlacedRule[];
  } {
    const byIndex = new Map(this.#rules.map((rule) => [rule.ranked.index, rule.terms]));
    const { groups, firstBeaten } = orderOf(
      this.#rules.map(({ ranked }) => ranked),
      this.#semantics.wins,
    );
    const terms: (BuiltTerm & { readonly rule: number })[] = [];
    const placed: PlacedRule[] = [];
    for (const [number, group] of groups.entries()) {
      const start = placed.length;
      for (const [at, ranked] of group.entries())
        for (const term of byIndex.get(ranked.index) ?? []) terms.push({ ...term, rule: start + at });
      const end = number < firstBeaten ? Number.POSITIVE_INFINITY : terms.length;
      placed.push(...group.map((ranked) => ({ ...ranked, end })));
    }
    return { terms, placed };
  }

  /** Returns whether a rule is surely in force, and the bounds on the time of the payment; no bounds (undefined) where it never is. */
  #forceOf({ force }: Partial<Rule>): { isCertain: boolean; bounds: readonly Comparison[] | undefined } {
    if (force === undefined) return { isCertain: false, bounds: [] };
    const verdict = judgeForceForAll(force, this.#semantics, this.#options);
    const { time } = this.#semantics.payment;
    if (verdict === undefined && time !== null)
      return { isCertain: true, bounds: [...boundIn(time, force.from, "gt"), ...boundIn(time, force.until, "lt")] };
    return { isCertain: verdict === yes, bounds: verdict === no ? undefined : [] };
  }
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
