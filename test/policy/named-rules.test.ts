import { describe, expect, test } from "vitest";
import { protectedRules, requiredRules } from "../../policy/named-rules.ts";
import { evaluate, rule, ruleSet, unknown } from "./evaluate.ts";

const protect = { opts: { protect: true } };

describe("protected-rules", () => {
  test("passes rules that are protected, by themselves or with their set, and those that need not be", async () => {
    const declared = [rule("large", {}, protect), ruleSet("risk", { fraud: {} }, protect), rule("other", {})];
    expect(await evaluate(protectedRules, declared, { rules: ["large", "fraud"] })).toEqual({
      violations: [],
      notes: [],
      notApplicable: [],
    });
  });

  test("names each rule that must be protected, by its key or its set's name", async () => {
    const declared = [
      rule("large", {}),
      ruleSet("risk", { fraud: {}, other: {} }),
      ruleSet("limits", { a: {}, b: {} }),
    ];
    const { violations } = await evaluate(protectedRules, declared, { rules: ["large", "risk/fraud", "limits"] });
    expect(violations).toEqual([
      "large: large: found no protect, allowed protect: true",
      "risk: fraud: found no protect at its set risk, allowed protect: true",
      "limits: the rules of limits: found no protect, allowed protect: true",
    ]);
  });

  test("asks it of all rules, once for each resource", async () => {
    const declared = [
      rule("large", {}),
      ruleSet("limits", { a: {}, b: {} }),
      ruleSet("late", unknown),
      ruleSet("none", {}),
    ];
    expect((await evaluate(protectedRules, declared, { all: true })).violations).toEqual([
      "large: large: found no protect, allowed protect: true",
      "limits: the rules of limits: found no protect, allowed protect: true",
      "late: the rules of late: found no protect, allowed protect: true",
    ]);
  });

  test("says that the rules of an unprotected set are not known yet", async () => {
    const declared = [ruleSet("late", unknown), ruleSet("safe", unknown, protect), ruleSet("half", { fraud: unknown })];
    expect(await evaluate(protectedRules, declared, { rules: ["fraud"] })).toMatchObject({
      violations: ["half: fraud: found no protect at its set half, allowed protect: true"],
      notes: ["not known before the run, so not checked: the rules of late"],
    });
  });

  test("has nothing to say without a name, and refuses a wrong configuration", async () => {
    expect((await evaluate(protectedRules, [rule("large", {})])).notApplicable).toEqual(["no rule is configured"]);
    await expect(evaluate(protectedRules, [rule("large", {})], { all: "yes" })).rejects.toThrow(/must be boolean/);
  });
});

describe("required-rules", () => {
  const declared = [rule("large", {}), ruleSet("risk", { fraud: {}, other: unknown }), ruleSet("none", {})];

  test("passes a stack that has the rules, by name, key, set and key, or set", async () => {
    const { violations } = await evaluate(requiredRules, declared, { rules: ["large", "fraud", "risk/other", "risk"] });
    expect(violations).toEqual([]);
  });

  test("names the rules that are missing, at the stack", async () => {
    const rules = ["fraud", "sanctions", "none", "limits/fraud"];
    expect((await evaluate(requiredRules, declared, { rules })).violations).toEqual([
      "stack: sanctions: found no such rule, allowed one in the stack",
      "stack: none: found no such rule, allowed one in the stack",
      "stack: limits/fraud: found no such rule, allowed one in the stack",
    ]);
    expect((await evaluate(requiredRules, [], { rules: ["large"] })).violations).toEqual([
      "stack: large: found no such rule, allowed one in the stack",
    ]);
  });

  test("finds none missing where the rules of a set are not known yet, and says so", async () => {
    const late = [...declared, ruleSet("late", unknown)];
    expect(await evaluate(requiredRules, late, { rules: ["sanctions"] })).toMatchObject({
      violations: [],
      notes: ["not known before the run, so not checked: the rules of late"],
    });
    expect((await evaluate(requiredRules, late, { rules: ["fraud"] })).notes).toEqual([]);
  });

  test("has nothing to say without a name, and refuses a wrong configuration", async () => {
    expect((await evaluate(requiredRules, declared)).notApplicable).toEqual(["no rule is configured"]);
    await expect(evaluate(requiredRules, declared, { rules: [""] })).rejects.toThrow(/fewer than 1 characters/);
    await expect(evaluate(requiredRules, declared, { rule: [] })).rejects.toThrow(/found rule, allowed: rules, secret/);
  });
});
