import { describe, expect, test } from "vitest";
import { hashOfIdentity } from "../../../provider/reconcile/identity.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, merchants } from "../../support/stack/contracts.ts";
import { openWorld, type World, writesOf } from "../../support/stack/hooks.ts";
import { failureOf, ownedBy } from "../../support/stack/hosts.ts";

const other = { MERCHANT_RULES_TOKEN: "token-globex" };
const declared = { a: rule(1), b: rule(2), c: rule(3) };
const identity = { path: "/me", at: "/account/id" } as const;
/** The name of their rules differs; all else may be as it is in ours. */
const theirs = (k: number, changes: JsonObject = {}): JsonObject => rule(k + 100, { name: `globex-${k}`, ...changes });

/** Both merchants have rules 1, 2 and 3; ours are in a state. */
async function twoMerchants(
  contract = contractOf(),
  theirRules = [theirs(1), theirs(2), theirs(3)],
  connected: JsonObject = {},
) {
  const world = await openWorld({ contract, merchants, ruleIds: "sequential" });
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
    const { world, id, outs, before } = await twoMerchants(contract);
    const host = await world.host("merchantRuleSet", other);
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
    const { world, id, outs, before } = await twoMerchants(contract);
    const host = await world.host("merchantRuleSet", other);
    const failure = await failureOf(host.delete(id, outs));
    expect(failure.message).toMatch(/connection "default".*check that address, credentials and parameters/s);
    expectUntouched(world, before);
  });

  test("do not change or delete the rule of a resource of one rule", async () => {
    const world = await openWorld({ merchants, ruleIds: "sequential" });
    const { id, outs } = await (await world.host()).create({ definition: rule(1) });
    world.service.of("globex").put(undefined, theirs(1));
    const before = { ours: world.service.rules(), theirs: world.service.of("globex").rules() };
    world.service.resetRequests();
    const host = await world.host("merchantRule", other);
    const changed = { definition: rule(1, { priority: 99 }) };
    expect((await failureOf(host.update(id, outs, changed))).message).toMatch(/rule 1 over connection "default"/);
    expect((await failureOf(host.delete(id, outs))).message).toMatch(/rule 1 over connection "default"/);
    expectUntouched(world, before);
  });

  test("do not make a refresh take their rules for drift", async () => {
    const { world, id, outs, before } = await twoMerchants();
    const host = await world.host("merchantRuleSet", other);
    const { message } = await failureOf(host.read(id, outs));
    expect(message).toMatch(
      /rules [123], [123], [123] over connection "default" .* differs from what the state knows.*check that/s,
    );
    expect(message).not.toContain("globex-1");
    expectUntouched(world, before);
  });

  test("add no rule either, when the state knows rules that are not there", async () => {
    const { world, id, outs, before } = await twoMerchants();
    const host = await world.host("merchantRuleSet", other);
    await failureOf(host.update(id, outs, { rules: { ...declared, d: rule(4) } }));
    expectUntouched(world, before);
  });

  test("write when the user says that it is right, for rules whose names somebody changed by hand", async () => {
    const { world, id, outs } = await twoMerchants();
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
  const contract = contractOf({ auth: { identity } });

  const connected = ownedBy("shop/test/limits", hashOfIdentity("acme"));
  const changed = { rules: { ...declared, a: rule(1, { priority: 99 }) }, ...connected };

  test("is asked once a run, and the rules need no other witness", async () => {
    const { id, outs, world } = await twoMerchants(contract, [], connected);
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
    const { world, id, outs, before } = await twoMerchants(contract, theirRules, connected);
    const host = await world.host("merchantRuleSet", other);
    for (const run of [() => host.update(id, outs, changed), () => host.delete(id, outs), () => host.read(id, outs)]) {
      const { message } = await failureOf(run());
      expect(message).toContain('the credentials of connection "default" are those of "globex"');
      expect(message).toContain(hashOfIdentity("acme"));
    }
    expectUntouched(world, before);
  });

  test("refuses it in a run that only adds, too", async () => {
    const { world, before } = await twoMerchants(contract, [], connected);
    const host = await world.host("merchantRule", other);
    const { message } = await failureOf(host.create({ definition: rule(4), ...connected }));
    expect(message).toContain('are those of "globex"');
    expectUntouched(world, before);
  });
});
