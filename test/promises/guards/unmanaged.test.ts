import { describe, expect, test } from "vitest";
import { shardOf } from "../../../provider/sharded-merchant-rule-set.ts";
import type { JsonObject } from "../../../sdk/rules/index.ts";
import { rule } from "../../support/connections.ts";
import { resource } from "../../support/hosts.ts";
import { failureOf, open, type World, writesOf } from "../worlds/world.ts";

const abc = { a: rule(1), b: rule(2), c: rule(3) };
const report = (ruleId: string): string => `1 rule at the service is not in the set: "rule-50" (${ruleId})`;

describe("rules that nobody declares are looked for", () => {
  test.each(["warn", "fail"])("although the set does not change (%s)", async (onUnmanaged) => {
    const world = await open();
    const declared = resource("all", { rules: abc, onUnmanaged });
    const { id, outs } = await (await world.host("merchantRuleSet")).create(declared);
    const stray = world.service.put(undefined, rule(50));
    world.asked();
    const host = await world.host("merchantRuleSet");
    if (onUnmanaged === "fail")
      expect((await failureOf(host.diff(id, outs, declared))).message).toContain(report(stray));
    else {
      expect(await host.diff(id, outs, declared)).toMatchObject({ changes: "none" });
      expect(host.stderr).toBe(report(stray));
      await host.read(id, outs);
      await host.diff(id, outs, declared);
      expect(host.stderr).toBe(report(stray));
    }
    expect(world.asked()).toEqual(["list"]);
  });

  test("before a change is written", async () => {
    const world = await open();
    const { id, outs } = await (await world.host("merchantRuleSet")).create(resource("all", { rules: abc }));
    const stray = world.service.put(undefined, rule(50));
    const host = await world.host("merchantRuleSet");
    const changed = resource("all", { rules: { ...abc, a: rule(1, { priority: 77 }) }, onUnmanaged: "fail" });
    expect((await failureOf(host.diff(id, outs, changed))).message).toContain(report(stray));
  });

  test("and not at all where the program does not ask", async () => {
    const world = await open();
    const declared = resource("all", { rules: abc });
    const { id, outs } = await (await world.host("merchantRuleSet")).create(declared);
    world.asked();
    await (await world.host("merchantRuleSet")).diff(id, outs, declared);
    expect(world.asked()).toEqual([]);
  });

  test("in a preview without credentials: warn says that it could not look, fail fails", async () => {
    const world = await open();
    const { id, outs } = await (await world.host("merchantRuleSet")).create(resource("all", { rules: abc }));
    const without = { MERCHANT_RULES_TOKEN: "" };
    const host = await world.host("merchantRuleSet", without);
    await host.diff(id, outs, resource("all", { rules: abc, onUnmanaged: "warn" }));
    expect(host.stderr).toMatch(/^rules that are not in the set could not be looked for: .*MERCHANT_RULES_TOKEN/);
    const { message } = await failureOf(host.diff(id, outs, resource("all", { rules: abc, onUnmanaged: "fail" })));
    expect(message).toContain("MERCHANT_RULES_TOKEN");
  });
});

describe("the sets of a ShardedMerchantRuleSet", () => {
  const shards = 3;
  const rules = Object.fromEntries(Array.from({ length: 12 }, (_, k) => [`r${k}`, rule(k)]));
  const inputs = Array.from({ length: shards }, (_, shard): JsonObject => {
    const own = Object.entries(rules).filter(([key]) => shardOf(key, shards) === shard);
    const group = { __group: { [`shop/prod/all#${shards}`]: null } };
    const inputs = { rules: Object.fromEntries(own), onUnmanaged: "warn", allowEmpty: true, ...group };
    return resource(`all-${shard + 1}-of-${shards}`, inputs);
  });

  async function sets(world: World) {
    const host = await world.host("merchantRuleSet");
    return { host, states: await Promise.all(inputs.map((each) => host.create(each))) };
  }

  test("do not report each other's rules, and report a stray one once, for all of them", async () => {
    const world = await open();
    const { host: first, states } = await sets(world);
    expect(first.stderr).not.toContain("not in the set");
    const stray = world.service.put(undefined, rule(50));
    world.asked();

    const previewing = await world.host("merchantRuleSet");
    for (const [k, { id, outs }] of states.entries())
      expect(await previewing.diff(id, outs, inputs[k] ?? {})).toMatchObject({ changes: "none" });
    expect(previewing.stderr).toBe(report(stray));

    const refreshing = await world.host("merchantRuleSet");
    await Promise.all(states.map(({ id, outs }) => refreshing.read(id, outs)));
    expect(refreshing.stderr).toBe(report(stray));
    expect(writesOf(world)).toEqual([]);
    expect(world.asked()).toEqual(["list", "list"]);
  });

  test("say nothing where only some of them are asked: the others may have the rule", async () => {
    const world = await open();
    const { states } = await sets(world);
    world.service.put(undefined, rule(50));
    const host = await world.host("merchantRuleSet");
    const [{ id, outs } = { id: "", outs: {} }] = states;
    await host.diff(id, outs, inputs[0] ?? {});
    expect(host.stderr).toBe("");
  });
});
