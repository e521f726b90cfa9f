import { expect, test } from "vitest";
import type { ContractInput } from "../../sdk/contract/index.ts";
import { rule } from "../support/connections.ts";
import { contractOf, failureOf, open, ownedBy } from "../worlds/world.ts";

const contracts: [string, ContractInput][] = [
  ["no mark", contractOf()],
  ["a mark", contractOf({ rule: { owner: { at: "/metadata/managedBy" } } })],
];

test.each(contracts)(
  "a set that takes a rule over while the set that gives it up waits with its delete keeps it, under a contract with %s",
  async (_case, contract) => {
    const world = await open({ contract });
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
    const world = await open({ contract });
    const first = await world.host("merchantRuleSet");
    const from = await first.create({ rules: { a: rule(1), b: rule(2) }, ...ownedBy("shop/test/from") });
    const host = await world.host("merchantRuleSet");
    world.service.faults.set({ kind: "hold", operations: ["delete"], times: 1 });
    const leaving = host.delete(from.id, from.outs);
    const held = await world.service.faults.nextHeld();
    const single = host.as("merchantRule");
    const arriving = single.create({ definition: rule(2), ...ownedBy("shop/test/b") });
    const outcome = await Promise.race([arriving.then(() => "taken over"), failureOf(arriving).catch(() => "refused")]);
    held.release();
    await leaving;
    if (outcome === "taken over") expect(world.service.rules()).toHaveLength(1);
  },
);

test.each(contracts)(
  "a create that waits to hear whose a rule is, and hears that it is being deleted, makes the rule, under a contract with %s",
  async (_case, contract) => {
    const world = await open({ contract });
    const first = await world.host("merchantRuleSet");
    const owner = "shop/test/from";
    const from = await first.create({ rules: { a: rule(1), stays: rule(8) }, ...ownedBy(owner) });
    const host = await world.host("merchantRuleSet");
    const single = host.as("merchantRule");
    world.service.faults.set({ kind: "hold", operations: ["delete"], times: 1 });
    world.asked();
    const arriving = single.create({ definition: rule(1), ...ownedBy("shop/test/single") });
    // The list has shown the rule; nobody has said yet that it is given up.
    await expect.poll(() => world.service.requests.map(({ operation }) => operation)).toContain("list");
    await new Promise((resolve) => setTimeout(resolve, 30));
    const after = { rules: { stays: rule(8) }, ...ownedBy(owner) };
    await host.diff(from.id, from.outs, after);
    const leaving = host.update(from.id, from.outs, after);
    const gone = world.service.faults.nextHeld().then((held) => held.release());
    const made = await arriving;
    await Promise.race([gone, leaving]);
    await leaving;
    expect(world.service.rules().map(({ ruleId }) => ruleId)).toContain(made.id);
    expect(world.service.rules()).toHaveLength(2);
  },
);
