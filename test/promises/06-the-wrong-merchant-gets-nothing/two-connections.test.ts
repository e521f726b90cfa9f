import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf, merchants } from "../../support/stack/contracts.ts";
import { openWorld, startHost, type World } from "../../support/stack/hooks.ts";
import { type Host, ownedBy } from "../../support/stack/hosts.ts";

function hostOf(world: World): Promise<Host> {
  const baseUrl = world.service.url;
  const connections = Object.fromEntries(merchants.map(({ name, token }) => [name, { baseUrl, token }]));
  const config = { "merchant-rules:connections": JSON.stringify(connections) };
  const { MERCHANT_RULES_CONTRACT = "" } = world.environment;
  return startHost({ MERCHANT_RULES_CONTRACT }, "merchantRule", config);
}

const contracts: [string, ReturnType<typeof contractOf>][] = [
  ["a natural key", contractOf()],
  ["no natural key", contractOf({ rule: { naturalKey: null } })],
  ["marks", contractOf({ rule: { owner: { at: "/managedBy" } } })],
];

test.each(contracts)(
  "rule 1 of one connection is not rule 1 of the other, under a contract with %s",
  async (_case, contract) => {
    const world = await openWorld({ contract, merchants, ruleIds: "sequential" });
    const [acme, globex] = [world.service.of("acme"), world.service.of("globex")];
    const inputs = (connection: string, k: number, changes = {}) => ({
      definition: rule(k, changes),
      connection,
      ...ownedBy(`shop/test/${connection}-${k}`),
    });
    const first = await hostOf(world);
    const [a1, g1] = [await first.create(inputs("acme", 1)), await first.create(inputs("globex", 1))];
    const [a2, g2] = [await first.create(inputs("acme", 2)), await first.create(inputs("globex", 2))];
    expect([a1.id, g1.id, a2.id, g2.id]).toEqual(["1", "1", "2", "2"]);

    const host = await hostOf(world);
    expect(await host.diff(g1.id, g1.outs, inputs("globex", 1))).toMatchObject({ changes: "none" });
    await host.delete(a1.id, a1.outs);
    expect([acme.rules().length, globex.rules().length]).toEqual([1, 2]);
    const changed = await host.update(g1.id, g1.outs, inputs("globex", 1, { priority: 99 }));
    expect(globex.rules()[0]?.rule.priority).toBe(99);
    const again = await host.create(inputs("acme", 3));
    expect(again.id).toBe("3");
    await host.delete(g1.id, changed);
    await host.delete(g2.id, g2.outs);
    expect([acme.rules().length, globex.rules().length]).toEqual([2, 0]);
    const seen = await host.read(a2.id, a2.outs);
    expect(seen).toMatchObject({ id: "2", inputs: { definition: rule(2) } });
  },
);

test("a rule that changes its connection is made at the one and deleted at the other, though both call it rule 1", async () => {
  const world = await openWorld({ merchants, ruleIds: "sequential" });
  const host = await hostOf(world);
  const old = await host.create({ definition: rule(1), connection: "acme" });
  const next = await hostOf(world);
  const moved = { definition: rule(1), connection: "globex" };
  expect(await next.diff(old.id, old.outs, moved)).toMatchObject({ replaces: ["connection"] });
  expect(await next.create(moved)).toMatchObject({ id: "1" });
  await next.delete(old.id, old.outs);
  expect([world.service.of("acme").rules().length, world.service.of("globex").rules().length]).toEqual([0, 1]);
});
