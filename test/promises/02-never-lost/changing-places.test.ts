import { describe, expect, test } from "vitest";
import type { FaultInput, LocalService } from "../../../local/service/index.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { marking, rule } from "../../support/rules.ts";
import { openWorld, startHost } from "../../support/stack/hooks.ts";
import { failureOf, resource } from "../../support/stack/hosts.ts";
import { contractFileOf, idsOf, namesOf } from "../../support/stack/service.ts";

async function open(contract?: ContractInput, environment: Record<string, string> = {}) {
  const { service, host } = await openWorld({ contract: contract ?? "illustrative", environment });
  return { host: await host(), service, url: service.url, another: host };
}

const identifyBy = { in: "query" } as const;
const list = { path: "/api/v1/merchants/rules", items: "/rules" };
const withoutUpdate: ContractInput = {
  version: 1,
  operations: { delete: { identifyBy }, list },
  rule: { naturalKey: "/name" },
};

describe.concurrent("no rule is lost when resources change places", () => {
  test("a connection that is only renamed keeps its rules", async () => {
    const { host, service, url } = await open();
    const old = await host.create(resource("limit", { definition: rule(1) }));
    const main = await startHost(
      { MERCHANT_RULES_BASE_URL: url, MERCHANT_RULES_CONTRACT: "illustrative", MERCHANT_RULES_TOKEN: "local-token" },
      "merchantRule",
      { "merchant-rules:connections": JSON.stringify({ main: { baseUrl: `${url}/`, token: "local-token" } }) },
    );
    const moved = resource("limit", { definition: rule(1), connection: "main" });
    expect(await main.diff(old.id, old.outs, moved)).toMatchObject({ changes: "some", replaces: [] });
    expect(await main.update(old.id, old.outs, moved)).toMatchObject({ ruleId: old.id, connection: "main" });
    expect(service.requestCount("update")).toBe(0);
  });

  test("a resource that becomes another rule, while a new one declares the rule it was, gets a rule of its own", async () => {
    const { host, service, another } = await open(marking);
    const a = await host.create(resource("a", { definition: rule(1) }));
    const next = await another();
    const c = await next.create(resource("c", { definition: rule(1) }));
    expect(c.id).toBe(a.id);
    const other = resource("a", { definition: rule(2) });
    expect(await next.diff(a.id, a.outs, other)).toMatchObject({ changes: "some", replaces: [] });
    const { ruleId } = await next.update(a.id, a.outs, other);
    expect(idsOf(service.rules())).toEqual([c.id, String(ruleId)].sort());
  });

  test("where no rule can be changed, the new one is refused until the old rule is deleted, which its replacement waits for", async () => {
    const { operations = {} } = marking;
    const { host, service, another } = await open({
      ...marking,
      idempotency: null,
      operations: { ...operations, update: null },
    });
    const a = await host.create(resource("a", { definition: rule(1) }));
    const next = await another();
    const other = resource("a", { definition: rule(2) });
    expect(await next.diff(a.id, a.outs, other)).toMatchObject({
      replaces: ["definition"],
      deleteBeforeReplace: true,
    });
    const declared = resource("c", { definition: rule(1) });
    await expect(next.create(declared)).rejects.toThrow(/is managed by resource "shop\/prod\/a".*run again/s);
    await next.delete(a.id, a.outs);
    // Its answer is lost, so that the list is read once more.
    service.faults.set({ kind: "close", at: "after", operations: ["create"] });
    const replaced = await next.create(other);
    const c = await (await another()).create(declared);
    expect(idsOf(service.rules())).toEqual([c.id, replaced.id].sort());
  });

  test("where rules have no marks, the new one is refused until the rule is another", async () => {
    const { host, service, another } = await open();
    const a = await host.create(resource("a", { definition: rule(1) }));
    const next = await another();
    const declared = resource("c", { definition: rule(1) });
    const refused = expect(next.create(declared)).rejects.toThrow(
      /managed by resource "shop\/prod\/a" of this stack.*gives this one up: run again/s,
    );
    const other = resource("a", { definition: rule(2) });
    expect(await next.diff(a.id, a.outs, other)).toMatchObject({ changes: "unknown", replaces: [] });
    await refused;
    await next.update(a.id, a.outs, other);
    const c = await (await another()).create(declared);
    expect(service.rules()).toMatchObject([
      { ruleId: a.id, rule: { name: "rule-2" } },
      { ruleId: c.id, rule: { name: "rule-1" } },
    ]);
  });

  test("a resource that was renamed, and changes before the old one is gone, keeps its rule", async () => {
    const { host, service, another } = await open(marking);
    const old = await host.create(resource("old", { definition: rule(1) }));
    const renamed = await (await another()).create(resource("new", { definition: rule(1) }));
    const later = await another();
    const changed = resource("new", { definition: rule(1, { priority: 9 }) });
    await later.diff(renamed.id, renamed.outs, changed);
    await later.update(renamed.id, renamed.outs, changed);
    await later.delete(old.id, old.outs);
    expect(service.rules()).toMatchObject([{ ruleId: renamed.id, rule: { priority: 9 } }]);
  });

  test.each<[string, FaultInput]>([
    ["the one that it leaves has asked for the delete of one", { kind: "hold", operations: ["delete"] }],
    ["the service has just deleted one", { kind: "hold", operations: ["delete"], at: "after" }],
  ])("rules that move from one set to another at once are not lost: %s", async (_, hold) => {
    const { service, before, after, host } = await twoSets(marking);
    await host.diff(before.from.id, before.from.outs, after.from);
    await host.diff(before.to.id, before.to.outs, after.to);
    service.faults.set(hold);
    const leave = host.update(before.from.id, before.from.outs, after.from);
    await service.faults.nextHeld();
    service.resetRequests();
    const arrive = host.update(before.to.id, before.to.outs, after.to);
    // The set that they come to asks nothing more: it takes over what it can, and waits for the rule that is being deleted.
    await turns(200);
    service.faults.release();
    const [left, arrived] = await Promise.all([leave, arrive]);
    expectAsDeclared(service, left, arrived);
  });

  test("rules that move from one set to another at once are not lost: they are to be deleted while the list is on its way", async () => {
    const { service, before, after, host } = await twoSets(marking);
    service.faults.set({ kind: "hold", operations: ["list"], at: "after" });
    // The engine asks the set that they come to first, which cannot know yet that the other gives them up.
    await host.diff(before.to.id, before.to.outs, after.to);
    const arrive = host.update(before.to.id, before.to.outs, after.to);
    await service.faults.nextHeld();
    await host.diff(before.from.id, before.from.outs, after.from);
    const leave = host.update(before.from.id, before.from.outs, after.from);
    service.faults.release();
    const [left, arrived] = await Promise.all([leave, arrive]);
    expectAsDeclared(service, left, arrived);
  });

  test("where rules have no marks, those that the other set has still are refused, and made anew by the next run", async () => {
    const { service, before, after, host, another } = await twoSets();
    service.faults.set({ kind: "hold", operations: ["delete"] });
    const leave = host.update(before.from.id, before.from.outs, after.from);
    await service.faults.nextHeld();
    const arrive = failureOf(host.update(before.to.id, before.to.outs, after.to));
    await turns(200);
    service.faults.release();
    const [left, { message, partial }] = await Promise.all([leave, arrive]);
    expect(message).toMatch(/2 of 4 rules failed.*exists already, as it is declared/s);
    const next = await another("merchantRuleSet");
    expectAsDeclared(service, left, await next.update(before.to.id, partial?.properties ?? {}, after.to));
  });

  test("a rule that was adopted in a run of its own, and is deleted by the set that it came from, is made again", async () => {
    const { after, to, service, another } = await openAdopted("merchantRuleSet", {
      rules: { new: rule(1), here: rule(9) },
    });
    const host = await another("merchantRuleSet");
    const seen = await host.read(to.id, to.outs);
    const { ruleIds } = await host.update(to.id, seen.props, after);
    expect(service.rules()).toHaveLength(3);
    const made = service.rules().find((each) => each.rule.name === "rule-1");
    expect(ruleIds).toMatchObject({ new: made?.ruleId });
  });

  test("so it is for a resource of its own", async () => {
    const { after, to, service, another } = await openAdopted("merchantRule", { definition: rule(1) });
    const host = await another();
    expect((await host.read(to.id, to.outs)).id).toBe("");
    await host.create(after);
    expect(namesOf(service.rules())).toEqual(["rule-1", "rule-8"]);
  });

  test("a rule that was adopted in a run of its own, and has the mark of its new owner, is deleted by no other", async () => {
    const { another, service } = await open(marking);
    const first = await another("merchantRuleSet");
    const from = await first.create(resource("from", { rules: { old: rule(1), stays: rule(8) } }));
    const taken = String(Object(from.outs.ruleIds).old);
    await (await another()).create(resource("single", { definition: rule(1), adopt: taken }));
    const host = await another("merchantRuleSet");
    const left = await host.update(from.id, from.outs, resource("from", { rules: { stays: rule(8) } }));
    expect(host.stderr).toContain(
      `(${taken}) is managed by "shop/prod/single" now, as its mark says, and is not deleted`,
    );
    expect(Object.keys(Object(left.ruleIds))).toEqual(["stays"]);
    expect(service.rules()).toHaveLength(2);
  });

  test("a rule that was adopted without a mark, and has that of another resource since, is deleted by no other", async () => {
    const { another, service } = await open(marking);
    const existing = service.put(undefined, rule(1));
    const first = await (await another()).create(resource("first", { definition: rule(1), adopt: existing }));
    const second = await (await another()).create(resource("second", { definition: rule(1), adopt: existing }));
    const changed = resource("second", { definition: rule(1, { priority: 5 }) });
    await (await another()).update(second.id, second.outs, changed);
    const host = await another();
    await host.delete(first.id, first.outs);
    expect(host.stderr).toContain('is managed by "shop/prod/second" now, as its mark says');
    expect(idsOf(service.rules())).toEqual([existing]);
  });

  test("a rule that moved, and got its new mark by an update whose answer was lost, is deleted by its new resource", async () => {
    const { another, service } = await open(marking);
    await (await another()).create(resource("old", { definition: rule(1) }));
    const moved = resource("new", { definition: rule(1) });
    service.faults.set({ kind: "close", at: "after", operations: ["update"], times: "always" });
    await expect((await another()).create(moved)).rejects.toThrow();
    service.faults.clear();
    const { id, outs } = await (await another()).create(moved);
    await (await another()).delete(id, outs);
    expect(service.rules()).toEqual([]);
  });

  test("a rule whose delete is under way is not adopted", async () => {
    const { host: before, another, service } = await open();
    const old = await before.create(resource("old", { definition: rule(1) }));
    const host = await another();
    service.faults.set({ kind: "hold", operations: ["delete"] });
    const deleted = host.delete(old.id, old.outs);
    await service.faults.nextHeld();
    const declared = resource("new", { definition: rule(1) });
    await expect(host.create({ ...declared, adopt: old.id })).rejects.toThrow(
      /managed by another resource of this stack/,
    );
    service.faults.release();
    await deleted;
    expect(service.rules()).toEqual([]);
    await host.create(declared);
    expect(service.rules()).toHaveLength(1);
  });

  test("a rule that is adopted while its delete waits for its turn is not deleted", async () => {
    const { host: before, another, service } = await open();
    const [one, two] = await Promise.all([
      before.create(resource("one", { definition: rule(1) })),
      before.create(resource("two", { definition: rule(2) })),
    ]);
    const host = await another();
    service.faults.set({ kind: "hold", operations: ["delete"] });
    // The first delete of a run goes alone.
    const deletes = [host.delete(one.id, one.outs), host.delete(two.id, two.outs)];
    await service.faults.nextHeld();
    const adopted = await host.create(resource("new", { definition: rule(2), adopt: two.id }));
    service.faults.release();
    await Promise.all(deletes);
    const deleted = service.requests.filter(({ operation }) => operation === "delete");
    expect(deleted.map(({ query }) => query)).toEqual([{ ruleId: one.id }]);
    expect(idsOf(service.rules())).toEqual([adopted.id]);
  });

  test("of two that adopt one rule at once, the one that is refused has not written", async () => {
    const { host, service } = await open();
    const existing = service.put(undefined, rule(1));
    const adopting = [10, 20].map((priority) =>
      host.create(resource(`by-${priority}`, { definition: rule(1, { priority }), adopt: existing })),
    );
    const results = await Promise.allSettled(adopting);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const winner = results[0]?.status === "fulfilled" ? 10 : 20;
    expect(service.rules()).toMatchObject([{ rule: { priority: winner } }]);
    expect(service.requestCount("update")).toBe(1);
  });

  test("a replacement is refused while adopt names a rule, before anything is touched", async () => {
    const { host, service } = await open(withoutUpdate);
    const existing = service.put(undefined, rule(1));
    const { id, outs } = await host.create({ definition: rule(1), adopt: existing });
    service.resetRequests();
    await expect(host.diff(id, outs, { definition: rule(1, { priority: 2 }), adopt: existing })).rejects.toThrow(
      /remove adopt/,
    );
    expect(await host.diff(id, outs, { definition: rule(1, { priority: 2 }) })).toMatchObject({
      replaces: ["definition"],
    });
    expect(service.requests).toEqual([]);
  });
});

