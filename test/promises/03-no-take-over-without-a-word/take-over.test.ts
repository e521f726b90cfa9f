import { describe, expect, test } from "vitest";
import { recoverId } from "../../../provider/merchant/words.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { marking, rule } from "../../support/rules.ts";
import { contractOf, list } from "../../support/stack/contracts.ts";
import { HookStack, openHost, openWorld, writesOf } from "../../support/stack/hooks.ts";
import { failureOf, ownedBy, ownerIdOf, resource } from "../../support/stack/hosts.ts";
import { wordIn } from "../../support/stack/model-stack.ts";

const recover = { MERCHANT_RULES_RECOVER: recoverId(ownerIdOf("")) };
const subset = { name: "rule-1", priority: 1 };

describe("a program without adopt, over a rule that exists already", () => {
  test.each<[string, JsonObject, RegExp]>([
    ["declared as it is", rule(1), /exists already, as it is declared/],
    [
      "declared in part",
      subset,
      /exists already, with the declared fields and others besides: isActive, conditions, actions\. What/,
    ],
    ["declared otherwise", rule(1, { priority: 7 }), /exists already, and differs at priority/],
  ])("is refused by id and name, with the rule %s", async (_case, definition, state) => {
    const world = await openWorld();
    const existing = world.service.put(undefined, rule(1));
    const { message } = await failureOf((await world.host()).create({ definition }));
    expect(message).toContain(`rule ${existing} has the same natural key (/name: "rule-1")`);
    expect(message).toMatch(state);
    expect(writesOf(world)).toEqual([]);
    expect(world.service.rules()).toEqual([{ ruleId: existing, rule: rule(1) }]);
  });

  test("deletes nothing of what was there when the stack is destroyed", async () => {
    const world = await openWorld();
    const existing = world.service.put(undefined, rule(1));
    const stack = new HookStack(world);
    expect(await stack.up({ a: { definition: subset }, b: { definition: rule(2) } })).toHaveLength(1);
    expect(await stack.up({})).toEqual([]);
    expect(world.service.rules()).toEqual([{ ruleId: existing, rule: rule(1) }]);
  });

  test("makes a set keep what it made itself, and that alone is deleted", async () => {
    const world = await openWorld();
    const existing = world.service.put(undefined, rule(1));
    const host = await world.host("merchantRuleSet");
    const failure = await failureOf(host.create({ rules: { a: subset, b: rule(2) } }));
    expect(failure.message).toMatch(new RegExp(`1 of 2 rules failed.*a: .*rule ${existing} `, "s"));
    const { id, properties } = failure.partial ?? { id: "", properties: {} };
    expect(Object.keys(Object(properties.ruleIds))).toEqual(["b"]);
    await (await world.host("merchantRuleSet")).delete(id, properties);
    expect(world.service.rules()).toEqual([{ ruleId: existing, rule: rule(1) }]);
  });

  test("is refused too where a list of many pages shows the rule late", async () => {
    const pages = { ...list, pagination: { type: "offset", limit: "limit", offset: "offset" } } as const;
    const world = await openWorld({ contract: contractOf({ operations: { list: pages }, limits: { pageSize: 2 } }) });
    for (const k of [5, 4, 3, 2, 1]) world.service.put(undefined, rule(k));
    expect((await failureOf((await world.host()).create({ definition: rule(1) }))).message).toContain("exists already");
    expect(writesOf(world)).toEqual([]);
  });
});

