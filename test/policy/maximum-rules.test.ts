import { describe, expect, test } from "vitest";
import { maximumRules } from "../../policy/maximums.ts";
import { evaluate, rule, ruleSet, unknown } from "./evaluate.ts";

const two = ruleSet("all", { a: {}, b: {} });

describe("maximum-rules", () => {
  test("passes a stack with as many rules as are allowed, in sets and by themselves", async () => {
    expect((await evaluate(maximumRules, [two, rule("c", {})], { maximum: 3 })).violations).toEqual([]);
  });

  test("says how many rules there are, and how many may be", async () => {
    const { violations } = await evaluate(maximumRules, [two, rule("c", {})], { maximum: 2 });
    expect(violations).toEqual(["stack: connection default: found 3 rules, allowed at most 2"]);
  });

  test("counts each connection by itself", async () => {
    const other = rule("c", {}, { props: { connection: "sandbox" } });
    expect((await evaluate(maximumRules, [two, other], { maximum: 2 })).violations).toEqual([]);
  });

  test("notes a set whose rules are not known yet, and counts the others", async () => {
    const declared = [two, ruleSet("late", unknown)];
    expect(await evaluate(maximumRules, declared, { maximum: 2 })).toMatchObject({
      violations: [],
      notes: ["not known before the run, so not checked: the rules of late"],
    });
    expect((await evaluate(maximumRules, declared, { maximum: 1 })).violations).toHaveLength(1);
  });

  test("has nothing to say without a maximum, and refuses a wrong one", async () => {
    expect((await evaluate(maximumRules, [two])).notApplicable).toEqual(["no maximum is configured"]);
    await expect(evaluate(maximumRules, [two], { maximum: -1 })).rejects.toThrow(/maximum must be >= 0/);
  });
});
