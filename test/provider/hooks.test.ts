import { describe, expect, test } from "vitest";
import { unknownValue } from "../../provider/host/wire.ts";
import type { ContractInput } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { marking, rule } from "../support/rules.ts";
import { openWorld, startHost } from "../support/stack/hooks.ts";
import { failureOf, type Host, markBy, resource } from "../support/stack/hosts.ts";

async function open(contract?: ContractInput, environment: Record<string, string> = {}) {
  const served = await openWorld({ contract: contract ?? "illustrative", environment });
  const another = () => served.host();
  return { host: await another(), served, another };
}

const identifyBy = { in: "query" } as const;
const list = {
  path: "/api/v1/merchants/rules",
  items: "/rules",
  pagination: { type: "cursor", limit: "limit", next: "/nextCursor" },
} as const;
const seed: ContractInput = { version: 1 };

/** A rule that is missing may be at another place than this one. Another rule of the stack that is seen settles that. */
async function withOneSeen(host: Host): Promise<void> {
  const { id, outs } = await host.create({ definition: rule(1000) });
  expect((await host.read(id, outs)).id).toBe(id);
}

describe("the life of a rule", () => {
  test("create, no change, change, drift, heal, delete, each with the requests it needs", async () => {
    const { host, served } = await open();
    const { service } = served;
    const owned = resource("limit", {});
    const inputs = { definition: rule(1), ...owned };
    const { id, outs } = await host.create(inputs);
    const kept = { ...owned, ruleId: id, stateVersion: 2 };
    expect(outs).toEqual({ definition: rule(1), ...kept });
    expect(service.requests.map(({ operation }) => operation)).toEqual(["list", "create"]);

    service.resetRequests();
    expect(await host.diff(id, outs, inputs)).toEqual({ changes: "none", replaces: [], deleteBeforeReplace: false });
    const changed = { definition: rule(1, { priority: 99 }), ...owned };
    expect(await host.diff(id, outs, changed)).toMatchObject({ changes: "unknown", replaces: [] });
    expect((await host.check(changed)).failures).toEqual([]);
    expect(service.requests).toEqual([]);

    const updated = await host.update(id, outs, changed);
    expect(updated).toEqual({ ...changed, ...kept });
    // The first is the witness that this is the right place; the list shows what the first update has done.
    expect(service.requests.map(({ operation }) => operation)).toEqual(["get", "update", "list"]);

    service.put(id, rule(1, { priority: 5, note: "by hand" }));
    const seen = await host.read(id, updated);
    expect(seen.inputs).toEqual({ definition: rule(1, { priority: 5 }), ...owned });
    expect(seen.props).toEqual({ definition: rule(1, { priority: 5 }), ...kept });
    expect(await host.diff(id, seen.props, changed)).toMatchObject({ changes: "unknown" });
    await host.update(id, seen.props, changed);
    expect(service.rules()[0]?.rule).toMatchObject({ priority: 99 });

    await host.delete(id, updated);
    await host.delete(id, updated);
    expect(service.rules()).toEqual([]);
  });

  test("one reading of the list serves every read, and a rule that is not in it is read by itself", async () => {
    const { served, host, another } = await open();
    const rules = await Promise.all(Array.from({ length: 450 }, (_, k) => host.create({ definition: rule(k) })));
    const reader = await another();
    served.service.resetRequests();
    for (const { id, outs } of rules) expect((await reader.read(id, outs)).id).toBe(id);
    expect(served.service.requests.map(({ operation }) => operation)).toEqual(["list", "list", "list"]);

    const late = served.service.put(undefined, rule(1001));
    expect((await reader.read(late, { definition: rule(1001), ruleId: late })).id).toBe(late);
    expect(served.service.requestCount("get")).toBe(1);
  });

  test("without a list each read is one GET", async () => {
    const { served, host } = await open({ version: 1, rule: { id: ["/id"] } });
    const { id, outs } = await host.create({ definition: rule(1) });
    await host.read(id, outs);
    expect(served.service.requests.map(({ operation }) => operation)).toEqual(["create", "get"]);
  });

  test("a rule that is gone is gone, once the service shows that it is the right one", async () => {
    const { host, served, another } = await open();
    const { id, outs } = await host.create({ definition: rule(1) });
    served.service.remove(id);
    const alone = await another();
    await expect(alone.read(id, outs)).rejects.toThrow(/the one rule that was looked for cannot be seen/);
    await expect(alone.update(id, outs, { definition: rule(1, { priority: 2 }) })).rejects.toThrow(
      /nothing was written.*MERCHANT_RULES_ACCEPT_ALL_GONE=true for one run of `pulumi up --refresh`; .*MERCHANT_RULES_MOVED=true for one run of `pulumi up --refresh`/s,
    );
    await withOneSeen(host);
    expect(await host.read(id, outs)).toEqual({ id: "", props: {}, inputs: {} });
    await expect(host.update(id, outs, { definition: rule(1, { priority: 2 }) })).rejects.toThrow(
      /no longer there.*pulumi up --refresh/s,
    );
  });
});

