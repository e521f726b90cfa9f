import { describe, expect, test } from "vitest";
import type { ContractInput } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { marking, rule } from "../support/rules.ts";
import { openHost } from "../support/stack/hooks.ts";
import { failureOf, resource } from "../support/stack/hosts.ts";
import type { Served } from "../support/stack/service.ts";

const open = (contract?: ContractInput, environment: Record<string, string> = {}) =>
  openHost(contract, environment, "merchantRuleSet");

const abc = { a: rule(1), b: rule(2), c: rule(3) };
/** A rule that passes `check`, and that the service refuses by the illustrative contract's schema. */
const refused = rule(9, { priority: "high" });

function operations({ service }: Served): string[] {
  const done = service.requests.map(({ operation }) => operation).sort();
  service.resetRequests();
  return done;
}

describe("a set of rules", () => {
  test("whose rules swap their keys changes, writes nothing, and knows each rule by its new key", async () => {
    const { host: first, served, another } = await open();
    const { id, outs } = await first.create({ rules: { a: rule(1), b: rule(2), c: rule(3) } });
    operations(served);
    const host = await another();
    const swapped = { rules: { a: rule(2), b: rule(1), c: rule(3) } };
    expect(await host.diff(id, outs, swapped)).toMatchObject({ changes: "unknown" });
    expect(host.stderr.trim().split("\n").slice(-3)).toEqual([
      ": 2 to rename, 1 unchanged",
      "  = rules.a (before: rules.b)",
      "  = rules.b (before: rules.a)",
    ]);
    const after = await host.update(id, outs, swapped);
    const [before, now] = [Object(outs.ruleIds), Object(after.ruleIds)];
    expect(now).toEqual({ a: before.b, b: before.a, c: before.c });
    expect(operations(served)).toEqual([]);
    expect(await host.diff(id, after, swapped)).toMatchObject({ changes: "none" });
  });

  test("writes only what differs: nothing, one, none for a new name, one for a removal", async () => {
    const { host: first, served, another } = await open();
    const { id, outs } = await first.create({ rules: abc });
    expect(outs).toEqual({
      rules: abc,
      ruleIds: { a: expect.any(String), b: expect.any(String), c: expect.any(String) },
      __connection: expect.stringMatching(/^[0-9a-f]{32} shop\/test default /),
      at: expect.stringMatching(/^default [0-9a-f]{16} - http:/),
      stateVersion: 3,
      undeclared: { "*": [] },
    });
    expect(operations(served)).toEqual(["create", "create", "create", "list", "list", "list"]);
    const host = await another();
    expect(await host.diff(id, outs, { rules: abc })).toMatchObject({ changes: "none" });

    const changed = { rules: { ...abc, b: rule(2, { priority: 20 }) } };
    expect(await host.diff(id, outs, changed)).toEqual({
      changes: "unknown",
      replaces: [],
      deleteBeforeReplace: false,
    });
    const second = await host.update(id, outs, changed);
    // The list is read before the first write of a run and after it.
    expect(operations(served)).toEqual(["get", "list", "list", "update"]);
    expect(second.ruleIds).toEqual(outs.ruleIds);

    const renamed = { rules: { a: abc.a, new: changed.rules.b, c: abc.c } };
    const third = await another();
    expect(await third.diff(id, second, renamed)).toMatchObject({ changes: "unknown" });
    const next = await third.update(id, second, renamed);
    expect(operations(served)).toEqual([]);
    expect(Object.keys(Object(next.ruleIds)).sort()).toEqual(["a", "c", "new"]);

    await (await another()).update(id, next, { rules: { c: abc.c } });
    // Of deletes, too, the first of a run is looked at.
    expect(operations(served)).toEqual(["delete", "delete", "list", "list", "list"]);
    expect(served.service.rules()).toHaveLength(1);
  });

  test("shows drift at its rule and its path, and heals it alone", async () => {
    const { host: writer, served, another } = await open();
    const { id, outs } = await writer.create({ rules: abc });
    const host = await another();
    const ruleId = String(Object(outs.ruleIds).b);
    served.service.put(ruleId, rule(2, { priority: 77, note: "by hand" }));
    operations(served);
    const seen = await host.read(id, outs);
    expect(operations(served)).toEqual(["list"]);
    expect(seen.inputs.rules).toEqual({ ...abc, b: rule(2, { priority: 77 }) });
    await host.update(id, seen.props, { rules: abc });
    // The first update of a run is looked at afterwards.
    expect(operations(served)).toEqual(["get", "list", "update"]);
  });

  test.each([
    ["marks", marking],
    ["none", undefined],
  ])("takes away a field that is no longer declared, by a contract with %s", async (_, contract) => {
    const { host, served, another } = await open(contract);
    const without = rule(1);
    const { id, outs } = await host.create(
      resource("all", { rules: { a: { ...without, note: "of before" }, b: rule(2) } }),
    );
    const changed = resource("all", { rules: { a: without, b: rule(2) } });
    await (await another()).update(id, outs, changed);
    expect(served.service.rules().map(({ rule: live }) => "note" in live)).toEqual([false, false]);
    // Carried out already, as by an update whose answer was lost: nothing is sent.
    operations(served);
    await (await another()).update(id, outs, changed);
    expect(operations(served)).not.toContain("update");
  });

  test("forgets a rule that is gone, creates it again, and forgets all of them where none is there", async () => {
    const { host, served, another } = await open();
    const { id, outs } = await host.create({ rules: abc });
    served.service.remove(String(Object(outs.ruleIds).b));
    const next = await served.host("merchantRuleSet");
    const seen = await next.read(id, outs);
    expect(seen.inputs.rules).toEqual({ a: abc.a, c: abc.c });
    await next.update(id, seen.props, { rules: abc });
    expect(served.service.rules()).toHaveLength(3);
    for (const { ruleId } of served.service.rules()) served.service.remove(ruleId);
    expect(await (await another()).read(id, outs)).toMatchObject({ id, inputs: { rules: {} } });
  });

  test("that is changed where a rule has gone makes it anew, as it is declared now", async () => {
    const { host, served } = await open();
    const { id, outs } = await host.create({ rules: abc });
    served.service.remove(String(Object(outs.ruleIds).b));
    const changed = { rules: { ...abc, b: rule(2, { priority: 5 }) } };
    const next = await host.update(id, outs, changed);
    expect(Object(next.ruleIds)).toMatchObject({ a: Object(outs.ruleIds).a, c: Object(outs.ruleIds).c });
    expect(Object(next.ruleIds).b).not.toBe(Object(outs.ruleIds).b);
    expect(
      served
        .definitions()
        .map(({ priority }) => priority)
        .sort(),
    ).toEqual([1, 3, 5]);
  });

  test("swaps two natural keys without a collision", async () => {
    const { host, served, another } = await open();
    const { id, outs } = await host.create({ rules: { a: rule(1), b: rule(2) } });
    await (await another()).update(id, outs, { rules: { a: rule(2), b: rule(1) } });
    expect(served.service.rules()).toHaveLength(2);
    expect(served.service.requests.filter(({ status }) => status >= 400)).toEqual([]);
  });

  test("replaces one of its rules where the contract has no update", async () => {
    const contract: ContractInput = {
      version: 1,
      operations: {
        delete: { identifyBy: { in: "query" } },
        list: { path: "/api/v1/merchants/rules", items: "/rules" },
      },
      rule: { naturalKey: "/name" },
    };
    const { host: first, served, another } = await open(contract);
    const { id, outs } = await first.create({ rules: { a: abc.a, b: abc.b } });
    operations(served);
    const host = await another();
    const changed = { rules: { a: abc.a, b: rule(2, { priority: 20 }) } };
    expect(await host.diff(id, outs, changed)).toMatchObject({ changes: "unknown", replaces: [] });
    const next = await host.update(id, outs, changed);
    // The list may lag, so the rule is read by itself; after the first delete the list is read again.
    expect(operations(served)).toEqual(["create", "delete", "get", "list", "list", "list"]);
    expect(Object(next.ruleIds).a).toBe(Object(outs.ruleIds).a);
    expect(Object(next.ruleIds).b).not.toBe(Object(outs.ruleIds).b);
    await (await another()).delete(id, next);
    expect(served.service.rules()).toEqual([]);
  });
});