describe.concurrent("a set whose rule could not be deleted", () => {
  test("remembers it as it was, as a secret, and deletes it in the next run", async () => {
    const { service, host, wrong } = await withoutDelete();
    const b = rule(2, { secret: "s3cr3t" });
    const { id, outs } = await host.create({ rules: { a: rule(1), b } });
    const declared = { rules: { a: rule(1), c: rule(3) } };
    const { partial } = await failureOf(wrong.update(id, outs, declared));
    expect(partial?.properties).toMatchObject({
      rules: { ...declared.rules, b },
      ruleIds: outs.ruleIds,
      sealed: ["b"],
    });
    expect(partial?.secrets).toEqual([b]);
    const after = await host.update(id, partial?.properties ?? {}, declared);
    expect(Object.keys(Object(after.ruleIds)).sort()).toEqual(["a", "c"]);
    expect(after.sealed).toBe(undefined);
    expect(namesOf(service.rules())).toEqual(["rule-1", "rule-3"]);
  });

  test("and of which nothing else has changed, stays in the state as it is", async () => {
    const { service, host, wrong } = await withoutDelete();
    const { id, outs } = await host.create({ rules: { a: rule(1), b: rule(2) } });
    const failure = await failureOf(wrong.update(id, outs, { rules: { a: rule(1) } }));
    expect(failure.message).toMatch(/1 of 2 rules failed.*b: .*operations\.delete/s);
    expect(failure.partial).toBe(undefined);
    expect(service.rules()).toHaveLength(2);
  });
});

