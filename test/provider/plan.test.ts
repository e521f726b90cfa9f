import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type KnownRule, plan } from "../../provider/decide/plan.ts";
import { type ContractInput, defineContract } from "../../sdk/contract/index.ts";
import { asWritten, isEqual, type JsonObject } from "../../sdk/json/index.ts";

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

  test("is to replace it where the contract has none, deleting first where there is a natural key", () => {
    expect(planned({ name: "x", a: 1 }, { name: "x", a: 2 }, {}, { delete: { identifyBy } })).toMatchObject({
      kind: "replace",
      deleteFirst: false,
    });
    expect(
      planned({ name: "x", a: 1 }, { name: "x", a: 2 }, { naturalKey: "/name" }, { delete: { identifyBy } }),
    ).toMatchObject({ kind: "replace", deleteFirst: true });
    expect(planned({ name: "x" }, { name: "y" }, { naturalKey: "/name" }, { delete: { identifyBy } })).toMatchObject({
      kind: "replace",
      deleteFirst: true,
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

  test.each([
    ["a field", { name: "x", note: 1 }, { name: "x" }, "replace"],
    ["a field of an object", { at: { a: 1, b: 1 } }, { at: { a: 1 } }, "replace"],
    ["a field of what an array holds", { list: [{ a: 1, b: 1 }] }, { list: [{ a: 1 }] }, "update"],
    ["a null", { name: "x", note: null }, { name: "x" }, "update"],
    ["what requests of their own change", { name: "x", state: "on" }, { name: "y" }, "update"],
  ])("that takes %s out of a rule is as the contract says, where no update does", (_name, before, after, kind) => {
    const operations = { update: { ...update, removal: "none" }, delete: { identifyBy } } as const;
    const transitions = [{ at: "/state", to: "on", path: "/rules/{ruleId}/on" }];
    expect(planned(before, after, { transitions }, operations)?.kind).toBe(kind);
  });

  test("is refused before anything is touched where a replacement could not delete", () => {
    expect(() => planned({ a: 1 }, { a: 2 }, {}, {})).toThrow(/operations\.delete\.identifyBy/);
  });
});

describe("the plan for many rules", () => {
  const keys = fc.constantFrom("a", "b", "c", "constructor", "__proto__");
  /** Rules by key, no two with one name. */
  const rules = fc
    .dictionary(
      keys,
      fc.record({ name: fc.constantFrom("v", "w", "x", "y", "z"), priority: fc.integer({ min: 0, max: 2 }) }),
    )
    .filter((each) => new Set(Object.values(each).map(({ name }) => name)).size === Object.keys(each).length);
  const knownOf = (before: Record<string, JsonObject>): Map<string, KnownRule> =>
    new Map(Object.entries(before).map(([key, definition]) => [key, { ruleId: `id of ${key}`, definition }]));
  const declaredOf = (after: Record<string, JsonObject>) =>
    new Map(Object.entries(after).map(([key, definition]) => [key, { definition }]));

  test.each([null, "/name"])("leads to exactly what is declared, with a natural key of %s", (naturalKey) => {
    fc.assert(
      fc.property(rules, rules, (before, after) => {
        const declared = declaredOf(after);
        const service = new Map([...knownOf(before).values()].map(({ ruleId, definition }) => [ruleId, definition]));
        const idOf = new Map<string, string>();
        for (const step of plan(
          knownOf(before),
          declared,
          contract({ naturalKey }, { update, delete: { identifyBy } }),
        )) {
          if (step.kind === "delete") service.delete(step.known.ruleId);
          else {
            const ruleId = step.kind === "create" ? `new ${step.key}` : step.known.ruleId;
            idOf.set(step.key, ruleId);
            if (step.kind !== "keep") service.set(ruleId, step.declared.definition);
          }
        }
        expect(service.size).toBe(declared.size);
        for (const [key, { definition }] of declared) expect(service.get(idOf.get(key) ?? "")).toEqual(definition);
      }),
    );
  });

  test("writes no more often than there are keys that differ, and not at all where only keys do", () => {
    fc.assert(
      fc.property(rules, rules, (before, after) => {
        const known = knownOf(before);
        const declared = declaredOf(after);
        const steps = plan(known, declared, contract({ naturalKey: "/name" }, { update, delete: { identifyBy } }));
        const different = [...new Set([...known.keys(), ...declared.keys()])].filter((key) => {
          const [old, next] = [known.get(key), declared.get(key)];
          return old === undefined || next === undefined || !isEqual(old.definition, next.definition, asWritten);
        });
        expect(steps.filter(({ kind }) => kind !== "keep").length).toBeLessThanOrEqual(different.length);
        const renamed = new Map([...known].map(([key, rule]) => [`renamed ${key}`, { definition: rule.definition }]));
        expect(plan(known, renamed, contract({}, {})).every(({ kind }) => kind === "keep")).toBe(true);
      }),
    );
  });

  test("lets no rule take a natural key that another still has, in whatever order the steps are carried out", () => {
    fc.assert(
      fc.property(rules, rules, (before, after) => {
        const steps = plan(
          knownOf(before),
          declaredOf(after),
          contract({ naturalKey: "/name" }, { update, delete: { identifyBy } }),
        );
        for (const step of steps) {
          if (step.kind !== "create" && step.kind !== "update") continue;
          const own = step.kind === "update" ? step.known.ruleId : undefined;
          const others = [...knownOf(before).values()].filter(({ ruleId }) => ruleId !== own);
          expect(others.map(({ definition }) => definition.name)).not.toContain(step.declared.definition.name);
        }
      }),
    );
  });

  test("refuses to remove a rule where the contract has no way to delete", () => {
    expect(() => plan(knownOf({ a: { name: "x" } }), new Map(), contract({}, { update }))).toThrow(
      /operations\.delete\.identifyBy/,
    );
  });
});
