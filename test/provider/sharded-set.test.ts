import * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { ShardedMerchantRuleSet } from "../../provider/index.ts";
import { shardOf } from "../../provider/sharded-merchant-rule-set.ts";
import type { JsonObject } from "../../sdk/rules/index.ts";
import { rule } from "../support/connections.ts";

interface Declared {
  readonly type: string;
  readonly name: string;
  readonly inputs: { rules?: JsonObject; adopt?: unknown; connection?: string };
}

type Rules = Record<string, JsonObject>;

const declared: Declared[] = [];

beforeAll(async () => {
  await pulumi.runtime.setMocks({
    newResource: ({ type, name, inputs }) => {
      declared.push({ type, name, inputs });
      return { id: `${name}-id`, state: { ...inputs, ruleIds: { [`in ${name}`]: "x" } } };
    },
    call: () => ({}),
  });
});

/** What the sets of a sharded set are declared with, by their names. */
async function setsOf(name: string, all: ShardedMerchantRuleSet): Promise<Record<string, Declared["inputs"]>> {
  await new Promise((resolve) => all.ruleIds.apply(resolve));
  const sets = declared.filter((each) => each.name.startsWith(`${name}-`) && each.type.endsWith(":MerchantRuleSet"));
  return Object.fromEntries(sets.map((each) => [each.name, each.inputs]));
}

const rules = Object.fromEntries(Array.from({ length: 40 }, (_, k) => [`r${k}`, rule(k)]));

describe("which set a key belongs to", () => {
  test("stays for ever", () => {
    // A rule that moves is a rule that is written: these figures must never change.
    expect(
      ["large-amounts", "r0", "r1", "Ü"].map((key) => [2, 20, 1000].map((shards) => shardOf(key, shards))),
    ).toEqual([
      [1, 5, 25],
      [0, 2, 742],
      [0, 8, 628],
      [0, 14, 494],
    ]);
  });

  test("is spread evenly", () => {
    const counts = new Array(20).fill(0);
    for (let k = 0; k < 10_000; k++) counts[shardOf(`rule-${k}`, 20)]++;
    expect(Math.min(...counts)).toBeGreaterThan(400);
    expect(Math.max(...counts)).toBeLessThan(600);
  });
});

describe("a sharded set", () => {
  test.each<[string, Rules | Promise<Rules> | pulumi.Output<Rules>]>([
    ["plain", rules],
    ["promised", Promise.resolve(rules)],
    ["output", pulumi.output("later").apply((): Rules => rules)],
  ])("puts every rule into one set: %s", async (name, given) => {
    const all = new ShardedMerchantRuleSet(name, { rules: given, shards: 4, connection: "main" });
    const sets = await setsOf(name, all);
    expect(Object.keys(sets).sort()).toEqual([1, 2, 3, 4].map((n) => `${name}-${n}-of-4`));
    for (const [set, inputs] of Object.entries(sets)) {
      const keys = Object.keys(rules).filter((key) => `${name}-${shardOf(key, 4) + 1}-of-4` === set);
      expect(inputs.rules).toEqual(Object.fromEntries(keys.map((key) => [key, rules[key]])));
      expect(inputs.connection).toBe("main");
    }
  });

  test("gives each set the ids that it takes over", async () => {
    const adopted = Object.entries({ r0: "id-0", r6: "id-6" });
    const byId = new ShardedMerchantRuleSet("named", { rules, shards: 2, adopt: Object.fromEntries(adopted) });
    const byKey = new ShardedMerchantRuleSet("looked-up", { rules, shards: 2, adopt: true });
    const sets = await setsOf("named", byId);
    for (const shard of [0, 1])
      expect(sets[`named-${shard + 1}-of-2`]?.adopt).toEqual(
        Object.fromEntries(adopted.filter(([key]) => shardOf(key, 2) === shard)),
      );
    expect(Object.values(await setsOf("looked-up", byKey)).map(({ adopt }) => adopt)).toEqual([true, true]);
  });

  test("has the outputs of all its sets", async () => {
    const { ruleIds, rules: seen } = new ShardedMerchantRuleSet("outputs", { rules, shards: 3 });
    const values = await new Promise((resolve) =>
      ruleIds.apply((ids) => seen.apply((definitions) => resolve([ids, definitions]))),
    );
    expect(values).toEqual([Object.fromEntries([1, 2, 3].map((n) => [`in outputs-${n}-of-3`, "x"])), rules]);
  });

  test("has the type of its definitions", () => {
    interface Limit {
      name: string;
    }
    const limits = new ShardedMerchantRuleSet<Limit>("typed", { rules: { a: { name: "a" } }, shards: 1 });
    expectTypeOf(limits.rules).toEqualTypeOf<pulumi.Output<Record<string, Limit>>>();
  });

  test.each([0, 1.5, -1, 1001, Number.NaN])("refuses %s sets", (shards) => {
    expect(() => new ShardedMerchantRuleSet("x", { rules, shards })).toThrow(
      `x: shards is ${shards}; a whole number from 1 to 1000 is needed`,
    );
  });

  test("refuses an empty folder, unless the program says that there may be no rules", () => {
    expect(() => new ShardedMerchantRuleSet("x", { rules: {}, shards: 2 })).toThrow("x: rules is empty");
    expect(() => new ShardedMerchantRuleSet("x", { rules: {}, shards: 2, allowEmpty: true })).not.toThrow();
  });

  test.each<[string, unknown, string]>([
    ["a Map", new Map(), "holds a Map, which is not JSON"],
    ["NaN in a definition", { a: { value: Number.NaN } }, "rules.a.value holds NaN, which is not JSON"],
    ["a key that would be lost", JSON.parse('{ "__proto__": { "name": "x" } }'), "cannot be declared"],
  ])("refuses %s", (_name, given, message) => {
    expect(() => Reflect.construct(ShardedMerchantRuleSet, ["x", { rules: given, shards: 2 }])).toThrow(message);
  });
});