describe("the ways on that the refusal names", () => {
  test("adopt, as it says it, takes the rule over and makes it as declared", async () => {
    const world = await openWorld();
    const existing = world.service.put(undefined, rule(1));
    const definition = rule(1, { priority: 7 });
    const { message } = await failureOf((await world.host()).create({ definition }));
    expect(message).toContain(`add adopt: "${existing}"`);
    const host = await world.host();
    const { id, outs } = await host.create({ definition, adopt: existing });
    expect(id).toBe(existing);
    expect(world.service.rules()).toEqual([{ ruleId: existing, rule: definition }]);
    await (await world.host()).delete(id, outs);
    expect(world.service.rules()).toEqual([]);
  });

  test("adopt of a set names the key", async () => {
    const world = await openWorld();
    const existing = world.service.put(undefined, rule(1));
    const { message } = await failureOf((await world.host("merchantRuleSet")).create({ rules: { a: rule(1) } }));
    expect(message).toContain(`add adopt: { "a": "${existing}" }`);
    const inputs = { rules: { a: rule(1) }, adopt: { a: existing } };
    expect((await (await world.host("merchantRuleSet")).create(inputs)).outs.ruleIds).toEqual({ a: existing });
    expect(writesOf(world)).toEqual([]);
  });

  test("recover, for one run, takes over what is as declared as a whole, and says each", async () => {
    const world = await openWorld();
    const [first, second] = [1, 2].map((k) => world.service.put(undefined, rule(k)));
    const { message } = await failureOf((await world.host()).create({ definition: rule(1) }));
    const host = await world.host("merchantRuleSet", wordIn({ text: message }, "RECOVER"));
    const { outs } = await host.create({ rules: { a: rule(1), b: rule(2), c: rule(3) } });
    expect(outs.ruleIds).toMatchObject({ a: first, b: second });
    expect(writesOf(world)).toEqual(["create"]);
    expect(host.stderr).toContain(
      `^ exists, is as declared as a whole, and is taken over to recover: a (${first}), b (${second})`,
    );
    expect(host.stderr).not.toContain("c (");
  });

  test.each<[string, JsonObject, JsonObject]>([
    ["has fields besides", rule(1, { limit: 5 }), rule(1)],
    [
      "has fields besides, further in",
      rule(1, { actions: [{ type: "decline", reason: "limit 1", code: 5 }] }),
      rule(1),
    ],
    ["differs", rule(1, { priority: 2 }), rule(1)],
  ])("recover refuses a rule that %s", async (_case, existing, definition) => {
    const world = await openWorld();
    world.service.put(undefined, existing);
    await failureOf((await world.host("merchantRule", recover)).create({ definition }));
    expect(world.service.rules()).toMatchObject([{ rule: existing }]);
    expect(writesOf(world)).toEqual([]);
  });

  test("recover refuses a rule that is not as declared as a whole, and says which field is in the way", async () => {
    const world = await openWorld();
    world.service.put(undefined, rule(1, { status: "live" }));
    const host = await world.host("merchantRule", recover);
    const { message } = await failureOf(host.create({ definition: rule(1) }));
    expect(message).toMatch(
      /MERCHANT_RULES_RECOVER=\w+ takes over only what is as declared as a whole, and in the way is status:/,
    );
    expect(writesOf(world)).toEqual([]);
  });

  test("recover takes over no rule that another resource of the stack holds", async () => {
    const world = await openWorld();
    const [held, another] = ["a", "b"].map((name) => ({ definition: rule(1), ...ownedBy(`shop/test/${name}`) }));
    const { id, outs } = await (await world.host()).create({ ...held });
    const host = await world.host("merchantRule", recover);
    await host.diff(id, outs, { ...held });
    const { message } = await failureOf(host.create({ ...another }));
    expect(message).toContain('is managed by resource "shop/test/a" of this stack');
  });

  test("are those of a contract without update, too: declared as it is, then changed by a replacement", async () => {
    const world = await openWorld({ contract: contractOf({ operations: { update: null } }) });
    const existing = world.service.put(undefined, rule(1));
    const definition = rule(1, { priority: 7 });
    const { message } = await failureOf((await world.host()).create({ definition }));
    expect(message).toContain(
      `declare it as it is at the service and add adopt: "${existing}"; change it in a later run`,
    );
    const stack = new HookStack(world);
    expect(await stack.up({ a: { definition: rule(1), adopt: existing } })).toEqual([]);
    expect(await stack.up({ a: { definition } })).toEqual([]);
    expect(world.service.rules()).toMatchObject([{ rule: definition }]);
  });
});

const abc = { a: rule(1), b: rule(2), c: rule(3) };
const openSet = (contract?: ContractInput, environment: Record<string, string> = {}) =>
  openHost(contract, environment, "merchantRuleSet");

