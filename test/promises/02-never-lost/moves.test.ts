import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { marking as contract } from "../../support/stack/contracts.ts";
import { openWorld, type World, writesOf } from "../../support/stack/hooks.ts";
import { failureOf, markBy, ownedBy, withoutBits } from "../../support/stack/hosts.ts";
import { marksOf } from "../../support/stack/service.ts";

describe("a resource that is renamed (another owner, the same state)", () => {
  test("keeps its rule, and the next write rewrites the mark", async () => {
    const world = await openWorld({ contract });
    const old = { definition: rule(1), ...ownedBy("shop/test/old") };
    const { id, outs } = await (await world.host()).create(old);
    const renamed = { definition: rule(1), ...ownedBy("shop/test/new") };
    const host = await world.host();
    expect(await host.diff(id, outs, renamed)).toMatchObject({ changes: "none" });
    expect(marksOf(world).map(withoutBits)).toEqual([markBy("shop/test/old")]);
    const next = await host.update(id, outs, { ...renamed, definition: rule(1, { priority: 9 }) });
    expect(marksOf(world).map(withoutBits)).toEqual([markBy("shop/test/new")]);
    const later = await world.host();
    expect((await later.read(id, next)).id).toBe(id);
    expect(later.stderr).toBe("");
    await later.delete(id, next);
    expect(world.service.rules()).toEqual([]);
  });

  test("deletes its rules, which still have the old mark", async () => {
    const world = await openWorld({ contract });
    const { id, outs } = await (await world.host("merchantRuleSet")).create({
      rules: { a: rule(1), b: rule(2), c: rule(3) },
      ...ownedBy("shop/test/old"),
    });
    const host = await world.host("merchantRuleSet");
    const next = await host.update(id, outs, {
      rules: { a: rule(1), c: rule(3, { priority: 9 }) },
      ...ownedBy("shop/test/new"),
    });
    const marks = [markBy("shop/test/old", "a"), markBy("shop/test/new", "c")];
    expect(marksOf(world).map(withoutBits).sort()).toEqual(marks.sort());
    await (await world.host("merchantRuleSet")).delete(id, next);
    expect(world.service.rules()).toEqual([]);
  });

  test("sees its rules as its own in a refresh before the next write", async () => {
    const world = await openWorld({ contract });
    const { id, outs } = await (await world.host("merchantRuleSet")).create({
      rules: { a: rule(1), b: rule(2) },
      ...ownedBy("shop/test/old"),
    });
    const renamed = { rules: { a: rule(1), b: rule(2, { priority: 9 }) }, ...ownedBy("shop/test/new") };
    const next = await (await world.host("merchantRuleSet")).update(id, outs, renamed);
    const host = await world.host("merchantRuleSet");
    const seen = await host.read(id, next);
    expect(seen.inputs.rules).toEqual(renamed.rules);
    expect(host.stderr).toBe("");
  });
});

