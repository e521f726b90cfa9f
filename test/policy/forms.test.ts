import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withinTime } from "../../policy/base/within-time.ts";
import { numberRanges, stringPatterns } from "../../policy/forms.ts";
import { evaluate, rule, ruleSet, unknown } from "./evaluate.ts";

describe("number-ranges", () => {
  const config = {
    ranges: {
      "/priority": { minimum: 1, maximum: 1000, multipleOf: 1 },
      "/conditions/*/value": { exclusiveMinimum: 0, exclusiveMaximum: 10, multipleOf: 0.01 },
    },
  };

  test("passes numbers in their range, and rules without them", async () => {
    const conditions = [{ value: 0.07 }, { value: 9.99 }, { value: 1 }, {}];
    const declared = [rule("a", { priority: 1, conditions }), rule("b", { priority: 1000 }), rule("c", {})];
    expect((await evaluate(numberRanges, declared, config)).violations).toEqual([]);
  });

  test("names the place, the number and the range; what is no number fails", async () => {
    const declared = [
      rule("a", { priority: 0, conditions: [{ value: 0 }, { value: 5 }, { value: 0.005 }] }),
      ruleSet("all", { b: { priority: 1.5 }, c: { priority: "5" }, d: { priority: null }, e: { priority: 1001 } }),
    ];
    const priority = "allowed a number that is at least 1, at most 1000, a multiple of 1";
    const value = "allowed a number that is above 0, below 10, a multiple of 0.01";
    expect((await evaluate(numberRanges, declared, config)).violations).toEqual([
      `a: a: /priority: found 0, ${priority}`,
      `a: a: /conditions/0/value: found 0, ${value}`,
      `a: a: /conditions/2/value: found 0.005, ${value}`,
      `all: b: /priority: found 1.5, ${priority}`,
      `all: c: /priority: found "5", ${priority}`,
      `all: d: /priority: found null, ${priority}`,
      `all: e: /priority: found 1001, ${priority}`,
    ]);
  });

  test("sees a rule that is a JSON text as it sees an object", async () => {
    const bad = { priority: 0, conditions: [{ value: 5 }] };
    const text = JSON.stringify(bad, null, 2);
    const declared = (as: unknown) => [rule("a", as), ruleSet("all", { b: as, c: { priority: 1 } })];
    const { violations } = await evaluate(numberRanges, declared(text), config);
    expect(violations).toHaveLength(2);
    expect(violations).toEqual((await evaluate(numberRanges, declared(bad), config)).violations);
    expect((await evaluate(numberRanges, [ruleSet("all", { b: unknown })], config)).notes).toEqual([
      "not known before the run, so not checked: b",
    ]);
  });

  test("leaves out what is not known yet, and says so", async () => {
    const declared = [
      rule("a", { priority: unknown, conditions: [{ value: unknown, field: unknown }, { value: 10 }] }),
    ];
    expect(await evaluate(numberRanges, declared, config)).toMatchObject({
      violations: [
        "a: a: /conditions/1/value: found 10, allowed a number that is above 0, below 10, a multiple of 0.01",
      ],
      notes: ["not known before the run, so not checked: a: /priority, a: /conditions/0/value"],
    });
  });

  test.each([
    ["a range without a bound", {}, 'found no bound, allowed: one or more\n  → at ranges["/priority"]'],
    ["a range that ends before it begins", { minimum: 5, maximum: 4 }, "no number is in this range"],
    [
      "a range that ends where it begins, without that",
      { minimum: 5, exclusiveMaximum: 5 },
      "no number is in this range",
    ],
    ["one number that is no multiple", { minimum: 5, maximum: 5, multipleOf: 2 }, "no number is in this range"],
    ["steps of nothing", { multipleOf: 0 }, "must be > 0"],
    ["a bound that is no number", { minimum: "1" }, "minimum must be number"],
    ["a misspelt bound", { min: 1 }, "must NOT have additional properties"],
  ])("refuses %s", async (_, range, reason) => {
    await expect(evaluate(numberRanges, [rule("a", {})], { ranges: { "/priority": range } })).rejects.toThrow(reason);
  });

  test("has nothing to say without a range, and takes one of a single number", async () => {
    expect((await evaluate(numberRanges, [rule("a", {})])).notApplicable).toEqual(["no pointer is configured"]);
    const ranges = { "/priority": { minimum: 5, maximum: 5 } };
    expect((await evaluate(numberRanges, [rule("a", { priority: 6 })], { ranges })).violations).toEqual([
      "a: a: /priority: found 6, allowed a number that is at least 5, at most 5",
    ]);
  });

  test("agrees with whole numbers of the last decimal place", async () => {
    const places = fc.integer({ min: 0, max: 6 });
    const whole = fc.integer({ min: -1_000_000, max: 1_000_000 });
    await fc.assert(
      fc.asyncProperty(
        places,
        whole,
        whole,
        whole,
        fc.integer({ min: 1, max: 500 }),
        async (scale, a, b, value, step) => {
          const decimal = (digits: number) => Number(`${digits}e-${scale}`);
          const [low, high] = [Math.min(a, b), Math.max(a, b) + step];
          const range = { minimum: decimal(low), exclusiveMaximum: decimal(high), multipleOf: decimal(step) };
          const declared = [rule("a", { n: decimal(value) })];
          const { violations } = await evaluate(numberRanges, declared, { ranges: { "/n": range } });
          expect(violations.length === 0).toBe(low <= value && value < high && value % step === 0);
        },
      ),
    );
  });
});