/** A host, and one whose contract has a path of the delete that the service does not. */
async function withoutDelete() {
  const deletingAt = (path: string): ContractInput => ({
    version: 1,
    operations: { delete: { path: `/api/v1/merchants/${path}`, identifyBy } },
  });
  const { service, another } = await open(deletingAt("rules"));
  const wrong = await startHost(
    {
      MERCHANT_RULES_BASE_URL: service.url,
      MERCHANT_RULES_CONTRACT: contractFileOf(deletingAt("nowhere")),
      MERCHANT_RULES_TOKEN: "local-token",
    },
    "merchantRuleSet",
  );
  return { service, host: await another("merchantRuleSet"), wrong };
}

/** A resource that has adopted a rule of a set in a run of its own, and the set's run after that, which deletes it. */
async function openAdopted(hooks: "merchantRule" | "merchantRuleSet", inputs: JsonObject) {
  const { another, service } = await open();
  const from = await (await another("merchantRuleSet")).create(
    resource("from", { rules: { old: rule(1), stays: rule(8) } }),
  );
  const taken = String(Object(from.outs.ruleIds).old);
  const after = resource("to", inputs);
  const adopt = hooks === "merchantRule" ? taken : { new: taken };
  const to = await (await another(hooks)).create({ ...after, adopt });
  expect(idsOf(service.rules())).toContain(taken);
  const left = resource("from", { rules: { stays: rule(8) } });
  await (await another("merchantRuleSet")).update(from.id, from.outs, left);
  expect(idsOf(service.rules())).not.toContain(taken);
  return { after, to, service, another };
}

