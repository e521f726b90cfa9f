import { describe, expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { openWorld, writesOf } from "../../support/stack/hooks.ts";
import { failureOf } from "../../support/stack/hosts.ts";

const declared = { a: rule(1), b: rule(2), c: rule(3) };
const changed = { rules: { ...declared, a: rule(1, { priority: 99 }) } };

/** Rules at one service, and a second service that has others. */
async function twoServices() {
  const [from, to] = [await openWorld(), await openWorld()];
  const { id, outs } = await (await from.host("merchantRuleSet")).create({ rules: declared });
  to.service.put(undefined, rule(7));
  const before = from.service.rules();
  from.service.resetRequests();
  return { from, to, id, outs, before };
}

describe("another address", () => {
  test("does not make a destroy empty the state: it fails, and names the place and the words for it", async () => {
    const { from, to, id, outs, before } = await twoServices();
    const host = await to.host("merchantRuleSet");
    const { message } = await failureOf(host.delete(id, outs));
    expect(message).toContain(
      `none of the 3 rules that were looked for can be seen over connection "default" (${to.service.url})`,
    );
    expect(message).toContain("MERCHANT_RULES_ACCEPT_ALL_GONE=true");
    expect(message).toContain("MERCHANT_RULES_MOVED=true");
    expect(writesOf(to)).toEqual([]);
    expect(from.service.rules()).toEqual(before);
  });

  test("does not make a resource of one rule count as deleted", async () => {
    const [from, to] = [await openWorld(), await openWorld()];
    const { id, outs } = await (await from.host()).create({ definition: rule(1) });
    expect((await failureOf((await to.host()).delete(id, outs))).message).toContain(to.service.url);
    expect((await failureOf((await to.host()).read(id, outs))).message).toContain(to.service.url);
    expect(from.service.rules()).toHaveLength(1);
  });

  test("does not make a set forget a rule that is changed", async () => {
    const { from, to, id, outs, before } = await twoServices();
    const failure = await failureOf((await to.host("merchantRuleSet")).update(id, outs, changed));
    expect(failure.partial).toBeUndefined();
    expect(failure.message).toContain(to.service.url);
    expect(writesOf(to)).toEqual([]);
    const back = await (await from.host("merchantRuleSet")).update(id, outs, changed);
    expect(back.ruleIds).toEqual(outs.ruleIds);
    expect(from.service.rules()).toHaveLength(before.length);
  });

  test("is the new place of the rules when the user says so for one run, and from then on by itself", async () => {
    const { from, to, id, outs } = await twoServices();
    const moving = await to.host("merchantRuleSet", { MERCHANT_RULES_MOVED: "true" });
    const { props } = await moving.read(id, outs);
    expect(props.ruleIds).toEqual({});
    const moved = await moving.update(id, props, changed);
    expect(writesOf(to)).toEqual(["create", "create", "create"]);
    expect(to.names()).toEqual(["rule-1", "rule-2", "rule-3", "rule-7"]);
    await (await to.host("merchantRuleSet")).delete(id, moved);
    expect(to.names()).toEqual(["rule-7"]);
    expect(writesOf(from)).toEqual([]);
  });

  test("to which the rules went with their ids, and were changed there, is written when the user says so for one run", async () => {
    const { from, to, id, outs } = await twoServices();
    for (const { ruleId } of from.service.rules()) to.service.put(ruleId, rule(50, { name: `moved ${ruleId}` }));
    await failureOf((await to.host("merchantRuleSet")).update(id, outs, changed));
    const moving = await to.host("merchantRuleSet", { MERCHANT_RULES_MOVED: "true" });
    const moved = await moving.update(id, outs, {
      rules: { a: changed.rules.a, b: rule(2, { priority: 5 }), c: rule(3, { priority: 6 }) },
    });
    expect(to.names()).toEqual(["rule-1", "rule-2", "rule-3", "rule-7"]);
    await (await to.host("merchantRuleSet")).delete(id, moved);
    expect(to.service.rules()).toHaveLength(1);
  });

  test("of the same service goes on by itself, because the rules are seen there", async () => {
    const world = await openWorld();
    const { id, outs } = await (await world.host("merchantRuleSet")).create({ rules: declared });
    const renamed = { MERCHANT_RULES_BASE_URL: world.service.url.replace("127.0.0.1", "localhost") };
    const host = await world.host("merchantRuleSet", renamed);
    expect((await host.read(id, outs)).props).toEqual(outs);
    const next = await host.update(id, outs, changed);
    expect(world.service.rules()).toHaveLength(3);
    await (await world.host("merchantRuleSet", renamed)).delete(id, next);
    expect(world.service.rules()).toEqual([]);
  });

  test("with a slash at its end is the same address", async () => {
    const world = await openWorld();
    const { id, outs } = await (await world.host("merchantRuleSet")).create({ rules: { a: rule(1), b: rule(2) } });
    world.service.remove(world.service.rules()[0]?.ruleId ?? "");
    const host = await world.host("merchantRuleSet", { MERCHANT_RULES_BASE_URL: `${world.service.url}/` });
    await host.delete(id, outs);
    expect(world.service.rules()).toEqual([]);
  });
});