describe("a connection that shows none of the declared rules", () => {
  const gone = (k: number): [string, JsonObject] => [`gone-${k}`, { definition: rule(k), ruleId: `gone-${k}` }];

  test("is an error about the connection, not a deletion of all", async () => {
    const { host, served } = await open();
    served.service.put(undefined, rule(77));
    const reads = await Promise.allSettled([host.read(...gone(1)), host.read(...gone(2)), host.read(...gone(3))]);
    for (const read of reads)
      expect(read).toMatchObject({
        status: "rejected",
        reason: { message: expect.stringMatching(/none of the 3 rules .*MERCHANT_RULES_ACCEPT_ALL_GONE/s) },
      });
  });

  test("is believed when the settings say so, or when it shows a rule of the stack", async () => {
    const { host } = await open(undefined, { MERCHANT_RULES_ACCEPT_ALL_GONE: "true" });
    expect((await Promise.all([host.read(...gone(1)), host.read(...gone(2))])).map(({ id }) => id)).toEqual(["", ""]);
    const { host: alone, another } = await open();
    await expect(alone.read(...gone(1))).rejects.toThrow(/MERCHANT_RULES_ACCEPT_ALL_GONE/);
    const other = await another();
    await withOneSeen(other);
    expect((await other.read(...gone(1))).id).toBe("");
  });

  test("never makes a rule gone by refusing the credentials", async () => {
    const { host } = await open(undefined, { MERCHANT_RULES_TOKEN: "wrong-token" });
    await expect(host.read(...gone(1))).rejects.toThrow(/UNAUTHENTICATED/);
    expect(host.stderr).not.toContain("wrong-token");
  });
});

