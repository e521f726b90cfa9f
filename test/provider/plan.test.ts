import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type KnownRule, plan } from "../../provider/reconcile/index.ts";
import { type ContractInput, defineContract } from "../../sdk/contract/index.ts";
import { isEqual, type JsonObject } from "../../sdk/rules/index.ts";

const update = { path: "/rules/{ruleId}" };
const identifyBy = { in: "query" } as const;

function contract(rule: ContractInput["rule"], operations: ContractInput["operations"]) {
  return defineContract({ version: 1, rule, operations });
}

function planned(
  before: JsonObject,
  after: JsonObject,
  rule: ContractInput["rule"],
  operations: ContractInput["operations"],
) {
  const known: KnownRule = { ruleId: "1", definition: before };
  return plan(new Map([["a", known]]), new Map([["a", { definition: after }]]), contract(rule, operations))[0];
}

describe("the plan for one rule", () => {
  test("is to keep it when only the order of fields differs", () => {
    expect(planned({ a: 1, b: 2 }, { b: 2, a: 1 }, {}, {})?.kind).toBe("keep");
  });

  test("is to update it where the contract has an update", () => {
    expect(planned({ a: 1 }, { a: 2 }, {}, { update })?.kind).toBe("update");
  });

  test("is to replace it where the contract has none, deleting first where the natural key must be unique", () => {
    expect(planned({ name: "x", a: 1 }, { name: "x", a: 2 }, {}, { delete: { identifyBy } })).toMatchObject({
      kind: "replace",
      deleteFirst: false,
    });
    expect(
      planned({ name: "x", a: 1 }, { name: "x", a: 2 }, { naturalKey: "/name" }, { delete: { identifyBy } }),
    ).toMatchObject({ kind: "replace", deleteFirst: true });
    expect(planned({ name: "x" }, { name: "y" }, { naturalKey: "/name" }, { delete: { identifyBy } })).toMatchObject({
      kind: "replace",
      deleteFirst: false,
    });
  });

  test.each([
    ["at an immutable path", { type: { kind: 1 } }, { type: { kind: 2 } }, "/type/kind", "replace"],
    ["below it", { type: { kind: 1 } }, { type: { kind: 2 } }, "/type", "replace"],
    ["above it", { type: { kind: 1 } }, { type: 3 }, "/type/kind", "replace"],
    ["at one of its elements", { list: [{ a: 1, b: 1 }] }, { list: [{ a: 2, b: 1 }] }, "/list/*/a", "replace"],
    ["beside it", { list: [{ a: 1, b: 1 }] }, { list: [{ a: 1, b: 2 }] }, "/list/*/a", "update"],
  ])("for a change %s is as the contract says", (_name, before, after, pattern, kind) => {
    expect(planned(before, after, { immutable: [pattern] }, { update, delete: { identifyBy } })?.kind).toBe(kind);
  });

  test("is refused before anything is touched where a replacement could not delete", () => {
    expect(() => planned({ a: 1 }, { a: 2 }, {}, {})).toThrow(/operations\.delete\.identifyBy/);
  });
});

describe("the plan for many rules", () => {
  const definition = fc.record({ name: fc.constantFrom("x", "y"), priority: fc.integer({ min: 0, max: 2 }) });
  const rules = fc.dictionary(fc.constantFrom("a", "b", "c", "constructor", "__proto__"), definition);

  test("writes exactly as often as rules differ, and leads to what is declared", () => {
    fc.assert(
      fc.property(rules, rules, (before, after) => {
        const known = new Map(
          Object.entries(before).map(([key, value]) => [key, { ruleId: `id of ${key}`, definition: value }]),
        );
        const declared = new Map(Object.entries(after).map(([key, value]) => [key, { definition: value }]));
        const steps = plan(known, declared, contract({}, { update, delete: { identifyBy } }));
        const result = new Map([...known].map(([key, rule]) => [key, rule.definition]));
        for (const step of steps) {
          if (step.kind === "delete") result.delete(step.key);
          else if (step.kind !== "keep")
            result.set(step.key, declared.get(step.key)?.definition ?? { name: "x", priority: -1 });
        }
        expect(new Map(result)).toEqual(new Map([...declared].map(([key, rule]) => [key, rule.definition])));
        const different = new Set([...known.keys(), ...declared.keys()]);
        for (const [key, rule] of known) {
          const wanted = declared.get(key);
          if (wanted !== undefined && isEqual(rule.definition, wanted.definition)) different.delete(key);
        }
        expect(steps.filter(({ kind }) => kind !== "keep")).toHaveLength(different.size);
      }),
    );
  });
});