describe("a rule that moves within one stack is never lost", () => {
  test("by a run that is killed before the old resource is deleted", async () => {
    const world = await openWorld({ contract });
    const old = { definition: rule(1), ...ownedBy("shop/test/old") };
    const set = { rules: { a: rule(1), b: rule(2) }, ...ownedBy("shop/test/set") };
    const first = await (await world.host()).create(old);
    const moved = await (await world.host("merchantRuleSet")).create(set);
    world.service.resetRequests();
    // The next run: the set says what it keeps before the old resource is deleted.
    const host = await world.host("merchantRuleSet");
    expect(await host.diff(moved.id, moved.outs, set)).toMatchObject({ changes: "none" });
    await host.as("merchantRule").delete(first.id, first.outs);
    expect(writesOf(world)).toEqual([]);
    expect(world.service.rules()).toHaveLength(2);
    await (await world.host("merchantRuleSet")).delete(moved.id, moved.outs);
    expect(world.service.rules()).toEqual([]);
  });

  test("by the delete of one that took it over without a mark, where another resource has marked it since", async () => {
    const world = await openWorld({ contract });
    const ruleId = world.service.put(undefined, rule(1));
    const old = await (await world.host()).create({ definition: rule(1), adopt: ruleId, ...ownedBy("shop/test/old") });
    const next = markBy("shop/test/new");
    world.service.put(ruleId, rule(1, { metadata: { managedBy: next } }));
    const host = await world.host();
    await host.delete(ruleId, old.outs);
    expect(host.stderr).toContain(`rule ${ruleId} is managed by "shop/test/new" now, as its mark says`);
    expect(marksOf(world)).toEqual([next]);
    // Its own mark, which an update whose answer was lost has written, is as good as none.
    world.service.put(ruleId, rule(1, { metadata: { managedBy: markBy("shop/test/old") } }));
    await (await world.host()).delete(ruleId, old.outs);
    expect(world.service.rules()).toEqual([]);
  });

  describe("where the states of both know it, because the run of the move did not come to its end", () => {
    /** Rule 1 has moved from `old`, which is declared as before again, to `one`, which is to be another rule now. */
    async function openMoved() {
      const world = await openWorld({ contract });
      const as = (name: string, priority = 1, n = 1): JsonObject => ({
        definition: rule(n, { priority }),
        ...ownedBy(`shop/test/${name}`),
      });
      const old = await (await world.host()).create(as("old"));
      const first = await world.host();
      await first.check({}, as("one"));
      const one = await first.create(as("one"));
      expect(one.id).toBe(old.id);
      return { world, old, one, as, changed: as("one", 5, 2) };
    }
    const rulesOf = ({ service }: World): unknown[] =>
      service.rules().map(({ rule: { name, priority } }) => `${name} ${priority}`);

    test("the one that is changed is refused where it comes second, and lets it go when the other's row is removed", async () => {
      const { world, old, one, as, changed } = await openMoved();
      const host = await world.host();
      expect(await host.diff(old.id, old.outs, as("old"))).toMatchObject({ changes: "none" });
      expect(await host.diff(one.id, one.outs, changed)).toMatchObject({ changes: "some", replaces: [] });
      await expect(host.update(one.id, one.outs, changed)).rejects.toThrow(
        /the state of resource "shop\/test\/old" knows rule .* as well.*`pulumi state delete`.*run again/s,
      );
      const last = await world.host();
      expect((await last.create(as("old"))).id).toBe(old.id);
      expect(await last.diff(one.id, one.outs, changed)).toMatchObject({ changes: "some", replaces: [] });
      expect((await last.update(one.id, one.outs, changed)).ruleId).not.toBe(old.id);
      expect(rulesOf(world)).toEqual(["rule-1 1", "rule-2 5"]);
    });

    test("the other one makes its rule anew, where the changed one came first", async () => {
      const { world, old, one, as, changed } = await openMoved();
      const host = await world.host();
      expect(await host.diff(one.id, one.outs, changed)).toMatchObject({ changes: "unknown", replaces: [] });
      expect(await host.diff(old.id, old.outs, as("old"))).toMatchObject({ changes: "some", replaces: [] });
      await host.update(one.id, one.outs, changed);
      await host.update(old.id, old.outs, as("old"));
      expect(rulesOf(world)).toEqual(["rule-2 5", "rule-1 1"]);
    });

    test("a set makes it anew as well", async () => {
      const world = await openWorld({ contract });
      const all = { rules: { a: rule(1), b: rule(2) }, ...ownedBy("shop/test/all") };
      const set = await (await world.host("merchantRuleSet")).create(all);
      const ruleId = world.idOf("rule-1");
      const one = await (await world.host()).create({ definition: rule(1), ...ownedBy("shop/test/one") });
      expect(one.id).toBe(ruleId);
      const changed = { definition: rule(3), ...ownedBy("shop/test/one") };
      const host = await world.host();
      expect(await host.diff(one.id, one.outs, changed)).toMatchObject({ changes: "unknown", replaces: [] });
      const sets = host.as("merchantRuleSet");
      expect(await sets.diff(set.id, set.outs, all)).toMatchObject({ changes: "some" });
      await host.update(one.id, one.outs, changed);
      const next = await sets.update(set.id, set.outs, all);
      expect(rulesOf(world).toSorted()).toEqual(["rule-1 1", "rule-2 2", "rule-3 3"]);
      await (await world.host("merchantRuleSet")).delete(set.id, next);
      expect(rulesOf(world)).toEqual(["rule-3 3"]);
    });

    test("and two that declare it as the same rule are refused", async () => {
      const { world, old, one, as } = await openMoved();
      const host = await world.host();
      await host.diff(old.id, old.outs, as("old"));
      await host.diff(one.id, one.outs, as("one"));
      await expect(host.update(one.id, one.outs, as("one"))).rejects.toThrow(
        /is managed by resource "shop\/test\/old" of this stack as well.*declare the rule once/s,
      );
    });
  });

  test("and two resources that declare one rule at the same time are one rule and one error", async () => {
    const world = await openWorld({ contract });
    const host = await world.host();
    const results = await Promise.allSettled(
      ["a", "b"].map((name) => host.create({ definition: rule(1), ...ownedBy(`shop/test/${name}`) })),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(world.service.rules()).toHaveLength(1);
  });
});

test("a set that takes a rule over while the set that gives it up waits with its delete keeps it", async () => {
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
});

test("a resource that takes a rule over while a destroy waits with its delete keeps it", async () => {
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
});

test("a create that looks for its rule while a set gives it up ends with that rule or a new one", async () => {
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
});

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
