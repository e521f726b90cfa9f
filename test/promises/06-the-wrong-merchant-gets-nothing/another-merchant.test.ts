import { describe, expect, test } from "vitest";
import { hashOfIdentity } from "../../../provider/merchant/identity.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import {
  asking,
  contractOf,
  marking,
  merchants,
  otherToken,
  twoMerchants,
  withoutList,
} from "../../support/stack/contracts.ts";
import { openWorld, type World, writesOf } from "../../support/stack/hooks.ts";
import { failureOf, ownedBy } from "../../support/stack/hosts.ts";
import { connectionsIn, good, ModelStack, refused, wordIn } from "../../support/stack/model-stack.ts";

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

const refusal = /connection "default" .*MERCHANT_RULES_SAME=[0-9a-f]{4}.*MERCHANT_RULES_MOVED=[0-9a-f]{4}/s;

describe("the credentials of another merchant whose rules have the same ids", () => {
  test.each([
    ["a natural key", contractOf()],
    ["no natural key", contractOf({ rule: { naturalKey: null } })],
    ["no natural key and no list", withoutList],
  ])("change, add, read and delete none of them, under a contract with %s", async (_case, contract) => {
    const { world, id, outs, before } = await bothMerchants(contract);
    for (const rules of [
      { ...declared, a: rule(1, { priority: 99 }) },
      { ...declared, d: rule(4) },
    ]) {
      const host = await world.host("merchantRuleSet", otherToken);
      const failure = await failureOf(host.update(id, outs, { rules }));
      expect(failure.message).toMatch(refusal);
      expect(failure.partial).toBeUndefined();
    }
    const host = await world.host("merchantRuleSet", otherToken);
    for (const run of [() => host.delete(id, outs), () => host.read(id, outs)]) {
      const { message } = await failureOf(run());
      expect(message).toMatch(refusal);
      expect(message).not.toContain("globex-1");
    }
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
    expect((await failureOf(host.update(id, outs, changed))).message).toMatch(refusal);
    expect((await failureOf(host.delete(id, outs))).message).toMatch(refusal);
    expectUntouched(world, before);
  });
});

describe("a contract that can ask who the credentials are", () => {
  const contract = asking;

  const connected = ownedBy("shop/test/limits", hashOfIdentity("acme"));
  const changed = { rules: { ...declared, a: rule(1, { priority: 99 }) }, ...connected };

  test("is asked once a run, and the rules need no other witness", async () => {
    const { id, outs, world } = await bothMerchants(contract, [], connected);
    for (const k of [1, 2, 3]) world.service.put(String(k), rule(k, { priority: 50 + k }));
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
    for (const run of [() => host.update(id, outs, changed), () => host.delete(id, outs), () => host.read(id, outs)])
      expect((await failureOf(run())).message).toMatch(/connection "default" .*"globex".*MERCHANT_RULES_MOVED=/s);
    expectUntouched(world, before);
  });

  test("refuses it in a run that only adds, too", async () => {
    const { world, before } = await bothMerchants(contract, [], connected);
    const host = await world.host("merchantRule", otherToken);
    const { message } = await failureOf(host.create({ definition: rule(4), ...connected }));
    expect(message).toContain('its credentials are those of "globex"');
    expectUntouched(world, before);
  });
});

const changed = { rules: { ...declared, a: rule(1, { priority: 99 }) } };

/** Rules at one service, and a second service that has others. */
async function twoServices(options: Parameters<typeof openWorld>[0] = {}) {
  const [from, to] = [await openWorld(options), await openWorld(options)];
  const { id, outs } = await (await from.host("merchantRuleSet")).create({ rules: declared });
  to.service.put("7", rule(7));
  const before = from.service.rules();
  from.service.resetRequests();
  return { from, to, id, outs, before };
}