describe("create makes a rule at most once", () => {
  test("a rule that exists already, as it is declared, is refused: nobody can tell whose it is", async () => {
    const { host, served } = await open();
    const other = served.service.put(undefined, rule(1));
    const create = host.create({ definition: rule(1) });
    await expect(create).rejects.toThrow(`rule ${other} has the same natural key (/name: "rule-1") and exists already`);
    // Three ways on are named: each is followed by a test of its own.
    await expect(create).rejects.toThrow(
      new RegExp(`adopt: "${other}".*give it an alias.*MERCHANT_RULES_RECOVER=true for one run.*RULE_CONFLICT`, "s"),
    );
    expect(served.service.requests.map(({ operation }) => operation)).toEqual(["list"]);
  });

  test("a rule that a killed run left behind is taken over in a run that recovers, not made again", async () => {
    const { served, another, host } = await open(undefined, { MERCHANT_RULES_RECOVER: "true" });
    const left = served.service.put(undefined, rule(1));
    const { id, outs } = await host.create({ definition: rule(1) });
    expect(id).toBe(left);
    expect(served.service.requests.map(({ operation }) => operation)).toEqual(["list"]);
    expect(outs).toMatchObject({ ruleId: left, definition: rule(1) });
    expect(host.stderr).toContain(`rule ${left} exists, is as declared as a whole, and is taken over to recover`);
    await (await another()).delete(id, outs);
    expect(served.service.rules()).toEqual([]);
  });

  test.each([
    ["with other values", rule(1, { priority: 9 })],
    ["with fields that are not declared", rule(1, { note: "of another team" })],
  ])("a run that recovers takes over no rule %s", async (_, existing) => {
    const { served, host } = await open(undefined, { MERCHANT_RULES_RECOVER: "true" });
    served.service.put(undefined, existing);
    await expect(host.create({ definition: rule(1) })).rejects.toThrow(/exists already.*RULE_CONFLICT/s);
    expect(served.service.requests.map(({ operation }) => operation)).toEqual(["list"]);
  });

  test("a rule that a killed run left behind is gone on with where its mark says whose it is", async () => {
    const { served, another, host } = await open(marking);
    const inputs = resource("limit", { definition: rule(1) });
    const left = await host.create(inputs);
    const ownMark = { metadata: { managedBy: markBy("shop/prod/limit") } };
    expect(served.service.rules()).toMatchObject([{ rule: ownMark }]);
    served.service.resetRequests();
    expect(await (await another()).create(inputs)).toEqual(left);
    expect(served.service.requests.map(({ operation }) => operation)).toEqual(["list"]);
    // One that differs enters the state as it is, and the next run makes it as declared: no write is blind.
    const changed = resource("limit", { definition: rule(1, { priority: 9 }) });
    served.service.resetRequests();
    const failure = await failureOf((await another()).create(changed));
    expect(failure.message).toMatch(/is this stack's already, and differs at priority.*`pulumi up` again/s);
    expect(failure.partial).toMatchObject({ id: left.id, properties: { definition: rule(1) } });
    expect(served.service.requests.map(({ operation }) => operation)).toEqual(["list"]);
    const next = await another();
    const known = failure.partial?.properties ?? {};
    expect(await next.diff(left.id, known, changed)).toMatchObject({ changes: "unknown", replaces: [] });
    expect(await next.update(left.id, known, changed)).toMatchObject({ definition: rule(1, { priority: 9 }) });
    expect(served.service.rules()).toMatchObject([{ ruleId: left.id, rule: { priority: 9, ...ownMark } }]);
  });

  test("a rule with the mark of another stack is refused, and taken over by adopt alone", async () => {
    const { served, host } = await open(marking, { MERCHANT_RULES_RECOVER: "true" });
    const metadata = { managedBy: markBy("shop/staging/limit") };
    const other = served.service.put(undefined, rule(1, { metadata }));
    const inputs = resource("limit", { definition: rule(1) });
    await expect(host.create(inputs)).rejects.toThrow(
      new RegExp(`is managed by "shop/staging/limit", as its mark says.*adopt: "${other}".*RULE_CONFLICT`, "s"),
    );
    expect(served.service.requestCount()).toBe(1);
    expect((await host.create({ ...inputs, adopt: other })).id).toBe(other);
    // Its mark is written at once: by the other one its old owner would delete it.
    expect(served.service.rules()).toMatchObject([{ rule: { metadata: { managedBy: markBy("shop/prod/limit") } } }]);
  });

  test("another rule with its natural key is an error that names it and says how to take it over", async () => {
    const { host, served } = await open();
    const other = served.service.put(undefined, rule(1, { priority: 9, actions: [] }));
    const failure = host.create({ definition: rule(1) });
    await expect(failure).rejects.toThrow(
      new RegExp(
        `rule ${other} has the same natural key .*differs at (actions\\[0\\], priority|priority, actions\\[0\\]).*adopt: "${other}"`,
        "s",
      ),
    );
    expect(served.service.requestCount("create")).toBe(0);
  });

  test.each([["its id"], ["its natural key"]])(
    "adopt takes over an existing rule by %s and makes it as declared",
    async (by) => {
      const { host, served } = await open();
      const existing = served.service.put(undefined, rule(1, { priority: 9 }));
      const adopt = by === "its id" ? existing : true;
      const { id, outs } = await host.create({ definition: rule(1), adopt });
      expect(id).toBe(existing);
      expect(served.service.rules()).toMatchObject([{ ruleId: existing, rule: { priority: 1 } }]);
      const seen = await host.read(id, outs);
      expect(seen.inputs).toEqual({ definition: rule(1) });
      await host.delete(id, outs);
      expect(served.service.rules()).toEqual([]);
    },
  );

  test("adopt of a rule that is not there creates none", async () => {
    const { host, served } = await open();
    await expect(host.create({ definition: rule(1), adopt: "missing" })).rejects.toThrow(/RULE_NOT_FOUND/);
    expect(served.service.rules()).toEqual([]);
  });

  test("adopt says what the contract lacks for it", async () => {
    const { host, served } = await open(seed);
    await expect(host.create({ definition: rule(1), adopt: true })).rejects.toThrow(/operations\.list/);
    const existing = served.service.put(undefined, rule(1, { priority: 9 }));
    await expect(host.create({ definition: rule(1), adopt: existing })).rejects.toThrow(
      /differs at priority.*no update operation/s,
    );
    expect(await host.create({ definition: rule(1, { priority: 9 }), adopt: existing })).toMatchObject({
      id: existing,
    });
  });

  test("a create whose answer is lost says that the rule may exist, where the list cannot be read after it", async () => {
    const { host, served, another } = await open({ ...marking, idempotency: null, limits: { maxAttempts: 1 } });
    const inputs = resource("limit", { definition: rule(1) });
    served.service.faults.set([
      { kind: "close", at: "after", operations: ["create"] },
      { kind: "status", status: 500, operations: ["list"], request: 2 },
    ]);
    await expect(host.create(inputs)).rejects.toThrow(
      /create rule failed: .*the rule may exist; the list could not be read.*look at the service.*if it is not, run again \(RULE_OUTCOME_UNKNOWN/s,
    );
    served.service.faults.clear();
    const { id } = await (await another()).create(inputs);
    expect(served.service.rules()).toMatchObject([{ ruleId: id }]);
  });

  test("two resources with one natural key are one rule and one error", async () => {
    const { host, served } = await open();
    const results = await Promise.allSettled(
      ["one", "two"].map((name) => host.create(resource(name, { definition: rule(1) }))),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const winner = results[0]?.status === "fulfilled" ? "one" : "two";
    expect(results.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { message: expect.stringContaining(`managed by resource "shop/prod/${winner}" of this stack`) },
    });
    expect(served.service.rules()).toHaveLength(1);
  });

  test("a second resource that declares a rule of the stack is refused, whichever comes first", async () => {
    const { host, served, another } = await open();
    const [one, two] = ["one", "two"].map((name) => resource(name, { definition: rule(1) })) as [
      JsonObject,
      JsonObject,
    ];
    const { id, outs } = await host.create(one);
    const next = await another();
    expect(await next.diff(id, outs, one)).toMatchObject({ changes: "none" });
    await expect(next.create(two)).rejects.toThrow(/managed by resource "shop\/prod\/one" of this stack/);
    const third = await another();
    const refused = expect(third.create(two)).rejects.toThrow(/managed by resource "shop\/prod\/one" of this stack/);
    expect(await third.diff(id, outs, one)).toMatchObject({ changes: "none" });
    await refused;
    expect(served.service.rules()).toHaveLength(1);
    expect(served.service.requestCount("update")).toBe(0);
  });

  test("where rules have marks, the one of two that is asked about second is refused", async () => {
    const { host, served, another } = await open(marking);
    const [one, two] = ["one", "two"].map((name) => resource(name, { definition: rule(1) })) as [
      JsonObject,
      JsonObject,
    ];
    const { id, outs } = await host.create(one);
    const next = await another();
    expect((await next.create(two)).id).toBe(id);
    expect(next.stderr).toContain(`rule ${id} is taken over from resource "shop/prod/one" of this stack`);
    await expect(next.diff(id, outs, one)).rejects.toThrow(
      `rule ${id} is managed by resource "shop/prod/two" of this stack`,
    );
    expect(served.service.rules()).toHaveLength(1);
  });

  test("a resource that is renamed keeps its rule where the rule has a mark: the old one does not delete it", async () => {
    const { host, served, another } = await open(marking);
    const old = await host.create(resource("old", { definition: rule(1) }));
    const next = await another();
    const inputs = resource("new", { definition: rule(1) });
    const renamed = await next.create(inputs);
    expect(renamed.id).toBe(old.id);
    await next.delete(old.id, old.outs);
    // Both are of one stack, so nothing is written: the mark of the new name comes with the next change.
    expect(served.service.requestCount("update")).toBe(0);
    const marked = (name: string) => ({ metadata: { managedBy: markBy(`shop/prod/${name}`) } });
    expect(served.service.rules()).toMatchObject([{ ruleId: renamed.id, rule: { ...rule(1), ...marked("old") } }]);
    const later = await another();
    expect(await later.diff(renamed.id, renamed.outs, inputs)).toMatchObject({ changes: "none" });
    await later.delete(old.id, old.outs);
    expect(served.service.rules()).toHaveLength(1);
    const changed = resource("new", { definition: rule(1, { priority: 9 }) });
    const outs = await later.update(renamed.id, renamed.outs, changed);
    expect(served.service.rules()).toMatchObject([{ rule: { priority: 9, ...marked("new") } }]);
    await (await another()).delete(renamed.id, outs);
    expect(served.service.rules()).toEqual([]);
  });

  test("an old name of a rule that has the mark of its new one goes away in a run of its own, without the rule", async () => {
    const { host, served, another } = await open(marking);
    const old = await host.create(resource("old", { definition: rule(1) }));
    const moved = await (await another()).create(resource("new", { definition: rule(1), adopt: old.id }));
    const changed = resource("new", { definition: rule(1, { priority: 9 }) });
    await (await another()).update(moved.id, moved.outs, changed);
    const last = await another();
    await last.delete(old.id, old.outs);
    expect(last.stderr).toContain('is "shop/prod/new"\'s of this stack by now, as its mark says, and is not deleted');
    expect(served.service.rules()).toMatchObject([{ rule: { metadata: { managedBy: markBy("shop/prod/new") } } }]);
  });

  test("a resource that is renamed is refused its rule where nothing tells whose it is, and an alias keeps it", async () => {
    const { host, served, another } = await open();
    const old = await host.create(resource("old", { definition: rule(1) }));
    const next = await another();
    const inputs = resource("new", { definition: rule(1) });
    served.service.resetRequests();
    await expect(next.create(inputs)).rejects.toThrow(/exists already.*only renamed or moved, give it an alias/s);
    // By an alias the engine knows that it is one resource, and asks what has changed.
    expect(await next.diff(old.id, old.outs, inputs)).toMatchObject({ changes: "none" });
    expect(served.service.requests.map(({ operation }) => operation)).toEqual(["list"]);
    expect(served.service.rules()).toHaveLength(1);
  });
});

describe("diff", () => {
  test("replaces where the contract has no update, deleting first where the natural key must be unique", async () => {
    const { host } = await open({
      version: 1,
      operations: { delete: { identifyBy }, list },
      rule: { naturalKey: "/name" },
    });
    const olds = { definition: rule(1), ruleId: "1" };
    expect(await host.diff("1", olds, { definition: rule(1, { priority: 2 }) })).toEqual({
      changes: "unknown",
      replaces: ["definition"],
      deleteBeforeReplace: true,
    });
    expect(await host.diff("1", olds, { definition: rule(1, { name: "other" }) })).toMatchObject({
      replaces: ["definition"],
      deleteBeforeReplace: false,
    });
  });

  test("replaces when the connection changes, and does nothing when adopt does", async () => {
    const { host } = await open();
    const olds = { definition: rule(1), ruleId: "1" };
    expect(await host.diff("1", olds, { definition: rule(1), connection: "sandbox" })).toMatchObject({
      replaces: ["connection"],
    });
    expect(await host.diff("1", olds, { definition: rule(1), adopt: "1" })).toMatchObject({ changes: "none" });
  });

  test("needs no credentials, and no service", async () => {
    const host = await startHost({}, "merchantRule", {
      "merchant-rules:baseUrl": "https://nowhere.invalid",
      "merchant-rules:contract": "illustrative",
    });
    expect((await host.check({ definition: rule(1) })).failures).toEqual([]);
    expect(await host.diff("1", { definition: rule(1), ruleId: "1" }, { definition: rule(2) })).toMatchObject({
      changes: "unknown",
    });
    await expect(host.create({ definition: rule(1) })).rejects.toThrow(
      /lacks merchant-rules:clientId \(or MERCHANT_RULES_CLIENT_ID\)/,
    );
  });
});

describe("check", () => {
  test("names the property path of what the contract's JSON Schema refuses", async () => {
    const { host } = await open();
    const { failures } = await host.check({
      definition: rule(1, {
        priority: "high",
        conditions: [
          { field: "amount", operator: "gt" },
          { field: 7, operator: "gt" },
        ],
      }),
    });
    expect(failures).toEqual([
      { property: "definition.priority", reason: "must be number" },
      { property: "definition.conditions[1].field", reason: "must be string" },
    ]);
  });

  test("does not judge what a preview does not know yet", async () => {
    const { host } = await open();
    expect(
      (await host.check({ definition: rule(1, { priority: unknownValue, actions: [{ type: unknownValue }] }) }))
        .failures,
    ).toEqual([]);
    expect((await host.check({ definition: unknownValue })).failures).toEqual([]);
    expect((await host.check({ definition: rule(1, { priority: true, actions: unknownValue }) })).failures).toEqual([
      { property: "definition.priority", reason: "must be number" },
    ]);
  });

  test.each<[string, JsonObject, string, RegExp]>([
    ["no definition", {}, "definition", /is missing/],
    ["a definition that is no object", { definition: ["x"] }, "definition", /must be an object/],
    [
      "an input that does not exist",
      { definition: rule(1), adpot: true },
      "adpot",
      /allowed: definition, connection, adopt/,
    ],
    ["an adopt that is neither id nor true", { definition: rule(1), adopt: 7 }, "adopt", /ruleId, or true/],
    [
      "a connection that cannot be a name",
      { definition: rule(1), connection: "a/b" },
      "connection",
      /name of a connection/,
    ],
    [
      "a connection that has no settings",
      { definition: rule(1), connection: "other" },
      "connection",
      /merchant-rules:connections\.other\.baseUrl \(or MERCHANT_RULES_OTHER__BASE_URL\)/,
    ],
  ])("refuses %s", async (_name, news, property, reason) => {
    const { host } = await open();
    expect((await host.check(news)).failures).toEqual([{ property, reason: expect.stringMatching(reason) }]);
  });

  test("reports a contract that cannot work", async () => {
    const host = await startHost({}, "merchantRule", {
      "merchant-rules:baseUrl": "https://x.invalid",
      "merchant-rules:contract": "does-not-exist.yaml",
    });
    expect((await host.check({ definition: rule(1) })).failures).toEqual([
      { property: "connection", reason: expect.stringMatching(/does-not-exist\.yaml.*presets: seed, illustrative/s) },
    ]);
  });
});

describe("the bare contract of the specification", () => {
  test("creates and reads, and refuses to change or delete before the first request", async () => {
    const { host, served } = await open(seed);
    const { id, outs } = await host.create({ definition: rule(1) });
    expect((await host.read(id, outs)).id).toBe(id);
    served.service.resetRequests();
    await expect(host.delete(id, outs)).rejects.toThrow(/operations\.delete\.identifyBy/);
    await expect(host.diff(id, outs, { definition: rule(2) })).rejects.toThrow(/operations\.delete\.identifyBy/);
    expect(served.service.requests).toEqual([]);
  });
});

describe("a state", () => {
  test("that a newer version wrote is refused", async () => {
    const { host } = await open();
    await expect(host.read("1", { definition: rule(1), ruleId: "1", stateVersion: 3 })).rejects.toThrow(
      /state has version 3.*install/s,
    );
  });
});
