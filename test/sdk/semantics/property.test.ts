import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../../../sdk/rules/index.ts";
import { Affixes, Needles } from "../../../sdk/semantics/decider/needles.ts";
import { Decider, type Decision, evaluate, readRules } from "../../../sdk/semantics/index.ts";
import { naive } from "./naive.ts";
import { byPayment, definitionOf, instant, paymentFor, rulesFor, runs, semanticsOf, world } from "./random.ts";
import { valueCases } from "./sql/values.ts";

const cases = world.chain((of) =>
  fc.record({ world: fc.constant(of), at: instant, payment: paymentFor(of), rules: rulesFor(of, 5) }),
);

test("the evaluator agrees with a naive one, which tries every way in which what is unknown can turn out", () => {
  const seen = { decided: 0, unknown: 0, true: 0, false: 0, unread: 0 };
  fc.assert(
    fc.property(cases, ({ world: of, at, payment, rules }) => {
      const semantics = semanticsOf(of);
      const valueLists = new Map(Object.entries(of.valueLists)) as Map<string, readonly Json[]>;
      const readings = rules.flatMap((rule) => readRules(definitionOf(rule), semantics, { valueLists }));
      const { rules: traces, decision } = evaluate(payment, readings, semantics, { at });
      const expected = naive(payment, rules, of, at);
      expect(traces.map(({ applies }) => applies)).toEqual(expected.rules);
      const ways = [...expected.decisions].sort();
      if (decision.kind === "decided") expect([decision.outcomes.join("/")]).toEqual(ways);
      else if (of.wins === "all") expect(ways.length > 1 || ways.includes("?")).toBe(true);
      else expect(decision.possible).toEqual(ways.includes("?") ? undefined : ways);
      seen[decision.kind] += 1;
      for (const { applies } of traces) if (applies !== "unknown") seen[applies] += 1;
      seen.unread += readings.filter(({ kind }) => kind === "unknown").length;
    }),
    { numRuns: runs },
  );
  // The cases are worth something only where every kind of answer is among them.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(100);
});

/** Rules are many where the vectors of the index have several words. */
const manyPayments = world.chain((of) =>
  fc.record({
    world: fc.constant(of),
    at: fc.option(instant, { nil: undefined }),
    payments: fc.array(paymentFor(of), { minLength: 1, maxLength: 4 }),
    rules: fc.oneof(rulesFor(of, 8), { arbitrary: rulesFor(of, 80), weight: 1 }),
    unlisted: fc.array(fc.tuple(fc.nat({ max: 8 }), fc.nat({ max: 2 })), { maxLength: 3 }),
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