describe("a set takes over rules that exist", () => {
  test("not without being told: the error names the rule, and the others are made", async () => {
    const { host, served } = await openSet();
    const left = served.service.put(undefined, rule(2));
    const failure = await failureOf(host.create({ rules: abc }));
    expect(failure.message).toMatch(
      new RegExp(
        `1 of 3 rules failed.*  b: create rule b failed: rule ${left} has the same natural key .*exists already, as it is declared.*adopt: { "b": "${left}" }`,
        "s",
      ),
    );
    expect(Object.keys(Object(failure.partial?.properties.ruleIds))).toEqual(["a", "c"]);
  });

  test("that a killed run left behind, in a run that recovers", async () => {
    const { host, served, another } = await openSet(undefined, recover);
    const left = served.service.put(undefined, rule(2));
    const { id, outs } = await host.create({ rules: abc });
    expect(Object(outs.ruleIds).b).toBe(left);
    expect(served.service.rules()).toHaveLength(3);
    expect(served.service.requestCount("update")).toBe(0);
    await (await another()).delete(id, outs);
    expect(served.service.rules()).toEqual([]);
  });

  test("that a killed run left behind, where their marks say that they are the set's", async () => {
    const { host, served, another } = await openSet(marking);
    const left = await host.create(resource("all", { rules: abc }));
    served.asked().sort();
    const { outs } = await (await another()).create(resource("all", { rules: abc }));
    expect(outs).toEqual({ ...left.outs, taken: ["a", "b", "c"] });
    expect(served.asked().sort()).toEqual(["list"]);
  });

  test("by id or by natural key when adopt says so", async () => {
    const { host, served } = await openSet();
    const one = served.service.put(undefined, rule(1, { priority: 99 }));
    const two = served.service.put(undefined, rule(2, { priority: 99 }));
    const byId = await failureOf(host.create({ rules: { a: abc.a, b: abc.b }, adopt: { a: one } }));
    expect(byId.message).toContain(`adopt: { "b": "${two}" }`);
    const { outs } = await host.create({ rules: { b: abc.b }, adopt: true });
    expect(outs.ruleIds).toEqual({ b: two });
    expect(served.service.rules().map(({ rule: each }) => each.priority)).toEqual([1, 2]);
  });

  test("from resources of their own, where rules have marks: deleting the old resources deletes no rule", async () => {
    const { host, served } = await openSet(marking);
    const single = host.as("merchantRule");
    const old = await single.create(resource("old", { definition: rule(1) }));
    const next = await served.host("merchantRuleSet");
    const inputs = resource("all", { rules: { a: rule(1), b: rule(2) } });
    const { id, outs } = await next.create(inputs);
    expect(Object(outs.ruleIds).a).toBe(old.id);
    const nextSingle = next.as("merchantRule");
    served.asked().sort();
    await nextSingle.delete(old.id, old.outs);
    expect(served.asked().sort()).not.toContain("delete");
    expect(served.service.rules()).toMatchObject([{ ruleId: old.id }, { rule: { name: "rule-2" } }]);
    expect(await next.diff(id, outs, inputs)).toMatchObject({ changes: "none" });
    await next.delete(id, outs);
    expect(served.service.rules()).toEqual([]);
  });

  test("from resources of their own by adopt, where they have none: deleting the old resources deletes no rule", async () => {
    const { host, served } = await openSet();
    const single = host.as("merchantRule");
    const old = await single.create(resource("old", { definition: rule(1) }));
    const next = await served.host("merchantRuleSet");
    const inputs = resource("all", { rules: { a: rule(1), b: rule(2) } });
    const { message, partial } = await failureOf(next.create(inputs));
    expect(message).toContain(`adopt: { "a": "${old.id}" }`);
    const last = await served.host("merchantRuleSet");
    const outs = await last.update(partial?.id ?? "", partial?.properties ?? {}, { ...inputs, adopt: { a: old.id } });
    expect(Object(outs.ruleIds).a).toBe(old.id);
    const lastSingle = last.as("merchantRule");
    served.asked().sort();
    await lastSingle.delete(old.id, old.outs);
    expect(served.asked().sort()).not.toContain("delete");
    expect(served.service.rules()).toMatchObject([{ ruleId: old.id }, { rule: { name: "rule-2" } }]);
  });
});
