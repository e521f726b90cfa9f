import { describe, expect, test } from "vitest";
import { recoverId } from "../../../provider/merchant/words.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, list } from "../../support/stack/contracts.ts";
import { HookStack, openWorld, writesOf } from "../../support/stack/hooks.ts";
import { failureOf, ownerIdOf } from "../../support/stack/hosts.ts";

const contract = contractOf({
  rule: { gone: [{ at: "/status", is: ["deleted"] }], foreign: [{ at: "/managed", is: [true] }] },
});
const foreign = rule(1, { managed: true });

describe("rules that the service keeps after they were deleted (rule.gone)", () => {
  test("are deleted once, and made again under the same name by a rule of its own", async () => {
    const world = await openWorld({ contract });
    const stack = new HookStack(world);
    const declared = { a: { definition: rule(1) }, b: { definition: rule(2) } };
    expect(await stack.up(declared)).toEqual([]);
    expect(await stack.up({ b: declared.b })).toEqual([]);
    expect([world.service.rules().length, world.service.rows().length]).toEqual([1, 2]);
    world.service.resetRequests();
    expect(await stack.up(declared)).toEqual([]);
    expect(writesOf(world)).toEqual(["create"]);
    expect([world.service.rules().length, world.service.rows().length]).toEqual([2, 3]);
    expect(await stack.up({})).toEqual([]);
    expect([world.service.rules().length, world.service.rows().length]).toEqual([0, 3]);
  });

  test.each([
    ["a list", contract],
    ["no list", { ...contract, operations: { ...contract.operations, list: null } }],
  ])("are gone for a refresh, and the next run makes them again, under a contract with %s", async (_case, spoken) => {
    const world = await openWorld({ contract: spoken });
    const host = await world.host("merchantRuleSet");
    const { id, outs } = await host.create({ rules: { a: rule(1), b: rule(2) } });
    const ruleId = String(Object(outs.ruleIds).a);
    world.service.put(ruleId, rule(1, { status: "deleted" }));
    const next = await world.host("merchantRuleSet");
    const seen = await next.read(id, outs);
    expect(Object.keys(Object(seen.props.ruleIds))).toEqual(["b"]);
    await next.update(id, seen.props, { rules: { a: rule(1), b: rule(2) } });
    expect(world.service.rules()).toHaveLength(2);
    expect(world.service.rows()).toHaveLength(3);
  });

  test("are gone for the refresh of a resource of one rule, and for its delete", async () => {
    const world = await openWorld({ contract });
    const first = await world.host();
    const { id, outs } = await first.create({ definition: rule(1) });
    const other = await first.create({ definition: rule(2) });
    world.service.put(id, rule(1, { status: "deleted" }));
    const refreshing = await world.host();
    expect((await refreshing.read(other.id, other.outs)).id).toBe(other.id);
    expect((await refreshing.read(id, outs)).id).toBe("");
    const next = await world.host();
    await next.diff(other.id, other.outs, { definition: rule(2) });
    world.service.resetRequests();
    await next.delete(id, outs);
    expect(writesOf(world)).toEqual([]);
    expect(world.service.rows()).toHaveLength(2);
  });

  test("are neither found by adopt nor called unmanaged", async () => {
    const world = await openWorld({ contract });
    const dead = world.service.put(undefined, rule(1, { status: "deleted" }));
    const host = await world.host("merchantRuleSet");
    expect((await failureOf(host.create({ rules: { a: rule(1) }, adopt: { a: dead } }))).message).toContain(
      "is not there",
    );
    await host.create({ rules: { a: rule(1) }, onUnmanaged: "fail" });
    expect(world.service.rows()).toHaveLength(2);
    expect(world.service.rows()[0]).toEqual({ ruleId: dead, rule: rule(1, { status: "deleted" }) });
  });

  test("are changed by nobody: a set makes the rule anew, and the row stays as it is", async () => {
    const world = await openWorld({ contract });
    const { id, outs } = await (await world.host("merchantRuleSet")).create({ rules: { a: rule(1), b: rule(2) } });
    const dead = String(Object(outs.ruleIds).a);
    world.service.put(dead, rule(1, { status: "deleted" }));
    world.service.resetRequests();
    const changed = { rules: { a: rule(1, { priority: 9 }), b: rule(2) } };
    const next = await (await world.host("merchantRuleSet")).update(id, outs, changed);
    expect(writesOf(world)).toEqual(["create"]);
    expect(Object(next.ruleIds).a).not.toBe(dead);
    expect(world.service.rules().map(({ rule: { priority } }) => priority)).toEqual([2, 9]);
    expect(world.service.rows()).toContainEqual({ ruleId: dead, rule: rule(1, { status: "deleted" }) });
  });

  test("are changed by nobody: an update of a resource of one rule makes the rule anew", async () => {
    const world = await openWorld({ contract });
    const stack = new HookStack(world);
    const declared = { a: { definition: rule(1) }, b: { definition: rule(2) } };
    expect(await stack.up(declared)).toEqual([]);
    const dead = stack.state.find(({ name }) => name === "a")?.id ?? "";
    world.service.put(dead, rule(1, { status: "deleted" }));
    expect(await stack.up({ ...declared, a: { definition: rule(1, { priority: 9 }) } })).toEqual([]);
    expect(world.service.rules().map(({ rule: { priority } }) => priority)).toEqual([2, 9]);
    expect(world.service.rows()).toContainEqual({ ruleId: dead, rule: rule(1, { status: "deleted" }) });
  });
});

