import type { JsonObject } from "../../sdk/json/json.ts";
import { type Decision, decide, type Standing } from "../evaluate/decide.ts";
import { type EvaluateOptions, evaluateCondition } from "../evaluate/evaluate.ts";
import { Payment } from "../evaluate/payment.ts";
import { isPossible, no, not, type Verdict, verdictOfUndecided, yes } from "../evaluate/verdict.ts";
import type { Comparison, RuleReading } from "../language/normal-form.ts";
import type { Semantics } from "../language/schema.ts";
import { type PlacedRule, termsInOrder } from "./building.ts";
import { FieldPlanes } from "./field-planes.ts";
import { type PlacedLiteralOfKind, type Rest, split } from "./placing.ts";
import type { Plane } from "./plane.ts";

/**
 * Decides many payments by the same rules, each as `evaluate` does, without a trace. All comparisons of a field are looked up at once,
 * and each look-up gives a bit for every rule. Only a condition that no look-up can decide is evaluated for each payment.
 */
export class Decider {
  readonly #semantics: Semantics;
  readonly #wins: Semantics["wins"];
  readonly #undecidedIs: Verdict;
  readonly #words: number;
  readonly #fields: readonly FieldPlanes[];
  readonly #planes: readonly Plane[];
  /** Terms that may apply at all, and those that surely do where their conditions hold. */
  readonly #possible: Int32Array;
  readonly #certain: Int32Array;
  readonly #rules: readonly PlacedRule[];
  /** The rule of each term. */
  readonly #ruleOf: Int32Array;
  /** The conditions that are evaluated for each payment, of each term that has such. */
  readonly #rest: readonly (readonly Rest[] | undefined)[];
  readonly #memo: Memo;
  readonly #single: (Decision | undefined)[] = [];
  readonly #none: Decision;

  /**
   * @param rules all that take part, in the order in which the service lists them
   * @throws MerchantRulesError SETTINGS_INVALID: `at` is no instant
   */
  constructor(rules: readonly RuleReading[], semantics: Semantics, options: EvaluateOptions = {}) {
    this.#semantics = semantics;
    this.#wins = semantics.wins;
    this.#undecidedIs = verdictOfUndecided(semantics);
    this.#none = decide([], semantics);
    const { terms, placed } = termsInOrder(rules, semantics, options);
    this.#rules = placed;
    this.#words = Math.max(1, Math.ceil(terms.length / 32));
    this.#ruleOf = Int32Array.from(terms, ({ rule }) => rule);
    this.#possible = new Int32Array(this.#words);
    this.#certain = new Int32Array(this.#words);
    const literals: PlacedLiteralOfKind[] = [];
    const rest: (readonly Rest[] | undefined)[] = [];
    const memo = new Map<string, number>();
    for (const [term, { literals: wanted, bounds, isCertain }] of terms.entries()) {
      const bit = 1 << (term & 31);
      this.#possible[term >>> 5] = (this.#possible[term >>> 5] ?? 0) | bit;
      if (isCertain) this.#certain[term >>> 5] = (this.#certain[term >>> 5] ?? 0) | bit;
      const own = split(term, wanted, semantics, memo);
      literals.push(...own.placed, ...bounds.map((comparison) => boundOf(term, comparison)));
      rest.push(own.rest.length === 0 ? undefined : own.rest);
    }
    this.#rest = rest;
    this.#memo = new Memo(memo.size);
    this.#fields = [...Map.groupBy(literals, ({ comparison }) => comparison.field)].map(
      ([name, own]) => new FieldPlanes(name, own, semantics, this.#words, this.#undecidedIs),
    );
    // The look that rules out most comes first.
    this.#planes = this.#fields.flatMap(({ planes }) => planes).sort((one, other) => other.terms - one.terms);
  }

