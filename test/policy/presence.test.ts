import { describe, expect, test } from "vitest";
import { forbiddenValues, requiredValues } from "../../policy/values.ts";
import { evaluate, rule, ruleSet, unknown } from "./evaluate.ts";

describe("required-values", () => {
  const config = { pointers: ["/owner/team", "/actions/*/type"] };

  test("passes a rule that has everything, and one without elements", async () => {
    const declared = [
      rule("a", { owner: { team: "risk" }, actions: [{ type: "decline" }, { type: 0 }] }),
      rule("b", { owner: { team: "" }, actions: [] }),
      rule("c", { owner: { team: false } }),
    ];
    expect((await evaluate(requiredValues, declared, config)).violations).toEqual([]);
  });

  test("names every place where there is nothing, or null", async () => {
    const declared = [
      rule("a", { owner: { team: null }, actions: [{ type: "decline" }, { kind: "route" }, "accept", null] }),
      ruleSet("all", { b: { actions: { first: {} } }, c: { owner: "risk" } }),
    ];
    expect((await evaluate(requiredValues, declared, config)).violations).toEqual([
      "a: a: /owner/team: found null, allowed a value",
      "a: a: /actions/1/type: found nothing, allowed a value",
      "a: a: /actions/2/type: found nothing, allowed a value",
      "a: a: /actions/3/type: found nothing, allowed a value",
      "all: b: /owner/team: found nothing, allowed a value",
      "all: b: /actions/first/type: found nothing, allowed a value",
      "all: c: /owner/team: found nothing, allowed a value",
    ]);
  });

  test("does not take an array's own length for a field", async () => {
    const declared = [rule("a", { actions: [] })];
    expect((await evaluate(requiredValues, declared, { pointers: ["/actions/length"] })).violations).toEqual([
      "a: a: /actions/length: found nothing, allowed a value",
    ]);
  });

  test("does not take what is not known yet for missing, and says so", async () => {
    const declared = [
      rule("a", { owner: unknown, actions: [{ type: unknown }, unknown, {}] }),
      rule("b", { owner: { team: { lead: unknown } }, actions: unknown }),
      ruleSet("all", { c: unknown }),
      ruleSet("late", unknown),
    ];
    expect(await evaluate(requiredValues, declared, config)).toMatchObject({
      violations: ["a: a: /actions/2/type: found nothing, allowed a value"],
      notes: [
        "not known before the run, so not checked: a: /owner, a: /actions/0/type, a: /actions/1",
        "not known before the run, so not checked: b: /actions",
        "not known before the run, so not checked: c",
        "not known before the run, so not checked: the rules of late",
      ],
    });
  });

  test("has nothing to say without a pointer, and refuses what is none", async () => {
    expect((await evaluate(requiredValues, [rule("a", {})])).notApplicable).toEqual(["no pointer is configured"]);
    await expect(evaluate(requiredValues, [rule("a", {})], { pointers: ["owner"] })).rejects.toThrow(
      /pointers\/0 must match pattern/,
    );
    await expect(evaluate(requiredValues, [rule("a", {})], { required: ["/owner"] })).rejects.toThrow(
      /found required, allowed: pointers, secret/,
    );
  });
});

describe("forbidden-values", () => {
  const config = { pointers: ["/note"], values: { "/actions/*/type": ["accept", 0], "/owner": [null] } };

  test("passes a rule without them", async () => {
    const declared = [rule("a", { owner: "risk", actions: [{ type: "decline" }, { type: "0" }] }), rule("b", {})];
    expect((await evaluate(forbiddenValues, declared, config)).violations).toEqual([]);
  });

  test("names the place, the value and what is forbidden there", async () => {
    const declared = [
      rule("a", { note: "for us", actions: [{ type: "decline" }, { type: "accept" }] }),
      ruleSet("all", { b: { note: null, owner: null, actions: [{ type: -0 }] } }),
    ];
    expect((await evaluate(forbiddenValues, declared, config)).violations).toEqual([
      'a: a: /note: found "for us", allowed nothing',
      'a: a: /actions/1/type: found "accept", allowed anything but "accept", 0',
      "all: b: /note: found null, allowed nothing",
      'all: b: /actions/0/type: found 0, allowed anything but "accept", 0',
      "all: b: /owner: found null, allowed anything but null",
    ]);
  });

  test("leaves out what is not known yet, and says so; what is around it is there", async () => {
    const declared = [
      rule("a", { note: unknown, actions: [unknown, { type: unknown }] }),
      rule("b", { note: { by: unknown, at: 5 } }),
      rule("c", { owner: [unknown] }),
    ];
    expect(
      await evaluate(forbiddenValues, declared, { ...config, values: { ...config.values, "/owner/*": [null] } }),
    ).toMatchObject({
      violations: ['b: b: /note: found {"at":5}, allowed nothing'],
      notes: [
        "not known before the run, so not checked: a: /note, a: /actions/0, a: /actions/1/type",
        "not known before the run, so not checked: c: /owner/0",
      ],
    });
  });

  test("keeps secret values out of its messages, also inside another", async () => {
    const declared = [rule("a", { note: { text: "hush", lines: ["hush", 1] } })];
    const { violations } = await evaluate(forbiddenValues, declared, {
      ...config,
      secret: ["/note/text", "/note/lines/0"],
    });
    expect(violations).toEqual(['a: a: /note: found {"text":"[secret]","lines":["[secret]",1]}, allowed nothing']);
  });

  test("has nothing to say without a pointer, and refuses a wrong configuration", async () => {
    const wrong = (given: Record<string, unknown>) => evaluate(forbiddenValues, [rule("a", {})], given);
    expect((await wrong({})).notApplicable).toEqual(["no pointer is configured"]);
    await expect(wrong({ pointers: ["note"] })).rejects.toThrow(/pointers\/0 must match pattern/);
    await expect(wrong({ values: { "/note": [] } })).rejects.toThrow(/values\/~1note must NOT have fewer than 1 items/);
    await expect(wrong({ value: {} })).rejects.toThrow(/found value, allowed: pointers, values, secret/);
  });
});
