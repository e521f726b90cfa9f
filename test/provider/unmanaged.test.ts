import { describe, expect, test } from "vitest";
import { rule } from "../support/rules.ts";
import { openWorld } from "../support/stack/hooks.ts";
import { failureOf, resource } from "../support/stack/hosts.ts";

const abc = { a: rule(1), b: rule(2), c: rule(3) };
const report = (ruleId: string): string => `1 rule at the service is not in the set: "rule-50" (${ruleId})`;

describe("rules that nobody declares are looked for", () => {
  test.each(["warn", "fail"])("although the set does not change (%s)", async (onUnmanaged) => {
    const world = await openWorld();
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
    const world = await openWorld();
    const { id, outs } = await (await world.host("merchantRuleSet")).create(resource("all", { rules: abc }));
    const stray = world.service.put(undefined, rule(50));
    const host = await world.host("merchantRuleSet");
    const changed = resource("all", { rules: { ...abc, a: rule(1, { priority: 77 }) }, onUnmanaged: "fail" });
    expect((await failureOf(host.diff(id, outs, changed))).message).toContain(report(stray));
  });

  test("and not at all where the program does not ask", async () => {
    const world = await openWorld();
    const declared = resource("all", { rules: abc });
    const { id, outs } = await (await world.host("merchantRuleSet")).create(declared);
    world.asked();
    await (await world.host("merchantRuleSet")).diff(id, outs, declared);
    expect(world.asked()).toEqual([]);
  });

  test("in a preview without credentials: warn says that it could not look, fail fails", async () => {
    const world = await openWorld();
    const { id, outs } = await (await world.host("merchantRuleSet")).create(resource("all", { rules: abc }));
    const without = { MERCHANT_RULES_TOKEN: "" };
    const host = await world.host("merchantRuleSet", without);
    await host.diff(id, outs, resource("all", { rules: abc, onUnmanaged: "warn" }));
    expect(host.stderr).toMatch(/^rules that are not in the set could not be looked for: .*MERCHANT_RULES_TOKEN/);
    const { message } = await failureOf(host.diff(id, outs, resource("all", { rules: abc, onUnmanaged: "fail" })));
    expect(message).toContain("MERCHANT_RULES_TOKEN");
  });
});
