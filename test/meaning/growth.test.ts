import fc from "fast-check";
import { expect, test } from "vitest";
import { type Evaluation, evaluate, type RuleReading, readRules } from "../../meaning/index.ts";
import { growth } from "../../meaning/proof/growth.ts";
import type { Json } from "../../sdk/json/index.ts";
import type { NaiveRule } from "./naive.ts";
import { byPayment, definitionOf, instant, paymentFor, rulesFor, runs, semanticsOf, world } from "./random.ts";

/** One step from rules to others. */
type Change =
  | { readonly kind: "remove" | "toEnd" | "none"; readonly at: number }
  | { readonly kind: "add" | "replace"; readonly at: number; readonly rule: NaiveRule };

function changed(rules: readonly NaiveRule[], change: Change): NaiveRule[] {
  const at = change.at % Math.max(1, rules.length);
  const [before, own, after] = [rules.slice(0, at), rules.slice(at, at + 1), rules.slice(at + 1)];
  switch (change.kind) {
    case "none":
      return [...rules];
    case "remove":
      return [...before, ...after];
    case "toEnd":
      return [...before, ...after, ...own];
    case "add":
      return [...before, change.rule, ...own, ...after];
    case "replace":
      return [...before, change.rule, ...after];
  }
}

const cases = world.chain((of) =>
  fc.record({
    world: fc.constant(of),
    instants: fc.array(instant, { minLength: 1, maxLength: 3 }),
    payments: fc.array(paymentFor(of), { minLength: 12, maxLength: 12 }),
    rules: rulesFor(of, 4),
    change: rulesFor(of, 1).chain(([rule]): fc.Arbitrary<Change> => {
      const at = fc.nat({ max: 4 });
      if (rule === undefined) return fc.record({ kind: fc.constantFrom("remove", "toEnd", "none"), at });
      return fc.record({ kind: fc.constantFrom("add", "replace"), at, rule: fc.constant(rule) });
    }),
    isByPayment: fc.boolean(),
    // Rules whose place in the list is not known, such as new ones: one of each side, in a third of the cases.
    unlisted: fc.tuple(fc.nat({ max: 12 }), fc.nat({ max: 12 })),
  }),
);

/** 0 where a payment surely is not accepted alone, 2 where it surely is. */
function acceptance({ decision, rules }: Evaluation, readings: readonly RuleReading[], doAllCount: boolean): number {
  if (decision.kind === "decided") return decision.outcomes.join() === "accept" ? 2 : 0;
  if (decision.possible !== undefined && !decision.possible.includes("accept")) return 0;
  const isOther = (reading: RuleReading | undefined): boolean =>
    reading?.kind === "rule" && reading.rule.outcome !== "accept";
  return doAllCount && rules.some(({ applies }, index) => applies === "true" && isOther(readings[index])) ? 0 : 1;
}

test("where it is proven that no more payments are accepted none is; and a payment that shows more is one", () => {
  const seen = { proven: 0, wider: 0, cannotShow: 0, less: 0 };
  fc.assert(
    fc.property(cases, ({ world: of, instants, payments, rules, change, isByPayment, unlisted }) => {
      const semantics = isByPayment ? byPayment(semanticsOf(of)) : semanticsOf(of);
      const valueLists = new Map(Object.entries(of.valueLists)) as Map<string, readonly Json[]>;
      const read = (some: readonly NaiveRule[]): RuleReading[] =>
        some
          .flatMap((rule) => readRules(definitionOf(rule), semantics, { valueLists }))
          .filter(({ kind }) => kind === "rule");
      const [before, after] = [read(rules), read(changed(rules, change))];
      const [wasUnlisted, isUnlisted] = unlisted.map((index) => new Map([[index, index]]));
      const sides = [
        { rules: before, unlisted: wasUnlisted ?? new Map() },
        { rules: after, unlisted: isUnlisted ?? new Map() },
      ] as const;
      const found = growth(...sides, semantics);
      seen[found.kind] += 1;
      if (found.kind === "wider") {
        const { payment, at } = found.witness;
        const options = at === undefined ? {} : { at };
        const [was, is] = sides.map((side) =>
          acceptance(
            evaluate(payment, side.rules, semantics, { ...options, unlisted: side.unlisted }),
            side.rules,
            of.wins === "all",
          ),
        );
        expect([was, is]).toEqual([0, 2]);
      }
      if (found.kind !== "proven") return;
      for (const payment of payments)
        for (const at of instants) {
          const options = semantics.force.clock === "payment" ? {} : { at };
          const [was, is] = sides.map((side) =>
            acceptance(
              evaluate(payment, side.rules, semantics, { ...options, unlisted: side.unlisted }),
              side.rules,
              of.wins === "all",
            ),
          );
          expect(is).toBeLessThanOrEqual(was ?? 0);
          if ((is ?? 0) < (was ?? 0)) seen.less += 1;
        }
    }),
    { numRuns: runs / 2 },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(30);
});
