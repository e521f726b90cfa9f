import { describe, expect, test } from "vitest";
import { maximumConditions } from "../../policy/maximums.ts";
import { noCatchAll } from "../../policy/no-catch-all.ts";
import { evaluate, rule, ruleSet, unknown } from "./evaluate.ts";

describe("maximum-conditions", () => {
  const config = { conditions: "/conditions", maximum: 2 };

  test("passes a rule with as many as allowed, with none, and with something else there", async () => {
    const declared = [
      rule("a", { conditions: [1, 2] }),
      rule("b", {}),
      rule("c", { conditions: { a: 1, b: 2, c: 3 } }),
    ];
    expect((await evaluate(maximumConditions, declared, config)).violations).toEqual([]);
  });

  test("counts the elements of an array, and of each array that a pattern names", async () => {
    const declared = [
      rule("a", { conditions: [1, 2, 3] }),
      ruleSet("all", { b: { conditions: [{}, {}, {}, {}] }, c: { conditions: [] } }),
    ];
    expect((await evaluate(maximumConditions, declared, config)).violations).toEqual([
      "a: a: /conditions: found 3 conditions, allowed at most 2",
      "all: b: /conditions: found 4 conditions, allowed at most 2",
    ]);
    const groups = [rule("a", { groups: [{ all: [1] }, { all: [1, 2] }, {}] })];
    expect((await evaluate(maximumConditions, groups, { conditions: "/groups/*/all", maximum: 1 })).violations).toEqual(
      ["a: a: /groups/1/all: found 2 conditions, allowed at most 1"],
    );
  });

  test("counts conditions that are not known yet; an array that is not known is left out", async () => {
    const declared = [rule("a", { conditions: [unknown, { value: unknown }, 3] }), rule("b", { conditions: unknown })];
    expect(await evaluate(maximumConditions, declared, config)).toMatchObject({
      violations: ["a: a: /conditions: found 3 conditions, allowed at most 2"],
      notes: ["not known before the run, so not checked: b: /conditions"],
    });
  });

  test("has nothing to say without configuration, and refuses half of one", async () => {
    const wrong = (given: Record<string, unknown>) => evaluate(maximumConditions, [rule("a", {})], given);
    expect((await wrong({})).notApplicable).toEqual(["no pointer is configured"]);
    await expect(wrong({ conditions: "/conditions" })).rejects.toThrow(
      "the configuration of maximum-conditions is wrong.\n✖ found conditions without maximum, allowed: both, or none\nWhat to do: correct it in the file that --policy-pack-config names.",
    );
    await expect(wrong({ maximum: 5 })).rejects.toThrow("found maximum without conditions, allowed: both, or none");
    await expect(wrong({ conditions: "/conditions", maximum: -1 })).rejects.toThrow(/maximum must be >= 0/);
  });
});

describe("no-catch-all", () => {
  const config = {
    conditions: ["/conditions", "/match/all"],
    actions: { "/actions/*/type": ["decline", "accept"], "/outcome": ["block"] },
    allowedRules: ["last", "all/first"],
  };
  const found = "found no condition at /conditions, /match/all, allowed at least one, or its name in allowedRules";
  const declines = { actions: [{ type: "decline" }] };

  test("passes rules with a condition, rules that do neither, and listed ones", async () => {
    const declared = [
      rule("a", { conditions: [{}], ...declines }),
      rule("b", { match: { all: "amount > 5" }, ...declines }),
      rule("c", { conditions: 0, ...declines }),
      rule("d", { actions: [{ type: "tag" }] }),
      rule("last", declines),
      ruleSet("all", { last: declines, first: declines }),
    ];
    expect((await evaluate(noCatchAll, declared, config)).violations).toEqual([]);
  });

  test.each([
    {},
    { conditions: [] },
    { conditions: null },
    { conditions: {} },
    { conditions: "" },
    { match: { all: [] } },
  ])("refuses a rule that declines on %j", async (empty) => {
    const declared = [rule("a", { ...empty, ...declines }), ruleSet("all", { b: { ...empty, outcome: "block" } })];
    expect((await evaluate(noCatchAll, declared, config)).violations).toEqual([`a: a: ${found}`, `all: b: ${found}`]);
  });

  test("refuses every rule without a condition where no actions are configured", async () => {
    const declared = [rule("a", { actions: [{ type: "tag" }] })];
    expect((await evaluate(noCatchAll, declared, { conditions: ["/conditions"] })).violations).toEqual([
      "a: a: found no condition at /conditions, allowed at least one, or its name in allowedRules",
    ]);
  });

  test("takes conditions that are not known yet for conditions, and says so", async () => {
    const declared = [
      rule("a", { conditions: unknown, ...declines }),
      rule("b", { conditions: { amount: unknown }, ...declines }),
      rule("c", { match: unknown, ...declines }),
      ruleSet("d", unknown),
    ];
    expect(await evaluate(noCatchAll, declared, config)).toEqual({
      violations: [],
      notes: [
        "not known before the run, so not checked: a: /conditions",
        "not known before the run, so not checked: b: /conditions/amount",
        "not known before the run, so not checked: c: /match",
        "not known before the run, so not checked: the rules of d",
      ],
      notApplicable: [],
    });
  });

  test("says nothing of unknown values where others decide", async () => {
    const declared = [
      rule("a", { conditions: [1, unknown], ...declines }),
      rule("b", { conditions: unknown, actions: [{ type: "tag" }] }),
      rule("last", { conditions: unknown, ...declines }),
      rule("c", { actions: [{ type: unknown }] }),
    ];
    expect(await evaluate(noCatchAll, declared, config)).toMatchObject({
      violations: [],
      notes: ["not known before the run, so not checked: c: /actions/0/type"],
    });
  });

  test("has nothing to say without pointers, and refuses a wrong configuration", async () => {
    const wrong = (given: Record<string, unknown>) => evaluate(noCatchAll, [rule("a", {})], given);
    expect((await wrong({})).notApplicable).toEqual(["no pointer to conditions is configured"]);
    await expect(wrong({ conditions: "/conditions" })).rejects.toThrow(/conditions must be array/);
    await expect(wrong({ conditions: ["/a"], actions: { "/type": "decline" } })).rejects.toThrow(/must be array/);
    await expect(wrong({ conditions: ["/a"], allowed: [] })).rejects.toThrow(
      /found allowed, allowed: conditions, actions, allowedRules, secret/,
    );
  });
});
