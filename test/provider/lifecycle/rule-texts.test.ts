import { describe, expect, test } from "vitest";
import { definitionsOf, field, type JsonObject, parseJson } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { type Declared, onBothEngines } from "../../support/stack/engines.ts";
import { openStack, type Place } from "../../support/stack/place.ts";

const objects = { a: rule(1), b: rule(2), c: rule(3) };
const text = (definition: JsonObject): string => JSON.stringify(definition);
const texts = { a: text(rule(1)), b: text(rule(2)), c: text(rule(3)) };

const withSecretText = `
import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { MerchantRuleSet } from "pulumi-merchant-rules";
const { all: { a, ...others } } = JSON.parse(readFileSync(new URL("rules.json", import.meta.url), "utf8"));
const set = new MerchantRuleSet("all", { rules: { a: pulumi.secret(a), ...others } });
export const definitions = set.definitions;
export const shown = pulumi.unsecret(set.definitions).apply(({ a, ...others }) => others);
`;

onBothEngines((engine) => {
  test("a change of the form alone is no change, and the change after it is shown by its path", async () => {
    const { place, stack } = await openStack(engine);
    await stack.up({ all: { rules: objects }, one: { definition: rule(4) } });
    place.writes();

    stack.declare({ all: { rules: texts }, one: { definition: text(rule(4)) } });
    await stack.isUnchanged();
    await stack.succeeds("up");
    await stack.isUnchanged();
    expect(place.writes()).toEqual([]);
    expect(stack.resources("MerchantRuleSet")[0]?.inputs.rules).toEqual(texts);

    const changed = { ...texts, b: text(rule(2, { priority: 20, tags: ["x"] })) };
    stack.declare({ all: { rules: changed }, one: { definition: text(rule(4, { priority: 40 })) } });
    const { output } = await stack.succeeds("preview", { diff: true });
    // Rule by rule and path by path, and nothing of the rules that stay.
    expect(output).toContain("~ rules.b.priority");
    expect(output).toMatch(/\(json\)[\s\S]*priority *: 2 => 20/);
    expect(output).toMatch(/\(json\)[\s\S]*priority *: 4 => 40/);
    expect(output).not.toMatch(/rule-[13]/);
    await stack.succeeds("up");
    expect(place.service.rules().map((live) => live.rule)).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: "rule-2", priority: 20, tags: ["x"] })]),
    );
    await stack.isUnchanged();

    // Drift is seen, shown by its path, and healed.
    const [drifted] = place.service.rules().filter(({ rule: { name } }) => name === "rule-3");
    place.service.put(drifted?.ruleId, { ...drifted?.rule, priority: 33 });
    const refreshed = await stack.run("refresh", { previewOnly: true, diff: true });
    expect(refreshed.output).toMatch(/\(json\)[\s\S]*priority *: 3 => 33/);
    await stack.succeeds("up", { refresh: true });
    expect(place.service.rules().find(({ ruleId }) => ruleId === drifted?.ruleId)?.rule.priority).toBe(3);

    // Back to objects.
    const back = definitionsOf(changed);
    stack.declare({ all: { rules: back }, one: { definition: rule(4, { priority: 40 }) } });
    place.writes();
    await stack.isUnchanged();
    await stack.succeeds("destroy");
    expect(place.service.rules()).toEqual([]);
  }, 120_000);

  test("a text that is a Pulumi secret is hidden whole, and a set gives the definitions of all forms", async () => {
    const { place, stack } = await openStack(engine, {}, { program: withSecretText });
    const declare = (reason: string): void =>
      stack.project.declare({ all: { a: text(rule(1, { reason })), b: rule(2), c: text(rule(3)) } });
    declare("hush-1");
    const outputs = [(await stack.succeeds("up")).output];
    expect(place.service.rules().find(({ rule: { name } }) => name === "rule-1")?.rule.reason).toBe("hush-1");
    expect(stack.outputs().shown).toEqual({ b: rule(2), c: rule(3) });
    declare("hush-2");
    const changed = await stack.succeeds("preview", { diff: true });
    expect(changed.output).toContain("~ rules.a.reason");
    outputs.push(changed.output, (await stack.succeeds("up", { diff: true })).output);
    const [live] = place.service.rules().filter(({ rule: { name } }) => name === "rule-1");
    place.service.put(live?.ruleId, { ...live?.rule, reason: "hush-3" });
    outputs.push((await stack.succeeds("refresh", { diff: true })).output);
    const { output } = await stack.succeeds("preview", { diff: true });
    expect(output).toContain("~ rules.a.reason");
    for (const each of [...outputs, output, stack.project.state()]) expect(each).not.toContain("hush");
  }, 120_000);

  test("a text that cannot be a rule is refused with its resource, key, line and column", async () => {
    const { place, stack } = await openStack(engine);
    const refusals: [Declared, RegExp][] = [
      [
        { all: { rules: { a: '{\n  "name": "a",\n  "name": "hush"\n}' } } },
        /all[\s\S]*rules\.a.*line 3, column 3: declares a/,
      ],
      [{ one: { definition: '{"name": "hush", }' } }, /one[\s\S]*line 1, column 18: is not JSON/],
    ];
    for (const [declared, reason] of refusals) {
      stack.declare(declared);
      const { output } = await stack.fails("preview", {}, reason);
      expect(output).not.toContain("hush");
    }
    expect(place.writes()).toEqual([]);
  });
});

