import fc from "fast-check";
import { expect, test } from "vitest";
import { evaluate, Payment, type RuleReading, readRules, type Semantics } from "../../meaning/index.ts";
import type { Rule } from "../../meaning/language/normal-form.ts";
import { readValue } from "../../meaning/language/values.ts";
import type { Box } from "../../meaning/proof/box.ts";
import { BoxIndex, cover } from "../../meaning/proof/cover.ts";
import { type Certainty, regionOf } from "../../meaning/proof/region-of.ts";
import { opaqueStates, Space } from "../../meaning/proof/space.ts";
import type { Json, JsonObject } from "../../sdk/json/index.ts";
import { byPayment, definitionOf, instant, paymentFor, rulesFor, runs, semanticsOf, world } from "./random.ts";

const cases = world.chain((of) =>
  fc.record({
    world: fc.constant(of),
    at: instant,
    payments: fc.array(paymentFor(of), { minLength: 1, maxLength: 4 }),
    rules: rulesFor(of, 5),
    isByPayment: fc.boolean(),
  }),
);

function readable(readings: readonly RuleReading[]): Rule[] {
  return readings.flatMap((reading) => (reading.kind === "rule" ? [reading.rule] : []));
}

/** The state of a payment in every variable that a space has. */
function pointOf(json: JsonObject, at: string, semantics: Semantics, space: Space): (variable: number) => number {
  const payment = new Payment(json, semantics);
  return (variable) => {
    const found = space.variables[variable];
    if (found?.kind === "now") return found.scale.regionOf(readValue(at, "instant") ?? { type: "boolean", is: false });
    if (found?.kind === "field") {
      const { name, scale } = found;
      const read = payment.field(name);
      if (!payment.has(name)) return scale.missing;
      if (read.kind !== "values") return scale.odd;
      const [value] = read.values;
      return semantics.payment.fields[name]?.list || value === undefined
        ? (scale.values[0] ?? 0)
        : scale.regionOf(value);
    }
    if (found === undefined) throw new TypeError(`no variable ${variable}`);
    const rule: Rule = {
      when: found.comparison,
      force: { isEnabled: true, from: undefined, until: undefined },
      outcome: "accept",
      order: undefined,
    };
    const [trace] = evaluate(json, [{ kind: "rule", rule }], semantics).rules;
    return { true: opaqueStates.yes, false: opaqueStates.no, unknown: opaqueStates.unknown }[
      trace?.applies ?? "unknown"
    ];
  };
}

function isIn(boxes: readonly Box[], point: (variable: number) => number): boolean {
  return boxes.some((box) =>
    [...box].every(([variable, ranges]) => {
      const state = point(variable);
      return ranges.some((edge, index) => index % 2 === 0 && edge <= state && state <= (ranges[index + 1] ?? -1));
    }),
  );
}

test("the region of a rule has exactly the payments to which the evaluator applies it", () => {
  const seen = { true: 0, false: 0, unknown: 0, opaque: 0, bounds: 0 };
  fc.assert(
    fc.property(cases, ({ world: of, at, payments, rules, isByPayment }) => {
      const semantics = isByPayment ? byPayment(semanticsOf(of)) : semanticsOf(of);
      const valueLists = new Map(Object.entries(of.valueLists)) as Map<string, readonly Json[]>;
      const read = readable(rules.flatMap((rule) => readRules(definitionOf(rule), semantics, { valueLists })));
      const space = new Space(read, semantics);
      const region = (rule: Rule, certainty: Certainty): readonly Box[] => regionOf(rule, certainty, space) ?? [];
      const regions = read.map((rule) => ({
        certain: region(rule, "certain"),
        told: region(rule, "told"),
        possible: region(rule, "possible"),
      }));
      for (const payment of payments) {
        const options = semantics.force.clock === "payment" ? {} : { at };
        const readings = read.map((rule): RuleReading => ({ kind: "rule", rule }));
        const traces = evaluate(payment, readings, semantics, options).rules;
        const point = pointOf(payment, at, semantics, space);
        for (const [index, { certain, told, possible }] of regions.entries()) {
          const applies = traces[index]?.applies ?? "unknown";
          expect([isIn(certain, point), isIn(possible, point)]).toEqual([applies === "true", applies !== "false"]);
          if (applies === "true") expect(isIn(told, point)).toBe(true);
          if (applies === "false") expect(isIn(told, point)).toBe(false);
          seen[applies] += 1;
          if (read[index]?.force.from !== undefined) seen.bounds += 1;
        }
      }
      seen.opaque += space.variables.filter(({ kind }) => kind === "opaque").length;
    }),
    { numRuns: runs / 2 },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(100);
});

test("what is covered by other rules is, of every payment, in one of them", () => {
  const seen = { covered: 0, byTwo: 0, open: 0, held: 0 };
  fc.assert(
    fc.property(cases, ({ world: of, at, payments, rules, isByPayment }) => {
      const semantics = isByPayment ? byPayment(semanticsOf(of)) : semanticsOf(of);
      const valueLists = new Map(Object.entries(of.valueLists)) as Map<string, readonly Json[]>;
      const read = readable(rules.flatMap((rule) => readRules(definitionOf(rule), semantics, { valueLists })));
      const space = new Space(read, semantics);
      const boxes = read.map((rule) => regionOf(rule, "certain", space) ?? []);
      for (const [index, own] of boxes.entries()) {
        const others = boxes.flatMap((some, owner) => (owner === index ? [] : some.map((box) => ({ box, owner }))));
        const around = new BoxIndex(others, space);
        const found = cover<number>(own, (point) => around.around(point).toArray()[0], space, 200);
        if (found.kind === "open") seen.open += 1;
        if (found.kind !== "covered" || own.length === 0) continue;
        seen.covered += 1;
        if (found.by.size > 1) seen.byTwo += 1;
        const options = semantics.force.clock === "payment" ? {} : { at };
        const readings = read.map((rule): RuleReading => ({ kind: "rule", rule }));
        for (const payment of payments) {
          const traces = evaluate(payment, readings, semantics, options).rules;
          if (traces[index]?.applies !== "true") continue;
          seen.held += 1;
          expect([...found.by].some((other) => traces[other]?.applies === "true")).toBe(true);
        }
      }
    }),
    { numRuns: runs / 2 },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(3);
});
