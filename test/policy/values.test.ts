import { Secret } from "@pulumi/policy";
import { describe, expect, test } from "vitest";
import { rulePolicy } from "../../policy/base/rule-policy.ts";
import { allowedValues } from "../../policy/values.ts";
import { ruleType } from "../../provider/host/types.ts";
import { evaluate, noOptions, rule, ruleSet, unknown } from "./evaluate.ts";

describe("allowed-values", () => {
  const config = { values: { "/currency": ["EUR", "USD"], "/actions/*/type": ["decline", "route"] } };

  test("passes a rule whose values are allowed, or absent", async () => {
    const declared = [rule("large", { currency: "EUR", actions: [{ type: "decline" }] }), rule("small", {})];
    expect((await evaluate(allowedValues, declared, config)).violations).toEqual([]);
  });

  test("names the rule, the path, what was found and what is allowed", async () => {
    const declared = [rule("large", { currency: "XYZ", actions: [{ type: "route" }, { type: "accept" }] })];
    expect((await evaluate(allowedValues, declared, config)).violations).toEqual([
      'large: large: /currency: found "XYZ", allowed "EUR", "USD"',
      'large: large: /actions/1/type: found "accept", allowed "decline", "route"',
    ]);
  });

  test("names the key of a rule in a set", async () => {
    const declared = [ruleSet("rules", { good: { currency: "EUR" }, bad: { currency: 5 } })];
    expect((await evaluate(allowedValues, declared, config)).violations).toEqual([
      'rules: bad: /currency: found 5, allowed "EUR", "USD"',
    ]);
  });

  test("leaves out what is not known yet, says so, and checks everything else", async () => {
    const declared = [ruleSet("rules", { late: { currency: unknown }, bad: { currency: "XYZ" } })];
    expect(await evaluate(allowedValues, declared, config)).toMatchObject({
      violations: ['rules: bad: /currency: found "XYZ", allowed "EUR", "USD"'],
      notes: ["not known before the run, so not checked: late: /currency"],
    });
  });

  test("keeps secret values out of its messages", async () => {
    const declared = [rule("large", { currency: "hush" })];
    const { violations } = await evaluate(allowedValues, declared, { ...config, secret: ["/currency"] });
    expect(violations).toEqual(['large: large: /currency: found [secret], allowed "EUR", "USD"']);
  });

  test("keeps secrets of the program out of its messages, in a rule and in a set", async () => {
    const declared = [
      rule("large", { currency: new Secret("hush"), actions: [{ type: "accept" }] }),
      rule("all", new Secret({ currency: "hush" })),
      ruleSet("some", { bad: { currency: new Secret("hush") }, worse: new Secret({ currency: "hush" }) }),
      ruleSet("every", new Secret({ bad: { currency: "hush" } })),
    ];
    const { violations } = await evaluate(allowedValues, declared, config);
    expect(violations).toHaveLength(6);
    expect(violations.join()).not.toContain("hush");
    expect(violations[0]).toBe('large: large: /currency: found [secret], allowed "EUR", "USD"');
    expect(violations[1]).toBe('large: large: /actions/0/type: found "accept", allowed "decline", "route"');
  });

  test("shows no texts where nobody has looked for secrets", async () => {
    const told: string[] = [];
    await rulePolicy({
      name: "own",
      description: "Names are short.",
      config: {},
      *check(each) {
        for (const place of each.at("")) yield { ...place, allowed: "less" };
      },
    }).validateResource(
      {
        type: ruleType,
        name: "unseen",
        urn: "urn:unseen",
        props: { definition: { name: "hush", priority: 5, tags: ["hush"] } },
        opts: noOptions,
        stackTags: new Map(),
        isType: () => true,
        asType: () => undefined,
        getConfig: <T extends object>() => ({}) as T,
        notApplicable: () => expect.fail("it is applicable"),
      },
      (message) => told.push(message),
    );
    expect(told).toEqual(['unseen: found {"name":"[text]","priority":5,"tags":["[text]"]}, allowed less']);
  });

  test("refuses a wrong configuration", async () => {
    const declared = [rule("large", {})];
    await expect(evaluate(allowedValues, declared, { values: { currency: ["EUR"] } })).rejects.toThrow(
      /property name must be valid/,
    );
    await expect(evaluate(allowedValues, declared, { value: {} })).rejects.toThrow(
      /the configuration of allowed-values is wrong[\s\S]*found value, allowed: values, secret/,
    );
  });

  test("has nothing to say without a pointer, and of other resources", async () => {
    expect((await evaluate(allowedValues, [rule("large", {})])).notApplicable).toEqual(["no pointer is configured"]);
    const bucket = { type: "aws:s3/bucket:Bucket", name: "logs", props: {} };
    expect((await evaluate(allowedValues, [bucket], config)).notApplicable).toEqual(["it is about rules"]);
  });
});