describe("the service's own rules (rule.foreign)", () => {
  test.each([
    ["without a word", {}, {}],
    ["with adopt: true", { adopt: true }, {}],
    ["with recover", {}, { MERCHANT_RULES_RECOVER: recoverId(ownerIdOf("")) }],
  ])("are not taken over %s", async (_case, adopt, environment) => {
    const world = await openWorld({ contract });
    world.service.put(undefined, foreign);
    const host = await world.host("merchantRule", environment);
    const { message } = await failureOf(host.create({ definition: foreign, ...adopt }));
    expect(message).toContain("is the service's own (rule.foreign)");
    expect(message).not.toContain("add adopt");
    expect(writesOf(world)).toEqual([]);
  });

  test("are not taken over by their id", async () => {
    const world = await openWorld({ contract });
    const existing = world.service.put(undefined, foreign);
    const { message } = await failureOf((await world.host()).create({ definition: foreign, adopt: existing }));
    expect(message).toContain("the service's own");
    expect(writesOf(world)).toEqual([]);
  });

  test("are neither changed nor deleted, where a rule became one", async () => {
    const world = await openWorld({ contract });
    const { id, outs } = await (await world.host()).create({ definition: rule(1) });
    world.service.put(id, foreign);
    const changed = { definition: rule(1, { priority: 9 }) };
    expect((await failureOf((await world.host()).update(id, outs, changed))).message).toContain("the service's own");
    const host = await world.host();
    await host.delete(id, outs);
    expect(host.stderr).toContain("is the service's own (rule.foreign), and is not deleted");
    expect(world.service.rules()).toEqual([{ ruleId: id, rule: foreign }]);
  });

  test("are not called unmanaged", async () => {
    const world = await openWorld({ contract });
    world.service.put(undefined, foreign);
    world.service.put(undefined, rule(7, { status: "deleted" }));
    const host = await world.host("merchantRuleSet");
    const { id, outs } = await host.create({ rules: { b: rule(2) }, onUnmanaged: "fail" });
    await host.read(id, outs);
    await (await world.host("merchantRuleSet")).update(id, outs, { rules: {}, onUnmanaged: "fail" });
    world.service.put("x", rule(3));
    const { message } = await failureOf(
      (await world.host("merchantRuleSet")).create({ rules: {}, onUnmanaged: "fail" }),
    );
    expect(message).toContain(`1 rule at the service is not in the set: "rule-3" (x)`);
  });

  test("leave a rule of the same name possible where the service allows it", async () => {
    const world = await openWorld({
      contract: { ...contract, operations: { ...contract.operations, list } },
      allowDuplicates: true,
    });
    world.service.put(undefined, foreign);
    expect((await failureOf((await world.host()).create({ definition: rule(1) }))).message).toContain(
      "another natural key",
    );
    expect(world.service.rules()).toHaveLength(1);
  });
});
