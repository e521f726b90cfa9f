import fc from "fast-check";
import { expect, test } from "vitest";
import { evaluate, Payment, type RuleReading, readRules, type Semantics } from "../../meaning/index.ts";
import { comparedFields, comparisonsIn, type Rule } from "../../meaning/language/normal-form.ts";
import { readValue } from "../../meaning/language/values.ts";
import type { LintKind } from "../../meaning/lint/finding.ts";
import { lint } from "../../meaning/lint/lint.ts";
import { Space } from "../../meaning/proof/space.ts";
import { writtenValue } from "../../meaning/proof/tried-values.ts";
import type { Json, JsonObject } from "../../sdk/json/index.ts";
import { byPayment, definitionOf, instant, rulesFor, runs, semanticsOf, world } from "./random.ts";

const cases = world.chain((of) =>
  fc.record({
    world: fc.constant(of),
    now: instant,
    // Rules of one field meet more often: by these, several together hide another one.
    rules: fc.oneof(rulesFor(of, 5), rulesFor({ ...of, fields: { a: of.fields.a ?? { type: "decimal" } } }, 7)),
    picks: fc.array(fc.array(fc.nat({ max: 60 }), { minLength: 6, maxLength: 6 }), { minLength: 20, maxLength: 20 }),
    isByPayment: fc.boolean(),
    isTwice: fc.nat({ max: 3 }).map((one) => one === 0),
  }),
);

/** Values on both sides of each border of a field and at it, nothing, null, and one of another type. */
function valuesAt(name: string, space: Space): (Json | undefined)[] {
  const { scale, described } = space.field(name);
  const own = Array.from({ length: scale.missing }, (_, region) => scale.samples(region)[0]).flatMap((value) =>
    value === undefined ? [] : [writtenValue(value)],
  );
  const odd = described.type === "text" ? 5 : "x";
  return [...(described.list ? [[], ...own.map((value) => [value])] : own), undefined, null, odd];
}

function isTyped(json: JsonObject, rule: Rule, semantics: Semantics): boolean {
  const payment = new Payment(json, semantics);
  return comparisonsIn(rule.when)
    .flatMap(comparedFields)
    .every((name) => payment.field(name).kind !== "odd");
}

test("what lint claims holds of payments at every border", () => {
  const seen: Record<LintKind, number> = {
    "never-matches": 0,
    ended: 0,
    shadowed: 0,
    duplicate: 0,
    "order-conflict": 0,
    "catch-all": 0,
    "ends-soon": 0,
  };
  const held = { ...seen };
  let byTwo = 0;
  fc.assert(
    fc.property(cases, ({ world: of, now, rules: made, picks, isByPayment, isTwice }) => {
      const rules = isTwice ? [...made, ...made.slice(0, 1)] : made;
      const semantics = isByPayment ? byPayment(semanticsOf(of)) : semanticsOf(of);
      const valueLists = new Map(Object.entries(of.valueLists)) as Map<string, readonly Json[]>;
      const readings = rules
        .flatMap((rule) => readRules(definitionOf(rule), semantics, { valueLists }))
        .filter((reading) => reading.kind === "rule");
      const at = readValue(now, "instant");
      const soon = readValue("2030-06-01T00:00:00Z", "instant");
      if (at === undefined) return;
      const { findings } = lint({ rules: readings }, semantics, { at, soon });
      if (findings.length === 0) return;
      const space = new Space(
        readings.map(({ rule }) => rule),
        semantics,
        [at],
      );
      const fields = Object.keys(of.fields).map((name) => [name, valuesAt(name, space)] as const);
      const { clock } = space;
      const instants = (clock === undefined ? [now] : valuesOf(clock.scale)).filter(
        (text) => text.slice(0, -1) >= (at.type === "instant" ? at.at : ""),
      );
      const payments = picks.map(([, ...own]): JsonObject => {
        const entries = fields.map(
          ([name, values], index) => [name, values[(own[index] ?? 0) % values.length]] as const,
        );
        return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined));
      });
      const { time } = semantics.payment;
      for (const { kind, rule: index, others, because, untold, witness } of findings) {
        seen[kind] += 1;
        if (others.length > 1) byTwo += 1;
        const rule = readings[index]?.rule;
        if (rule === undefined) throw new Error("a finding is of a rule that there is");
        expect(witness === undefined).toBe(kind === "never-matches");
        const tried = payments.map((payment, place) => ({ payment, at: instants[place % instants.length] ?? now }));
        if (witness !== undefined) tried.push({ payment: witness.payment, at: witness.at ?? now });
        for (const { payment, at: instantOf } of tried) {
          const paid =
            semantics.force.clock === "now"
              ? payment
              : {
                  ...payment,
                  ...(time === null || kind === "never-matches" ? {} : laterThan(now, payment, time, semantics)),
                };
          const options = semantics.force.clock === "now" ? { at: instantOf } : {};
          const { rules: traces, decision } = evaluate(paid, readings as RuleReading[], semantics, options);
          const [own, another] = [traces[index]?.applies, traces[others[0] ?? index]?.applies];
          const isCaseKnown = comparisonsIn(rule.when).every(({ ignoresCase }) => ignoresCase !== null);
          const isKnown = isCaseKnown && isTyped(paid, rule, semantics);
          const isTold = isKnown && untold.every((name) => (paid[name] ?? null) !== null);
          if (kind === "never-matches" || kind === "ended") {
            expect(own).not.toBe("true");
            // Of a payment without time the evaluator does not ask whether there is an instant between the bounds.
            if (isTold && because.length > 0) {
              expect(own).toBe("false");
              held[kind] += 1;
            }
          }
          if (kind === "shadowed" && own === "true") {
            expect(others.some((other) => traces[other]?.applies === "true")).toBe(true);
            expect(decision.kind === "decided" ? decision.by : decision.because).not.toContain(index);
            held[kind] += 1;
          }
          if (kind === "shadowed" && own !== "false" && isTold) expect(own).toBe("true");
          if (kind === "duplicate" && isCaseKnown) {
            expect(own).toBe(another);
            held[kind] += 1;
          }
          if (kind === "catch-all" && isKnown) {
            expect(own).toBe("true");
            held[kind] += 1;
          }
        }
      }
    }),
    { numRuns: runs / 2 },
  );
  expect(byTwo).toBeGreaterThan(2);
  for (const kind of ["never-matches", "shadowed", "duplicate", "catch-all"] as const)
    expect(held[kind], kind).toBeGreaterThan(50);
  for (const [kind, count] of Object.entries(seen)) expect(count, kind).toBeGreaterThan(5);
});

function valuesOf(scale: ReturnType<Space["field"]>["scale"]): string[] {
  return Array.from({ length: scale.missing }, (_, region) => scale.samples(region)[0]).flatMap((value) =>
    value?.type === "instant" ? [`${value.at}Z`] : [],
  );
}

/** A claim of from now on is of payments that have a time, and a later one. */
function laterThan(now: string, payment: JsonObject, time: string, semantics: Semantics): JsonObject {
  const read = new Payment(payment, semantics).field(time);
  const [value] = read.kind === "values" ? read.values : [];
  const start = readValue(now, "instant");
  const isLater = value?.type === "instant" && start?.type === "instant" && value.at >= start.at;
  return isLater ? {} : { [time]: now };
}