const moving = { r1: rule(1), r2: rule(2), r3: rule(3) };

/** Two sets in the state, what they are to be, and a host that is to bring that about. */
async function twoSets(contract?: ContractInput) {
  const { another, service } = await open(contract);
  const first = await another("merchantRuleSet");
  const before = {
    from: await first.create(resource("from", { rules: { ...moving, stays: rule(8) } })),
    to: await first.create(resource("to", { rules: { here: rule(9) } })),
  };
  const after = {
    from: resource("from", { rules: { stays: rule(8) } }),
    to: resource("to", { rules: { ...moving, here: rule(9) } }),
  };
  return { service, before, after, another, host: await another("merchantRuleSet") };
}

/** Each rule is there once, and the state of the set that declares it knows its id. */
function expectAsDeclared(service: LocalService, left: JsonObject, arrived: JsonObject): void {
  expect(namesOf(service.rules())).toEqual(["rule-1", "rule-2", "rule-3", "rule-8", "rule-9"]);
  const ids = Object.fromEntries(service.rules().map(({ ruleId, rule: { name } }) => [String(name), ruleId]));
  expect(left.ruleIds).toEqual({ stays: ids["rule-8"] });
  expect(arrived.ruleIds).toEqual({ r1: ids["rule-1"], r2: ids["rule-2"], r3: ids["rule-3"], here: ids["rule-9"] });
}

/** As many turns of the event loop: nothing that a service could see tells that hooks wait for one another. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
