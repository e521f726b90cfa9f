import { expect, test } from "vitest";
import { many } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { openWorld } from "../../support/stack/hooks.ts";
import { failureOf } from "../../support/stack/hosts.ts";

test.each([
  ["a list", contractOf()],
  ["no list", contractOf({ operations: { list: null } })],
])(
  "a destroy of 12 rules that fails in part says what is so, and the second one is quiet and succeeds, under a contract with %s",
  async (_case, contract) => {
    const world = await openWorld({ contract });
    const rules = many(12);
    const { id, outs } = await (await world.host("merchantRuleSet")).create({ rules });
    world.service.faults.set({ kind: "status", status: 403, operations: ["delete"], request: 3, times: 5 });
    const { message } = await failureOf((await world.host("merchantRuleSet")).delete(id, outs));
    expect(message).toMatch(/5 of 12 rules failed; the others are deleted, but all of them are still in the state/);
    expect(message).toContain("run `pulumi destroy` again");
    expect(world.service.rules()).toHaveLength(5);
    world.service.resetRequests();
    const host = await world.host("merchantRuleSet");
    await host.delete(id, outs);
    expect(world.service.rules()).toEqual([]);
    expect(host.stderr).toBe("");
    expect(world.service.requestCount("delete")).toBe(12);
  },
);

test("an up --refresh after a destroy that failed in part makes again what was deleted", async () => {
  const world = await openWorld();
  const rules = many(12);
  const { id, outs } = await (await world.host("merchantRuleSet")).create({ rules });
  world.service.faults.set({ kind: "status", status: 403, operations: ["delete"], request: 3, times: 5 });
  const { message } = await failureOf((await world.host("merchantRuleSet")).delete(id, outs));
  expect(message).toContain("`pulumi up --refresh`");
  const host = await world.host("merchantRuleSet");
  const seen = await host.read(id, outs);
  await host.update(id, seen.props, { rules });
  expect(world.service.rules()).toHaveLength(12);
});
