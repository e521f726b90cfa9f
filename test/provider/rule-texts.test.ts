import { type Output, secret } from "@pulumi/pulumi";
import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import { secret as secretOf, unknownValue } from "../../provider/host/wire.ts";
import { type JsonObject, MerchantRule, MerchantRuleSet, ruleTexts } from "../../provider/index.ts";
import { inFormOf } from "../../provider/state/definitions.ts";
import { type Contract, type ContractInput, loadPreset } from "../../sdk/contract/index.ts";
import { definitionsOf, type Json, parseJson } from "../../sdk/json/index.ts";
import { many, marking, rule } from "../support/rules.ts";
import { openHost } from "../support/stack/hooks.ts";
import { failureOf, hooksHere, resource, sessionOf } from "../support/stack/hosts.ts";
import { serve } from "../support/stack/service.ts";

const open = (contract?: ContractInput) => openHost(contract, {}, "merchantRuleSet");

/** The forms in which a rule may be declared. */
const forms: Record<string, (definition: JsonObject) => Json> = {
  "an object": (definition) => definition,
  "a text": (definition) => JSON.stringify(definition),
  "a text with blanks": (definition) => `\n ${JSON.stringify(definition, null, 2)}\n`,
};
const illustrative = loadPreset("illustrative");

/** The illustrative contract with another word on rules. */
function contractOf(changes: Partial<Contract["rule"]>): ContractInput {
  return { ...illustrative, rule: { ...illustrative.rule, ...changes } };
}

const name = "mixed";