describe("numbers that a double rounds", () => {
  const path = "/api/v1/merchants/rules/{ruleId}";
  const limit = (digits: string, name = "rule-1"): string => `{"name":"${name}","limit":${digits}}`;
  const stored = ({ service }: Place): string[] => service.rules().map((live) => JSON.stringify(live.rule));
  const put = ({ service }: Place, text: string): string => {
    const definition = parseJson(text);
    const live = service.rules().find(({ rule: { name } }) => name === field(Object(definition), "name"));
    return service.put(live?.ruleId, Object(definition));
  };

  test("go out of a text as they are written, are held as such, and a change of their last digit is a change", async () => {
    const { place, stack } = await openStack("local");
    const declared = (digits: string): Declared => ({
      one: { definition: limit(digits) },
      all: { rules: { a: limit(`${digits}00000000000000000001`, "rule-2") } },
    });
    await stack.up(declared("12345678901234.567"));
    const first = [limit("12345678901234.567"), limit("12345678901234.56700000000000000000001", "rule-2")];
    expect(stored(place)).toEqual(first);
    await stack.isUnchanged();
    await stack.hasNoDrift();
    put(place, limit("12345678901234.56700000000000000000002", "rule-2"));
    await stack.fails("refresh", { previewOnly: true, expectNoChanges: true });
    await stack.succeeds("up", { refresh: true });
    expect(stored(place)).toEqual(first);
    await stack.up(declared("12345678901234.568"));
    expect(stored(place)[0]).toBe(limit("12345678901234.568"));
    await stack.isUnchanged();
  });

  test("go back as they came where an update sends the live rule back, by PUT and by PATCH", async () => {
    for (const update of [
      { path, body: "merged" },
      { path, method: "PATCH", body: "changes" },
    ] as const) {
      const rules = { ...update, omit: ["/createdAt", "/updatedAt"] };
      const { place, stack } = await openStack("local", { contract: contractOf({ operations: { update: rules } }) });
      await stack.up({ one: { definition: { name: "rule-1", own: { priority: 1 } } } });
      put(place, '{"name":"rule-1","own":{"priority":1,"limit":1234567890123456.789}}');
      await stack.up({ one: { definition: { name: "rule-1", own: { priority: 2 } } } });
      expect(stored(place)).toEqual(['{"name":"rule-1","own":{"priority":2,"limit":1234567890123456.789}}']);
    }
  });

  test("are in the state as text where somebody puts one in place of what an object declares, and are put right", async () => {
    const { place, stack } = await openStack("local");
    const declared = { one: { definition: { name: "rule-1", limit: 5 } } };
    await stack.up(declared);
    put(place, limit("9007199254740993"));
    await stack.succeeds("refresh");
    expect(stack.resources("MerchantRule")[0]?.outputs.definition).toBe('{"limit":9007199254740993,"name":"rule-1"}');
    await stack.up(declared);
    expect(place.definitions()).toEqual([declared.one.definition]);
    await stack.isUnchanged();
  });
});