describe("a rule that fails does not stop the others", () => {
  test("on create: every failing key is named, the rest is kept, and the next run does only what is left", async () => {
    const { host, served, another } = await open();
    const failure = await failureOf(
      host.create({ rules: { ...abc, bad: refused, worse: { ...refused, name: "rule-8" } } }),
    );
    expect(failure.message).toMatch(/2 of 5 rules failed/);
    for (const key of ["bad", "worse"])
      expect(failure.message).toMatch(
        new RegExp(
          `  ${key}: create rule "${key}" failed: the service answered 422 \\(code VALIDATION_FAILED; .*request id [0-9a-f-]{36}`,
        ),
      );
    expect(failure.partial).toMatchObject({
      id: expect.stringMatching(/^set-/),
      hasProvider: true,
      properties: { rules: abc },
    });
    expect(served.service.rules()).toHaveLength(3);

    operations(served);
    const { id, properties } = failure.partial ?? { id: "", properties: {} };
    const mended = { rules: { ...abc, bad: rule(9), worse: rule(8) } };
    const next = await another();
    expect(await next.diff(id, properties, mended)).toMatchObject({ changes: "unknown" });
    const outs = await next.update(id, properties, mended);
    expect(operations(served)).toEqual(["create", "create", "list", "list", "list"]);
    expect(outs.rules).toEqual(mended.rules);
  });

  test("on create of all: nothing is kept, because nothing is there", async () => {
    const { host } = await open();
    const failure = await failureOf(host.create({ rules: { bad: refused } }));
    expect(failure.message).toContain("1 of 1 rules failed");
    expect(failure.partial).toBe(undefined);
  });

  test("on update: what was written is known as written, the failed rule as it was", async () => {
    const { host } = await open();
    const { id, outs } = await host.create({ rules: abc });
    const failure = await failureOf(
      host.update(id, outs, { rules: { a: rule(1, { priority: 10 }), b: rule(2, { priority: "high" }), d: rule(4) } }),
    );
    expect(failure.message).toMatch(/1 of 4 rules failed.*b: update rule "b".* failed/s);
    expect(failure.partial?.properties.rules).toEqual({ a: rule(1, { priority: 10 }), b: abc.b, d: rule(4) });
    expect(Object(failure.partial?.properties.ruleIds).b).toBe(Object(outs.ruleIds).b);
  });
});