describe.each(Object.entries(forms))("a rule that is declared as %s", (_, as) => {
  const set = (rules: Record<string, JsonObject>, more: JsonObject = {}): JsonObject => ({
    rules: Object.fromEntries(Object.entries(rules).map(([key, definition]) => [key, as(definition)])),
    ...more,
  });

  test("is created, kept, changed, seen to have drifted, healed and deleted", async () => {
    const { host, served, another } = await open();
    const declared = set({ a: rule(1), b: rule(2) });
    const { id, outs } = await host.create(declared);
    expect(outs).toMatchObject(declared);
    expect(served.service.rules().map((each) => each.rule)).toEqual(
      expect.arrayContaining([expect.objectContaining(rule(1)), expect.objectContaining(rule(2))]),
    );
    expect(await host.diff(id, outs, declared)).toMatchObject({ changes: "none" });

    const changed = set({ a: rule(1), b: rule(2, { priority: 20 }) });
    expect(await host.diff(id, outs, changed)).toMatchObject({ changes: "unknown" });
    expect(host.stderr.trim().split("\n").slice(-2)).toEqual([": 1 to update, 1 unchanged", "  ~ rules.b.priority"]);
    const updated = await host.update(id, outs, changed);
    expect(updated).toMatchObject(changed);

    const reader = await another();
    expect(await reader.read(id, updated)).toMatchObject({ inputs: changed, props: changed });
    const ruleId = String(Object(updated.ruleIds).b);
    served.service.put(ruleId, rule(2, { priority: 5, note: "by hand" }));
    const later = await another();
    const seen = await later.read(id, updated);
    expect(definitionsOf(Object(seen.inputs.rules))).toEqual({ a: rule(1), b: rule(2, { priority: 5 }) });
    expect(typeof Object(seen.inputs.rules).b).toBe(typeof Object(changed.rules).b);
    expect(Object(seen.inputs.rules).a).toEqual(Object(changed.rules).a);
    expect(await later.diff(id, seen.props, changed)).toMatchObject({ changes: "unknown" });
    const healed = await later.update(id, seen.props, changed);
    expect(healed).toMatchObject(changed);
    await later.delete(id, healed);
    expect(served.service.rules()).toEqual([]);
  });

  test("is checked against the contract's schema", async () => {
    const { host } = await open(contractOf({ schema: onlyNumbers }));
    const { failures } = await host.check(set({ a: rule(1, { priority: "high" }) }));
    expect(failures).toHaveLength(1);
    expect(`${failures[0]?.property} ${failures[0]?.reason}`).toMatch(/^rules\.a.*priority.*number/s);
  });

  test("is one rule with another of its natural key", async () => {
    const { host } = await open();
    const { failures } = await host.check(set({ a: rule(1), b: rule(1) }));
    expect(failures).toEqual([{ property: "rules.b", reason: expect.stringContaining("same natural key") }]);
  });

  test("carries its mark, and is taken over by its natural key", async () => {
    const { host, served } = await open(marking);
    served.service.put("17", rule(1));
    const declared = { ...set({ a: rule(1), b: rule(2) }, { adopt: true }), ...resource("all", {}) };
    expect((await host.check(declared)).failures).toEqual([]);
    const { outs } = await host.create(declared);
    expect(Object(outs.ruleIds).a).toBe("17");
    expect(served.named("rule-2").rule.metadata).toMatchObject({
      managedBy: expect.stringContaining("all#b"),
    });
  });

  test("may name the elements of an unordered array in any order", async () => {
    const { host, another, served } = await open(contractOf({ unordered: ["/tags"] }));
    const { id, outs } = await host.create(set({ a: rule(1, { tags: ["x", "y"] }) }));
    expect(await host.diff(id, outs, set({ a: rule(1, { tags: ["y", "x"] }) }))).toMatchObject({ changes: "none" });
    served.service.put(String(Object(outs.ruleIds).a), rule(1, { tags: ["y", "x"] }));
    expect((await (await another()).read(id, outs)).props).toEqual(outs);
  });

  test("is replaced where its change is of what the contract calls immutable", async () => {
    const { host, served } = await open(contractOf({ immutable: ["/actions"] }));
    const { id, outs } = await host.create(set({ a: rule(1), b: rule(2) }));
    const changed = set({ a: rule(1, { actions: [{ type: "review" }] }), b: rule(2) });
    const after = await host.update(id, outs, changed);
    expect(Object(after.ruleIds).a).not.toBe(Object(outs.ruleIds).a);
    expect(served.service.rules()).toHaveLength(2);
  });

  test("keeps what was done where another rule of its set fails", async () => {
    const { host } = await open();
    const { partial } = await failureOf(host.create(set({ a: rule(1), b: rule(2, { priority: "high" }) })));
    expect(Object.keys(Object(partial?.properties.rules))).toEqual(["a"]);
    expect(partial?.properties.rules).toEqual(set({ a: rule(1) }).rules);
  });

  test("is hidden whole in the state where a change of it failed", async () => {
    const { host } = await open();
    const { id, outs } = await host.create(set({ a: rule(1), b: rule(2) }));
    const next = set({ a: rule(1, { priority: 9 }), b: rule(2, { priority: "high" }) });
    const { partial } = await failureOf(host.update(id, outs, next));
    const [kept] = partial?.secrets ?? [];
    expect(definitionsOf({ kept })).toEqual({ kept: rule(2) });
  });

  test("is one with the other forms: a change of the form alone is no change", async () => {
    const { host } = await open();
    const { id, outs } = await host.create(set({ a: rule(1), b: rule(2) }));
    for (const other of Object.values(forms)) {
      const inOther = { rules: { a: other(rule(1)), b: other(rule(2)) } };
      expect(await host.diff(id, outs, inOther)).toMatchObject({ changes: "none" });
      const changed = { rules: { a: other(rule(1)), b: other(rule(2, { priority: 9 })) } };
      expect(await host.diff(id, outs, changed)).toMatchObject({ changes: "unknown" });
      expect(host.stderr.trim().split("\n").slice(-2)).toEqual([": 1 to update, 1 unchanged", "  ~ rules.b.priority"]);
    }
  });

  test("is a MerchantRule as well", async () => {
    const { host } = await open();
    const one = host.as("merchantRule");
    const { id, outs } = await one.create({ definition: as(rule(1)) });
    expect(outs.definition).toEqual(as(rule(1)));
    expect(await one.diff(id, outs, { definition: rule(1) })).toMatchObject({ changes: "none" });
    const changed = { definition: as(rule(1, { priority: 7 })) };
    expect(await one.diff(id, outs, changed)).toMatchObject({ changes: "unknown", replaces: [] });
    expect(await one.update(id, outs, changed)).toMatchObject(changed);
  });
});