describe("another address", () => {
  test("does not make a destroy empty the state: it fails, and names the place and the words for it", async () => {
    const { from, to, id, outs, before } = await twoServices();
    const host = await to.host("merchantRuleSet");
    const { message } = await failureOf(host.delete(id, outs));
    expect(message).toMatch(refusal);
    expect(message).toContain(to.service.url);
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
    const { message: text } = await failureOf((await to.host("merchantRuleSet")).update(id, outs, changed));
    const moving = await to.host("merchantRuleSet", wordIn({ text }, "MOVED"));
    const moved = await moving.update(id, outs, changed);
    expect(writesOf(to)).toEqual(["create", "create", "create"]);
    expect(to.names()).toEqual(["rule-1", "rule-2", "rule-3", "rule-7"]);
    await (await to.host("merchantRuleSet")).delete(id, moved);
    expect(to.names()).toEqual(["rule-7"]);
    expect(writesOf(from)).toEqual([]);
  });

  test("to which the rules went with their ids, and were changed there, is written when the user says so for one run", async () => {
    const { from, to, id, outs } = await twoServices(twoMerchants);
    for (const { ruleId, rule: each } of from.service.rules()) to.service.put(ruleId, { ...each, priority: 50 });
    const { message: text } = await failureOf((await to.host("merchantRuleSet")).update(id, outs, changed));
    expect(writesOf(to)).toEqual([]);
    const same = await to.host("merchantRuleSet", wordIn({ text }, "SAME"));
    const moved = await same.update(id, outs, changed);
    expect(to.service.rules()).toContainEqual({ ruleId: Object(outs.ruleIds).a, rule: changed.rules.a });
    await (await to.host("merchantRuleSet")).delete(id, moved);
    expect(to.names()).toEqual(["rule-7"]);
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

function connectionsOf({ service: { url: baseUrl } }: World, more = (_name: string): JsonObject => ({})) {
  const entries = merchants.map(({ name, token }) => [name, { baseUrl, token, ...more(name) }] as const);
  return connectionsIn(Object.fromEntries(entries));
}

test.each([
  ["a natural key", contractOf()],
  ["no natural key", contractOf({ rule: { naturalKey: null } })],
  ["marks", marking],
])("rule 1 of one connection is not rule 1 of the other, under a contract with %s", async (kind, contract) => {
  const world = await openWorld({ contract, ...twoMerchants });
  const count = () => merchants.map(({ name }) => world.service.of(name).rules().length);
  const stack = new ModelStack(world, { config: connectionsOf(world) });
  const program = (priority: number, ...left: string[]) =>
    Object.fromEntries(
      merchants.flatMap(({ name: connection }) =>
        [1, 2]
          .map((k) => [`${connection}-${k}`, { definition: rule(k, { priority }), connection }] as const)
          .filter(([name]) => !left.includes(name)),
      ),
    );
  await good(stack.up(program(1)));
  expect(stack.ids()).toEqual({ "acme-1": "1", "acme-2": "2", "globex-1": "1", "globex-2": "2" });
  let config = connectionsOf(world);
  if (kind !== "marks") {
    // Nothing but the user, or identities that both rows have, says that they are two.
    const ended = await refused(stack.up(program(9)), /MERCHANT_RULES_SAME=/);
    await good(stack.up(program(9), { environment: wordIn(ended, "MOVED") }));
    await refused(stack.up(program(9, "acme-1")), /MERCHANT_RULES_MOVED=/);
    config = connectionsOf(world, (identity) => ({ identity }));
    await good(stack.refresh({ config }));
  }
  await good(stack.up(program(5), { config }));
  expect(merchants.map(({ name }) => world.service.of(name).rules()[0]?.rule.priority)).toEqual([5, 5]);
  await good(stack.up(program(5, "acme-1"), { config }));
  expect(count()).toEqual([1, 2]);
  await good(stack.up(program(5, "acme-1", "globex-1", "globex-2"), { config }));
  expect(count()).toEqual([1, 0]);
});

test("a rule that changes its connection is made at the one and deleted at the other, though both call it rule 1", async () => {
  const world = await openWorld({ contract: asking, ...twoMerchants });
  const stack = new ModelStack(world, { config: connectionsOf(world) });
  await good(stack.up({ a: { definition: rule(1), connection: "acme" } }));
  await good(stack.up({ a: { definition: rule(1), connection: "globex" } }));
  expect(stack.ids()).toEqual({ a: "1" });
  expect(merchants.map(({ name }) => world.service.of(name).rules().length)).toEqual([0, 1]);
});