describe("an update whose answer is lost", () => {
  test("and that changed the natural key of every rule, is gone on with in the next run", async () => {
    const { host, served, another } = await open();
    const { id, outs } = await host.create({ rules: { a: rule(1) } });
    const changed = { rules: { a: rule(2) } };
    served.service.faults.set({ kind: "close", at: "after", operations: ["update"], times: "always" });
    const { partial } = await failureOf(host.update(id, outs, changed));
    expect(served.service.rules()).toMatchObject([{ rule: { name: "rule-2" } }]);
    served.service.faults.clear();
    const { rules } = await (await another()).update(id, partial?.properties ?? outs, changed);
    expect(rules).toEqual(changed.rules);
  });
});

describe("rules that are not in the set", () => {
  test.each(["warn", "fail"])("onUnmanaged: %s", async (onUnmanaged) => {
    const { host, served, another } = await open();
    const stray = served.service.put(undefined, rule(50));
    const creating = host.create({ rules: abc, onUnmanaged });
    if (onUnmanaged === "fail") {
      expect((await failureOf(creating)).message).toMatch(
        new RegExp(`1 rule at the service is not in the set: "rule-50" \\(${stray}\\)`),
      );
      expect(served.service.rules()).toHaveLength(1);
      served.service.remove(stray);
      const { outs } = await (await another()).create({ rules: abc, onUnmanaged });
      expect(outs.onUnmanaged).toBe("fail");
    } else {
      await creating;
      expect(host.stderr).toContain(`1 rule at the service is not in the set: "rule-50" (${stray})`);
      expect(served.service.rules()).toHaveLength(4);
    }
  });
});

describe("check of a set", () => {
  test.each<[string, JsonObject, string, RegExp]>([
    ["no rules", {}, "rules", /definitions by key/],
    [
      "two keys with one natural key",
      { rules: { a: rule(1), "b c": rule(1) } },
      'rules["b c"]',
      /same natural key \(\/name\) as rules\.a/,
    ],
    ["a key that is blank", { rules: { " ": rule(1) } }, 'rules[" "]', /not a usable name/],
    [
      "a key that the engine keeps to itself",
      { rules: { __proto__x: rule(1) } },
      "rules.__proto__x",
      /not a usable name/,
    ],
    ["a key with a line break", { rules: { "a\nb": rule(1) } }, 'rules["a\\nb"]', /not a usable name/],
    [
      "a definition that the schema refuses",
      { rules: { "odd key": rule(1, { conditions: [{ field: 1, operator: "x" }] }) } },
      'rules["odd key"].conditions[0].field',
      /must be string/,
    ],
    ["a definition that is none", { rules: { a: 7 } }, "rules.a", /must be an object/],
    ["an adopt for no rule", { rules: abc, adopt: { z: "1" } }, "adopt.z", /names no rule/],
    ["an unknown onUnmanaged", { rules: abc, onUnmanaged: "delete" }, "onUnmanaged", /ignore, warn, fail/],
    [
      "an input that does not exist",
      { rules: abc, rule: 1 },
      "rule",
      /is not an input \(did you mean rules\?\); allowed: rules,/,
    ],
    ["an input that is near none", { rules: abc, zzz: 1 }, "zzz", /is not an input; allowed: rules,/],
  ])("refuses %s", async (_name, news, property, reason) => {
    const { host } = await open();
    expect((await host.check(news)).failures).toEqual([{ property, reason: expect.stringMatching(reason) }]);
  });

  test("wants a list for onUnmanaged", async () => {
    const { host } = await open({ version: 1 });
    expect((await host.check({ rules: abc, onUnmanaged: "fail" })).failures).toEqual([
      { property: "onUnmanaged", reason: expect.stringContaining("operations.list") },
    ]);
  });

  test("refuses, as early as the preview, what the contract cannot do", async () => {
    const { host, served, another } = await open({ version: 1 });
    const { id, outs } = await host.create({ rules: abc });
    operations(served);
    await expect(host.diff(id, outs, { rules: { a: abc.a } })).rejects.toThrow(
      /deletes a rule.*operations\.delete\.identifyBy/s,
    );
    await expect((await another()).delete(id, outs)).rejects.toThrow(/operations\.delete\.identifyBy/);
    expect(operations(served)).toEqual([]);
  });
});