const onlyNumbers = { type: "object", properties: { priority: { type: "number" } } };

describe("a text that cannot be a rule is refused, with its key and place", () => {
  const failuresOf = async (text: string, contract?: ContractInput) => {
    const { host } = await open(contract);
    const inSet = (await host.check({ rules: { a: text, b: rule(2) } })).failures;
    const alone = (await host.as("merchantRule").check({ definition: text })).failures;
    // The engine prints the value of the property that a fault names, and so all of a rule's text.
    expect(alone).toEqual(inSet.map(({ reason }) => ({ property: "", reason })));
    expect(inSet.every(({ property }) => property === "rules.a")).toBe(true);
    return inSet.map(({ reason }) => reason);
  };

  test.each([
    ["no JSON", '{\n  "name": x\n}', /^the JSON text at line 2, column 11: is not JSON: Unexpected token/],
    ["a cut text", '{"name": "a"', /^the JSON text at line 1, column 13: is not JSON/],
    ["nothing", "", /^the JSON text at line 1, column 1: is not JSON/],
    ["a trailing comma", '{\n"name": "a",\n}', /^the JSON text at line 3, column 1: is not JSON/],
    ["a list", "[]", /^the JSON text holds no object/],
    ["a number", "12", /^the JSON text holds no object/],
    ["a field twice", '{\n  "name": "a",\n  "name": "b"\n}', /line 3, column 3: declares a field a second time$/],
    ["a field twice inside", '{"a": [{"b": 1, "\\u0062": 2}]}', /line 1, column 17: declares a field a second time$/],
    ["half a surrogate pair", '{"name": "\\ud800"}', /line 1, column 2: name holds half a surrogate pair/],
    [
      "a field that objects cannot have",
      '{"name": "a", "__proto__": {"a": 1}}',
      /column 15: __proto__ cannot be declared/,
    ],
  ])("%s", async (_, text, reason) => {
    expect(await failuresOf(text)).toEqual([expect.stringMatching(reason)]);
  });

  test("what the schema does not want", async () => {
    const text = JSON.stringify(rule(1, { priority: "high" }), null, 2);
    const reasons = await failuresOf(text, contractOf({ schema: onlyNumbers }));
    expect(reasons).toEqual([expect.stringMatching(/^the JSON text at line 3, column 3: priority .*number/)]);
  });

  test("a secret of the contract, without its value, and with the way on", async () => {
    const contract = contractOf({ secret: ["/metadata/pin"] });
    const reasons = await failuresOf(JSON.stringify(rule(1, { metadata: { pin: "hush" } })), contract);
    expect(reasons).toEqual([
      expect.stringMatching(/metadata\.pin is secret by the contract.*Declare this rule as an object$/),
    ]);
    expect(reasons.join()).not.toContain("hush");
    const { host } = await open(contract);
    const without = { rules: { a: JSON.stringify(rule(1)), b: rule(2, { metadata: { pin: "hush" } }) } };
    expect((await host.check(without)).failures).toEqual([]);
  });

  test("but not a number for its length", async () => {
    const texts = ["12345678901234.567", "9007199254740993"].map((number) => `{"name":"a","priority":${number}}`);
    for (const text of texts) expect(await failuresOf(text, contractOf({ schema: onlyNumbers }))).toEqual([]);
  });

  test("but not a text for its length", async () => {
    const { host } = await open();
    const text = JSON.stringify(rule(1, { note: "x".repeat(11_000_000), other: '\\"'.repeat(1_000_000) }));
    expect((await host.as("merchantRule").check({ definition: text })).failures).toEqual([]);
    expect((await host.check({ rules: { a: text.slice(0, -1), b: rule(2) } })).failures).toHaveLength(1);
  });

  test("but not a text that the preview does not know yet", async () => {
    const { host } = await open();
    expect((await host.check({ rules: { a: unknownValue } })).failures).toEqual([]);
  });
});