  /** Decides one payment. Rules are named by their indexes in the array that the constructor took. */
  decide(json: JsonObject): Decision {
    for (const field of this.#fields) field.look(json);
    this.#memo.begin();
    const found: Candidate[] = [];
    let payment: Payment | undefined;
    let end = this.#ruleOf.length;
    for (let word = 0; word * 32 < end; word += 1) {
      let possible = this.#possibleIn(word);
      if (possible === 0) continue;
      const certain = this.#certainIn(word);
      for (; possible !== 0; possible &= possible - 1) {
        const bit = 31 - Math.clz32(possible & -possible);
        const term = word * 32 + bit;
        if (term >= end) break;
        const rest = this.#rest[term];
        let isCertain = ((certain >>> bit) & 1) === 1;
        if (rest !== undefined) {
          payment ??= new Payment(json, this.#semantics);
          const verdicts = this.#memo.verdicts(rest, payment, this.#semantics);
          if (!verdicts.every((verdict) => isPossible(verdict, this.#undecidedIs))) continue;
          isCertain &&= verdicts.every((verdict) => verdict === yes);
        }
        const rule = this.#rules[this.#ruleOf[term] ?? 0];
        if (rule === undefined) continue;
        const last = found.at(-1);
        if (last?.rule === rule) last.isCertain ||= isCertain;
        else found.push({ rule, isCertain });
        if (isCertain) end = Math.min(end, rule.end);
      }
    }
    return this.#decision(found);
  }

  #possibleIn(word: number): number {
    let bits = this.#possible[word] ?? 0;
    for (const plane of this.#planes) {
      if (bits === 0) break;
      bits &= plane.possible[plane.possibleAt + word] ?? 0;
    }
    return bits;
  }

  #certainIn(word: number): number {
    let bits = this.#certain[word] ?? 0;
    for (const plane of this.#planes) {
      if (bits === 0) break;
      bits &= plane.certain[plane.certainAt + word] ?? 0;
    }
    return bits;
  }

  #decision(found: readonly Candidate[]): Decision {
    const [first, second] = found;
    if (first === undefined) return this.#none;
    if (second === undefined && first.isCertain) {
      const { index } = first.rule;
      const known = this.#single[index] ?? decisionBy([first], this.#semantics);
      this.#single[index] = known;
      return known;
    }
    if (this.#areAlike(found, first)) {
      const by = found.map(({ rule }) => rule.index).sort((a, b) => a - b);
      return { kind: "decided", outcomes: [first.rule.outcome ?? ""], by };
    }
    return decisionBy(found, this.#semantics);
  }

  /** Returns whether all candidates surely apply, none comes before another, and all have the same outcome. */
  #areAlike(found: readonly Candidate[], { rule: { outcome } }: Candidate): boolean {
    const { by, order } = this.#wins;
    const hasNoList =
      by === "precedence" || (by === "order" && (order?.equal === "unknown" || order?.equal === "precedence"));
    return hasNoList && outcome !== undefined && found.every((each) => each.isCertain && each.rule.outcome === outcome);
  }
}

interface Candidate {
  readonly rule: PlacedRule;
  isCertain: boolean;
}

function decisionBy(found: readonly Candidate[], semantics: Semantics): Decision {
  const sorted = [...found].sort((one, other) => one.rule.index - other.rule.index);
  const standings = sorted.map(
    ({ rule: { outcome, order, unlisted }, isCertain }): Standing => ({
      applies: isCertain ? yes : yes | no,
      outcome,
      order,
      unlisted,
    }),
  );
  const decision = decide(standings, semantics);
  const named = (indexes: readonly number[]): number[] => indexes.map((each) => sorted[each]?.rule.index ?? 0);
  return decision.kind === "decided"
    ? { ...decision, by: named(decision.by) }
    : { ...decision, because: named(decision.because) };
}

function boundOf(term: number, comparison: Comparison): PlacedLiteralOfKind {
  return { term, comparison, isFlipped: false, counts: "both", isForce: true, kind: "rank", ignoresCase: false };
}

/** The verdicts on one payment that have been found already. */
class Memo {
  readonly #verdicts: Uint8Array;

  constructor(size: number) {
    this.#verdicts = new Uint8Array(size);
  }

  begin(): void {
    if (this.#verdicts.length > 0) this.#verdicts.fill(0);
  }

  verdicts(rest: readonly Rest[], payment: Payment, semantics: Semantics): readonly Verdict[] {
    return rest.map(({ number, condition, isFlipped }) => {
      const known = this.#verdicts[number] ?? 0;
      const verdict = known === 0 ? evaluateCondition(condition, payment, semantics).verdict : known;
      this.#verdicts[number] = verdict;
      return isFlipped ? not(verdict) : verdict;
    });
  }
}
