import { describe, expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { openWorld, type World } from "../../support/stack/hooks.ts";
import { failureOf } from "../../support/stack/hosts.ts";

const rules = { a: rule(1), b: rule(2), c: rule(3), d: rule(4), e: rule(5) };
const contracts: [string, ReturnType<typeof contractOf>][] = [
  ["a list", contractOf()],
  ["no list", contractOf({ operations: { list: null }, rule: { naturalKey: null } })],
];

function expectStopped(world: World, message: string): void {
  expect(message).toContain("the service seems to delete more than it is asked to");
  expect(message).toContain("operations.delete.identifyBy");
  expect(world.service.requestCount("delete")).toBe(1);
}

describe.each(contracts)("a delete that takes all rules, under a contract with %s", (_case, contract) => {
  test("ends the destroy of a set after the first delete", async () => {
    const world = await openWorld({ contract });
    const { id, outs } = await (await world.host("merchantRuleSet")).create({ rules });
    world.service.faults.set({ kind: "delete-all", times: "always" });
    const { message } = await failureOf((await world.host("merchantRuleSet")).delete(id, outs));
    expectStopped(world, message);
  });

  test("ends a run that removes two rules of a set, and nothing else is written", async () => {
    const world = await openWorld({ contract });
    const { id, outs } = await (await world.host("merchantRuleSet")).create({ rules });
    world.service.faults.set({ kind: "delete-all", times: "always" });
    const { d: _, e: __, ...left } = rules;
    const failure = await failureOf((await world.host("merchantRuleSet")).update(id, outs, { rules: left }));
    expectStopped(world, failure.message);
    // What the advice says: `pulumi up --refresh`, once the contract is right.
    world.service.faults.clear();
    const host = await world.host("merchantRuleSet", { MERCHANT_RULES_ACCEPT_ALL_GONE: "true" });
    const seen = await host.read(id, failure.partial?.properties ?? outs);
    await host.update(id, seen.props, { rules: left });
    expect(world.service.rules()).toHaveLength(3);
  });

  test("ends the destroy of five resources of one rule", async () => {
    const world = await openWorld({ contract });
    const first = await world.host();
    const made = await Promise.all(Object.values(rules).map((definition) => first.create({ definition })));
    world.service.faults.set({ kind: "delete-all", times: "always" });
    const host = await world.host();
    const ends = await Promise.allSettled(made.map(({ id, outs }) => host.delete(id, outs)));
    expect(world.service.requestCount("delete")).toBe(1);
    const messages = ends.flatMap((end) => (end.status === "rejected" ? [String(end.reason.message)] : []));
    expect(messages.length).toBeGreaterThan(0);
    for (const message of messages) expectStopped(world, message);
  });
});