test("a secret that appears at the service is no plain text in the state", async () => {
  const contract = contractOf({ secret: ["/metadata/pin"] });
  const served = await serve(contract);
  const hooks = hooksHere("merchantRuleSet", sessionOf(served.environment));
  const text = JSON.stringify(rule(1, { metadata: { pin: null } }));
  const { id, outs } = await hooks.create({ rules: { a: text, b: rule(2) } });
  served.service.put(String(Object(outs.ruleIds).a), rule(1, { metadata: { pin: "hush" } }));
  const later = hooksHere("merchantRuleSet", sessionOf(served.environment));
  const read = await later.read(id, outs);
  expect(definitionsOf(Object(read.props.rules)).a).toEqual(rule(1, { metadata: { pin: "hush" } }));
  expect(typeof Object(read.props.rules).a).toBe("object");
  // An object would round the number, and of a text no value can be hidden by itself.
  const exact = '{"name":"rule-1","metadata":{"pin":"hush"},"limit":12345678901234.567}';
  expect(inFormOf({}, Object(parseJson(exact)), ["/metadata/pin"])).toEqual(secretOf(exact));
});

test("a set of more than 2,000 objects is told once a run what texts would save, a set of texts never", async () => {
  const { host, another } = await open();
  const rules = many(2001);
  for (const name of ["one", "two"]) await host.check({ ...resource(name, { rules }) });
  expect(host.stderr).toMatch(/^one: 2001 rules are declared as objects\. .*ruleTexts\(rules\).*$/);
  const { r0: _, ...fewer } = rules;
  const quiet = await another();
  await quiet.check(resource("one", { rules: fewer }));
  await quiet.check(resource("two", { rules: ruleTexts(rules) }));
  expect(quiet.stderr).toBe("");
});

describe("ruleTexts", () => {
  test("turns plain definitions into canonical texts, and leaves the others as they are", () => {
    const hidden = { name: "hidden", pin: secret("1") };
    const later = { name: "later", limit: Promise.resolve(1) };
    expect(ruleTexts<object>({ a: { b: 1, a: [{ d: undefined, c: 2 }] }, hidden, later })).toEqual({
      a: '{"a":[{"c":2}],"b":1}',
      hidden,
      later,
    });
    expect(ruleTexts({ a: '{ "b": 1 }' })).toEqual({ a: '{ "b": 1 }' });
    expect(() => ruleTexts({ a: { at: new Date(0) } })).toThrow("rules.a.at holds a Date, which is not JSON");
  });

  test("loses nothing: the definitions come back", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ noUnicodeString: false })), (definition) => {
        const plain: JsonObject = JSON.parse(JSON.stringify(definition));
        // A field of this name cannot be declared.
        if (JSON.stringify(plain).includes('"__proto__"')) return;
        const [text] = Object.values(ruleTexts({ a: plain }));
        expect(typeof text).toBe("string");
        expect(definitionsOf({ a: text })).toEqual({ a: plain });
      }),
    );
  });
});

test("the types are as declared", () => {
  interface Limit {
    name: string;
    priority: number;
  }
  const limit: Limit = { name: "a", priority: 1 };
  const text = JSON.stringify(limit);
  const texts = () => new MerchantRuleSet<Limit>(name, { rules: { a: text } });
  expectTypeOf(texts).returns.toEqualTypeOf<MerchantRuleSet<Limit>>();
  const typed = () => new MerchantRuleSet<Limit>(name, { rules: { a: limit, b: text } });
  const rules = () => typed().rules;
  expectTypeOf(rules).returns.toEqualTypeOf<Output<Record<string, Limit | string>>>();
  const definitions = () => typed().definitions;
  expectTypeOf(definitions).returns.toEqualTypeOf<Output<Record<string, Limit>>>();
  const made = () => new MerchantRuleSet<Limit>(name, { rules: ruleTexts({ a: limit }) });
  const loose = () => new MerchantRuleSet(name, { rules: ruleTexts({ a: limit }) });
  const alone = () => new MerchantRule(name, { definition: text }).definition;
  expectTypeOf(alone).returns.toEqualTypeOf<Output<string>>();
  for (const each of [made, loose]) expectTypeOf(each).toBeFunction();
});