describe("string-patterns", () => {
  const config = { patterns: { "/name": "^[a-z][a-z0-9-]*$", "/tags/*": "team" } };

  test("passes texts that match, anywhere unless the pattern says where, and rules without them", async () => {
    const declared = [rule("a", { name: "large-1", tags: ["team", "my team"] }), rule("b", {})];
    expect((await evaluate(stringPatterns, declared, config)).violations).toEqual([]);
  });

  test("names the place, the text and the pattern; what is no text fails", async () => {
    const declared = [
      rule("a", { name: "Large", tags: ["team", "x"] }),
      ruleSet("all", { b: { name: 5 }, c: { name: null }, d: { name: "a\u001b[2J" } }),
    ];
    expect((await evaluate(stringPatterns, declared, config)).violations).toEqual([
      'a: a: /name: found "Large", allowed a text that matches /^[a-z][a-z0-9-]*$/u',
      'a: a: /tags/1: found "x", allowed a text that matches /team/u',
      "all: b: /name: found 5, allowed a text that matches /^[a-z][a-z0-9-]*$/u",
      "all: c: /name: found null, allowed a text that matches /^[a-z][a-z0-9-]*$/u",
      'all: d: /name: found "a\\u001b[2J", allowed a text that matches /^[a-z][a-z0-9-]*$/u',
    ]);
  });

  test("does not test a long text, and does not let it pass", async () => {
    const [longest, longer] = ["a".repeat(1000), "a".repeat(1001)];
    const declared = [ruleSet("all", { a: { name: longest }, b: { name: longer } })];
    expect((await evaluate(stringPatterns, declared, config)).violations).toEqual([
      `all: b: /name: found "${"a".repeat(76)}..., allowed at most 1000 characters, which match /^[a-z][a-z0-9-]*$/u`,
    ]);
  });

  test("leaves out what is not known yet, and says so", async () => {
    const declared = [rule("a", { name: unknown, tags: [unknown, "x"] })];
    expect(await evaluate(stringPatterns, declared, config)).toMatchObject({
      violations: ['a: a: /tags/1: found "x", allowed a text that matches /team/u'],
      notes: ["not known before the run, so not checked: a: /name, a: /tags/0"],
    });
  });

  test("refuses what is no regular expression", async () => {
    const wrong = evaluate(stringPatterns, [rule("a", {})], { patterns: { "/name": "^[a-z" } });
    await expect(wrong).rejects.toThrow(
      'the configuration of string-patterns is wrong.\n✖ Invalid regular expression: /^[a-z/u: Unterminated character class; allowed: a regular expression of JavaScript\n  → at patterns["/name"]\nWhat to do: correct it in the file that --policy-pack-config names.',
    );
    // The policy host prints the stack.
    await wrong.catch((error: Error) => expect(error.stack).toBe(error.message));
  });

  test("has nothing to say without a pattern", async () => {
    expect((await evaluate(stringPatterns, [rule("a", {})])).notApplicable).toEqual(["no pointer is configured"]);
  });

  test.each([
    ["(a+)+", "aaa"],
    ["^(?:[a-z]+-?)+$", "my-own-rule"],
    ["^[a-z]+:[a-z]+:[a-z]+$", "a:b:c"],
    ["^a{1,3}$", "aaa"],
  ])("knows what matches %s, which is watched where it may not end", async (pattern, text) => {
    const declared = [rule("a", { name: text }), rule("b", { name: "5" })];
    expect((await evaluate(stringPatterns, declared, { patterns: { "/name": pattern } })).violations).toEqual([
      `b: b: /name: found "5", allowed a text that matches /${pattern}/u`,
    ]);
  });

  test("ends a pattern that does not end by itself", () => {
    const endless = () => /^(a+)+$/u.test(`${"a".repeat(60)}b`);
    expect(() => withinTime(endless, 20, () => new Error("too long"))).toThrow("too long");
    expect(
      withinTime(
        () => "done",
        60_000,
        () => new Error("too long"),
      ),
    ).toBe("done");
    const failing = () => {
      throw new RangeError("its own error");
    };
    expect(() => withinTime(failing, 60_000, () => new Error("too long"))).toThrow(RangeError);
  });
});
