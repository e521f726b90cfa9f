import { describe, expect, test } from "vitest";
import { hashOfIdentity } from "../../../provider/reconcile/identity.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { asking, contractOf, merchants, otherToken, twoMerchants } from "../../support/stack/contracts.ts";
import { openWorld, startHost, type World, writesOf } from "../../support/stack/hooks.ts";
import { failureOf, type Host, ownedBy } from "../../support/stack/hosts.ts";

const declared = { a: rule(1), b: rule(2), c: rule(3) };
/** The name of their rules differs; all else may be as it is in ours. */
const theirs = (k: number, changes: JsonObject = {}): JsonObject => rule(k + 100, { name: `globex-${k}`, ...changes });

/** Both merchants have rules 1, 2 and 3; ours are in a state. */
async function bothMerchants(
  contract = contractOf(),
  theirRules = [theirs(1), theirs(2), theirs(3)],
  connected: JsonObject = {},
) {
  const world = await openWorld({ contract, ...twoMerchants });
  const host = await world.host("merchantRuleSet");
  const { id, outs } = await host.create({ rules: declared, ...connected });
  expect(Object.values(Object(outs.ruleIds)).sort()).toEqual(["1", "2", "3"]);
  for (const each of theirRules) world.service.of("globex").put(undefined, each);
  const before = { ours: world.service.rules(), theirs: world.service.of("globex").rules() };
  world.service.resetRequests();
  return { world, id, outs, before };
}

function expectUntouched(world: World, before: { ours: unknown; theirs: unknown }): void {
  expect(writesOf(world)).toEqual([]);
  expect({ ours: world.service.rules(), theirs: world.service.of("globex").rules() }).toEqual(before);
}

describe("the credentials of another merchant whose rules have the same ids", () => {
  test.each([
    ["a natural key", contractOf()],
    ["no natural key", contractOf({ rule: { naturalKey: null } })],
    ["no natural key and no list", contractOf({ operations: { list: null }, rule: { naturalKey: null } })],
  ])("change none of them, under a contract with %s", async (_case, contract) => {
    const { world, id, outs, before } = await bothMerchants(contract);
    const host = await world.host("merchantRuleSet", otherToken);
    const failure = await failureOf(host.update(id, outs, { rules: { ...declared, a: rule(1, { priority: 99 }) } }));
    expect(failure.message).toMatch(/connection "default".*check that address, credentials and parameters/s);
    expect(failure.partial).toBeUndefined();
    expectUntouched(world, before);
  });

  test.each([
    ["a natural key", contractOf()],
    ["no natural key", contractOf({ rule: { naturalKey: null } })],
    ["no natural key and no list", contractOf({ operations: { list: null }, rule: { naturalKey: null } })],
  ])("delete none of them, under a contract with %s", async (_case, contract) => {
    const { world, id, outs, before } = await bothMerchants(contract);
    const host = await world.host("merchantRuleSet", otherToken);
    const failure = await failureOf(host.delete(id, outs));
    expect(failure.message).toMatch(/connection "default".*check that address, credentials and parameters/s);
    expectUntouched(world, before);
  });

  test("do not change or delete the rule of a resource of one rule", async () => {
    const world = await openWorld({ ...twoMerchants });
    const { id, outs } = await (await world.host()).create({ definition: rule(1) });
    world.service.of("globex").put(undefined, theirs(1));
    const before = { ours: world.service.rules(), theirs: world.service.of("globex").rules() };
    world.service.resetRequests();
    const host = await world.host("merchantRule", otherToken);
    const changed = { definition: rule(1, { priority: 99 }) };
    expect((await failureOf(host.update(id, outs, changed))).message).toMatch(/rule 1 over connection "default"/);
    expect((await failureOf(host.delete(id, outs))).message).toMatch(/rule 1 over connection "default"/);
    expectUntouched(world, before);
  });

  test("do not make a refresh take their rules for drift", async () => {
    const { world, id, outs, before } = await bothMerchants();
    const host = await world.host("merchantRuleSet", otherToken);
    const { message } = await failureOf(host.read(id, outs));
    expect(message).toMatch(
      /rules [123], [123], [123] over connection "default" .* differs from what the state knows.*check that/s,
    );
    expect(message).not.toContain("globex-1");
    expectUntouched(world, before);
  });

  test("add no rule either, when the state knows rules that are not there", async () => {
    const { world, id, outs, before } = await bothMerchants();
    const host = await world.host("merchantRuleSet", otherToken);
    await failureOf(host.update(id, outs, { rules: { ...declared, d: rule(4) } }));
    expectUntouched(world, before);
  });

  test("write when the user says that it is right, for rules whose names somebody changed by hand", async () => {
    const { world, id, outs } = await bothMerchants();
    for (const k of [1, 2, 3]) world.service.put(String(k), rule(k, { name: `by hand ${k}` }));
    const changed = { rules: { ...declared, a: rule(1, { priority: 99 }) } };
    const { message } = await failureOf((await world.host("merchantRuleSet")).update(id, outs, changed));
    expect(message).toContain("MERCHANT_RULES_MOVED=true");
    expect(writesOf(world)).toEqual([]);
    const host = await world.host("merchantRuleSet", { MERCHANT_RULES_MOVED: "true" });
    await host.update(id, outs, changed);
    const ruleId = String(Object(outs.ruleIds).a);
    expect(world.service.rules()).toContainEqual({ ruleId, rule: rule(1, { priority: 99 }) });
  });
});

