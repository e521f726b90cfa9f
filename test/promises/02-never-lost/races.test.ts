import { expect, test } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { openWorld, writesOf } from "../../support/stack/hooks.ts";
import { failureOf, ownedBy } from "../../support/stack/hosts.ts";

const contracts: [string, ContractInput][] = [
  ["no mark", contractOf()],
  ["a mark", contractOf({ rule: { owner: { at: "/metadata/managedBy" } } })],
];

test.each(contracts)(
  "a set that takes a rule over while the set that gives it up waits with its delete keeps it, under a contract with %s",
  async (_case, contract) => {
    const world = await openWorld({ contract });
    const first = await world.host("merchantRuleSet");
    const [__from, __to] = ["shop/test/from", "shop/test/to"];
    const from = await first.create({ rules: { a: rule(1), b: rule(2), stays: rule(8) }, ...ownedBy(__from) });
    const to = await first.create({ rules: { here: rule(9) }, ...ownedBy(__to) });
    const after = {
      from: { rules: { stays: rule(8) }, ...ownedBy(__from) },
      to: { rules: { b: rule(2), here: rule(9) }, ...ownedBy(__to) },
    };
    const host = await world.host("merchantRuleSet");
    await host.diff(from.id, from.outs, after.from);
    await host.diff(to.id, to.outs, after.to);
    world.service.faults.set({ kind: "hold", operations: ["delete"], times: 1 });
    const leaving = host.update(from.id, from.outs, after.from);
    // Rule 1 is being deleted; rule 2 waits for it.
    const held = await world.service.faults.nextHeld();
    const arrived = await host.update(to.id, to.outs, after.to);
    held.release();
    await leaving;
    const there = world.service.rules().map(({ ruleId }) => ruleId);
    expect(there).toContain(String(Object(arrived.ruleIds).b));
    expect(there).toHaveLength(3);
  },
);

test.each(contracts)(
  "a resource that takes a rule over while a destroy waits with its delete keeps it, under a contract with %s",
  async (_case, contract) => {
    const world = await openWorld({ contract });
    const first = await world.host("merchantRuleSet");
    const from = await first.create({ rules: { a: rule(1), b: rule(2) }, ...ownedBy("shop/test/from") });
    const host = await world.host("merchantRuleSet");
    world.service.faults.set({ kind: "hold", operations: ["delete"], times: 1 });
    const leaving = host.delete(from.id, from.outs);
    const held = await world.service.faults.nextHeld();
    const single = host.as("merchantRule");
    const arriving = single.create({ definition: rule(2), ...ownedBy("shop/test/b") });
    // Rule 1 is being deleted; rule 2 waits for it.
    const { id } = await arriving;
    held.release();
    await leaving;
    expect(world.service.rules()).toMatchObject([{ ruleId: id, rule: { name: "rule-2" } }]);
    expect(id).toBe(Object(from.outs.ruleIds).b);
  },
);

test.each(contracts)(
  "a create that looks for its rule while a set gives it up ends with that rule or a new one, under a contract with %s",
  async (_case, contract) => {
    const world = await openWorld({ contract });
    const first = await world.host("merchantRuleSet");
    const owner = "shop/test/from";
    const from = await first.create({ rules: { a: rule(1), stays: rule(8) }, ...ownedBy(owner) });
    const host = await world.host("merchantRuleSet");
    world.service.faults.set({ kind: "hold", operations: ["list"], times: 1 });
    const arriving = host.as("merchantRule").create({ definition: rule(1), ...ownedBy("shop/test/single") });
    const held = await world.service.faults.nextHeld();
    const after = { rules: { stays: rule(8) }, ...ownedBy(owner) };
    await host.diff(from.id, from.outs, after);
    const leaving = host.update(from.id, from.outs, after);
    held.release();
    const [made] = await Promise.all([arriving, leaving]);
    expect(world.service.rules().map(({ ruleId }) => ruleId)).toContain(made.id);
    expect(world.names()).toEqual(["rule-1", "rule-8"]);
  },
);

test("a create that hears too late that its rule is given up is refused, and by adopt it gets it in the next run", async () => {
  const world = await openWorld();
  const first = await world.host("merchantRuleSet");
  const owner = "shop/test/from";
  const from = await first.create({ rules: { a: rule(1), stays: rule(8) }, ...ownedBy(owner) });
  const ruleId = String(Object(from.outs.ruleIds).a);
  const single = { definition: rule(1), ...ownedBy("shop/test/single") };
  const after = { rules: { stays: rule(8) }, ...ownedBy(owner) };
  const { message } = await failureOf((await world.host()).create(single));
  expect(message).toContain(`add adopt: "${ruleId}"`);
  const host = await world.host();
  expect(await host.create({ ...single, adopt: ruleId })).toMatchObject({ id: ruleId });
  const set = host.as("merchantRuleSet");
  await set.diff(from.id, from.outs, after);
  await set.update(from.id, from.outs, after);
  expect(world.names()).toEqual(["rule-1", "rule-8"]);
  expect(writesOf(world).slice(2)).toEqual([]);
});
