import fc from "fast-check";
import { expect, test } from "vitest";
import { Affixes, Needles } from "../../meaning/decider/needles.ts";
import { RegionVectors } from "../../meaning/decider/region-vectors.ts";
import { type ConditionTrace, Decider, type Decision, evaluate, readRules } from "../../meaning/index.ts";
import type { Json } from "../../sdk/json/index.ts";
import { naive } from "./naive.ts";
import {
  byPayment,
  definitionOf,
  instant,
  paymentFor,
  rulesFor,
  runs,
  semanticsOf,
  worldWithPatterns,
} from "./random.ts";
import { valueCases } from "./sql/values.ts";

/** Rules, of the first few, whose place in the service's list is not known; those with one number are of one definition. */
const unlistedBelow = (rules: number): fc.Arbitrary<[number, number][]> =>
  fc.array(fc.tuple(fc.nat({ max: rules - 1 }), fc.nat({ max: 2 })), { maxLength: 3 });

const cases = worldWithPatterns.chain((of) =>
  fc.record({
    world: fc.constant(of),
    at: instant,
    payment: paymentFor(of),
    rules: rulesFor(of, 5),
    unlisted: unlistedBelow(5),
  }),
);

test("the evaluator agrees with a naive one, which tries every way in which what is unknown can turn out", () => {
  const seen = { decided: 0, unknown: 0, true: 0, false: 0, unread: 0, matches: 0, unlisted: 0 };
  fc.assert(
    fc.property(cases, ({ world: of, at, payment, rules, unlisted: places }) => {
      const unlisted = new Map(places);
      const semantics = semanticsOf(of);
      const valueLists = new Map(Object.entries(of.valueLists)) as Map<string, readonly Json[]>;
      const readings = rules.flatMap((rule) => readRules(definitionOf(rule), semantics, { valueLists }));
      const { rules: traces, decision } = evaluate(payment, readings, semantics, { at, unlisted });
      const expected = naive(payment, rules, of, at, unlisted);
      expect(traces.map(({ applies }) => applies)).toEqual(expected.rules);
      const ways = [...expected.decisions].sort();
      if (decision.kind === "decided") expect([decision.outcomes.join("/")]).toEqual(ways);
      else if (of.wins === "all") expect(ways.length > 1 || ways.includes("?")).toBe(true);
      else expect(decision.possible).toEqual(ways.includes("?") ? undefined : ways);
      seen[decision.kind] += 1;
      for (const { applies } of traces) if (applies !== "unknown") seen[applies] += 1;
      seen.unread += readings.filter(({ kind }) => kind === "unknown").length;
      seen.matches += traces.filter(({ applies, when }) => applies !== "unknown" && hasMatch(when)).length;
      if (expected.decisions.size !== naive(payment, rules, of, at).decisions.size) seen.unlisted += 1;
    }),
    { numRuns: runs },
  );
  // The cases are worth something only where every kind of answer is among them.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(10);
});

/** True where a pattern was held against the payment, and was not unknown. */
function hasMatch(trace: ConditionTrace | undefined): boolean {
  if (trace === undefined) return false;
  const { condition, answer } = trace;
  const isMatch = condition.kind === "comparison" && condition.operator === "matches" && answer !== "unknown";
  return isMatch || trace.of.some(hasMatch);
}

/** Rules are many where the vectors of the index have several words. */
const manyPayments = worldWithPatterns.chain((of) =>
  fc.record({
    world: fc.constant(of),
    at: fc.option(instant, { nil: undefined }),
    payments: fc.array(paymentFor(of), { minLength: 1, maxLength: 4 }),
    rules: fc.oneof(rulesFor(of, 8), { arbitrary: rulesFor(of, 80), weight: 1 }),
    unlisted: unlistedBelow(9),
    isByPayment: fc.boolean(),
  }),
);

test("the index decides as single evaluations do", () => {
  const seen = { decided: 0, unknown: 0, none: 0, several: 0, bounds: 0 };
  fc.assert(
    fc.property(manyPayments, ({ world: of, at, payments, rules, unlisted, isByPayment }) => {
      const semantics = isByPayment ? byPayment(semanticsOf(of)) : semanticsOf(of);
      const valueLists = new Map(Object.entries(of.valueLists)) as Map<string, readonly Json[]>;
      const readings = rules.flatMap((rule) => readRules(definitionOf(rule), semantics, { valueLists }));
      const options = { ...(at === undefined ? {} : { at }), unlisted: new Map(unlisted) };
      const decider = new Decider(readings, semantics, options);
      for (const payment of payments) {
        const expected = evaluate(payment, readings, semantics, options).decision;
        const decision: Decision = decider.decide(payment);
        expect(decision).toEqual(expected);
        seen[decision.kind] += 1;
        const by = decision.kind === "decided" ? decision.by : decision.because;
        if (by.length === 0) seen.none += 1;
        if (by.length > 1) seen.several += 1;
        if (semantics.force.clock === "payment") seen.bounds += 1;
      }
    }),
    { numRuns: runs },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(100);
});

test("the index compares values of every type as single evaluations do, also in lists", () => {
  for (const { semantics, sides, payments, type } of valueCases(1, { rules: 40, payments: 150 })) {
    const readings = sides.flatMap(({ rules }) => rules.map(({ reading }) => reading));
    const decider = new Decider(readings, semantics);
    for (const payment of payments)
      expect(decider.decide(payment), type).toEqual(evaluate(payment, readings, semantics).decision);
  }
});

test("parts of a text are found wherever they lie in each other", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "\u{1f600}"), maxLength: 8 });
  const found = (finder: Affixes | Needles, of: string): number[] => {
    const numbers = new Set<number>();
    finder.find(of, (number) => numbers.add(number));
    return [...numbers].sort((one, other) => one - other);
  };
  fc.assert(
    fc.property(fc.uniqueArray(text, { minLength: 1, maxLength: 12 }), text, (parts, of) => {
      const where = (is: (part: string) => boolean): number[] =>
        parts.flatMap((part, index) => (is(part) ? [index] : []));
      expect(found(new Needles(parts), of)).toEqual(where((part) => of.includes(part)));
      expect(found(new Affixes(parts, false), of)).toEqual(where((part) => of.startsWith(part)));
      expect(found(new Affixes(parts, true), of)).toEqual(where((part) => of.endsWith(part)));
    }),
    { numRuns: runs },
  );
});

test("vectors of regions that are not held are made from the nearest one that is", () => {
  // So many words and regions that only each fourth vector has room.
  const [words, regions] = [100, 10_000];
  const bits = new Map(
    Array.from({ length: 40 }, (_, k): [number, number[]] => [k * 79, [k * 20, k * 230 + 3, k * 230 + 500, 9_999]]),
  );
  const vectors = new RegionVectors(words, regions, bits);
  for (let region = 0; region < regions; region += 7) {
    const at = vectors.at(region);
    for (const [bit, [from = 0, to = 0, later = 0]] of bits) {
      const isSet = ((vectors.vectors[at + (bit >>> 5)] ?? 0) & (1 << (bit & 31))) !== 0;
      expect([region, bit, isSet]).toEqual([region, bit, (region >= from && region <= to) || region >= later]);
    }
  }
});