describe("a contract that can ask who the credentials are", () => {
  const contract = asking;

  const connected = ownedBy("shop/test/limits", hashOfIdentity("acme"));
  const changed = { rules: { ...declared, a: rule(1, { priority: 99 }) }, ...connected };

  test("is asked once a run, and the rules need no other witness", async () => {
    const { id, outs, world } = await bothMerchants(contract, [], connected);
    for (const k of [1, 2, 3]) world.service.put(String(k), rule(k, { name: `by hand ${k}` }));
    const host = await world.host("merchantRuleSet");
    await host.read(id, outs);
    await host.update(id, outs, changed);
    expect(world.service.requestCount("identity")).toBe(1);
    const ruleId = String(Object(outs.ruleIds).a);
    expect(world.service.rules()).toContainEqual({ ruleId, rule: rule(1, { priority: 99 }) });
  });

  test.each([
    ["have other names", [theirs(1), theirs(2), theirs(3)]],
    ["have the same names", [rule(1), rule(2), rule(3)]],
  ])("refuses another identity before anything is written, where its rules %s", async (_case, theirRules) => {
    const { world, id, outs, before } = await bothMerchants(contract, theirRules, connected);
    const host = await world.host("merchantRuleSet", otherToken);
    for (const run of [() => host.update(id, outs, changed), () => host.delete(id, outs), () => host.read(id, outs)]) {
      const { message } = await failureOf(run());
      expect(message).toContain('the credentials of connection "default" are those of "globex"');
      expect(message).toContain(hashOfIdentity("acme"));
    }
    expectUntouched(world, before);
  });

  test("refuses it in a run that only adds, too", async () => {
    const { world, before } = await bothMerchants(contract, [], connected);
    const host = await world.host("merchantRule", otherToken);
    const { message } = await failureOf(host.create({ definition: rule(4), ...connected }));
    expect(message).toContain('are those of "globex"');
    expectUntouched(world, before);
  });
});

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
    const world = await openWorld({ contract, ...twoMerchants });
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
  const world = await openWorld({ ...twoMerchants });
  const host = await hostOf(world);
  const old = await host.create({ definition: rule(1), connection: "acme" });
  const next = await hostOf(world);
  const moved = { definition: rule(1), connection: "globex" };
  expect(await next.diff(old.id, old.outs, moved)).toMatchObject({ replaces: ["connection"] });
  expect(await next.create(moved)).toMatchObject({ id: "1" });
  await next.delete(old.id, old.outs);
  expect([world.service.of("acme").rules().length, world.service.of("globex").rules().length]).toEqual([0, 1]);
});
