import { describe, expect, test } from "vitest";
import { unknownValue } from "../../provider/host/wire.ts";
import type { ContractInput } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { rule } from "../support/rules.ts";
import { openHost, startHost } from "../support/stack/hooks.ts";
import { resource } from "../support/stack/hosts.ts";
import { linked, placed } from "../support/stack/owners.ts";

const identifyBy = { in: "query" } as const;
const list = {
  path: "/api/v1/merchants/rules",
  items: "/rules",
  pagination: { type: "cursor", limit: "limit", next: "/nextCursor" },
} as const;
const seed: ContractInput = { version: 1 };

describe("the life of a rule", () => {
  test("create, no change, change, drift, heal, delete, each with the requests it needs", async () => {
    const { host, served, another } = await openHost();
    const { service } = served;
    const requests = () => service.requests.map(({ operation }) => operation);
    const owned = resource("limit", {});
    const inputs = { definition: rule(1), ...owned };
    const { id, outs } = await host.create(inputs);
    const { __connection, at } = outs;
    const kept = { ...owned, __connection, at, ruleId: id, stateVersion: 3, undeclared: { "*": [] } };
    expect(outs).toEqual({ definition: rule(1), ...kept });
    expect(at).toMatch(new RegExp(`^default [0-9a-f]{16} - ${service.url}$`));
    expect(requests()).toEqual(["list", "create", "list"]);

    service.resetRequests();
    const second = await another();
    expect(await second.diff(id, outs, inputs)).toEqual({ changes: "none", replaces: [], deleteBeforeReplace: false });
    const changed = { definition: rule(1, { priority: 99 }), ...owned };
    expect(await second.diff(id, outs, changed)).toMatchObject({ changes: "unknown", replaces: [] });
    expect((await second.check(changed)).failures).toEqual([]);
    expect(requests()).toEqual([]);

    const updated = await second.update(id, outs, changed);
    expect(updated).toEqual({ ...changed, ...kept });
    // The list shows whose the rule is, and what the first update has done.
    expect(requests()).toEqual(["list", "get", "update", "list"]);

    service.put(id, rule(1, { priority: 5, note: "by hand" }));
    const third = await another();
    const seen = await third.read(id, updated);
    expect(seen.inputs).toEqual({ definition: rule(1, { priority: 5 }), ...owned, __connection });
    expect(seen.props).toEqual({ definition: rule(1, { priority: 5 }), ...kept });
    expect(await third.diff(id, seen.props, changed)).toMatchObject({ changes: "unknown" });
    await third.update(id, seen.props, changed);
    expect(service.rules()[0]?.rule).toMatchObject({ priority: 99 });

    await third.delete(id, updated);
    await third.delete(id, updated);
    expect(service.rules()).toEqual([]);
  });

  test("one reading of the list serves every read, and a rule that is not in it is read by itself", async () => {
    const { served, host, another } = await openHost();
    const rules = await Promise.all(Array.from({ length: 450 }, (_, k) => host.create({ definition: rule(k) })));
    const reader = await another();
    served.service.resetRequests();
    for (const { id, outs } of rules) expect((await reader.read(id, outs)).id).toBe(id);
    expect(served.service.requests.map(({ operation }) => operation)).toEqual(["list", "list", "list"]);

    const late = served.service.put(undefined, rule(1001));
    expect((await reader.read(late, { definition: rule(1001), ruleId: late })).id).toBe(late);
    expect(served.service.requestCount("get")).toBe(1);
  });

  test("without a list a create is seen by one GET, and each read is one", async () => {
    const { served, host } = await openHost({ version: 1, rule: { id: ["/id"] } });
    const { id, outs } = await host.create({ definition: rule(1) });
    await host.read(id, outs);
    expect(served.service.requests.map(({ operation }) => operation)).toEqual(["create", "get", "get"]);
  });
});

describe("diff", () => {
  test("replaces where the contract has no update, deleting first where there is a natural key", async () => {
    const { host } = await openHost({
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
      deleteBeforeReplace: true,
    });
  });

  test("replaces when the connection changes to what is known as another merchant; else an update looks", async () => {
    const { served } = await openHost();
    const {
      MERCHANT_RULES_TOKEN = "",
      MERCHANT_RULES_BASE_URL = "",
      MERCHANT_RULES_CONTRACT = "",
    } = served.environment;
    const host = await served.host("merchantRule", {
      MERCHANT_RULES_SANDBOX__BASE_URL: MERCHANT_RULES_BASE_URL,
      MERCHANT_RULES_SANDBOX__CONTRACT: MERCHANT_RULES_CONTRACT,
      MERCHANT_RULES_SANDBOX__TOKEN: MERCHANT_RULES_TOKEN,
    });
    const [one, other] = ["1".repeat(12), "2".repeat(12)];
    const olds = placed({ definition: rule(1), ruleId: "1" }, { identity: one });
    const inSandbox = (identity: string | null) =>
      host.diff("1", olds, linked({ definition: rule(1), connection: "sandbox" }, { identity }));
    expect(await inSandbox(other)).toMatchObject({ replaces: ["definition"] });
    for (const identity of [one, null])
      expect(await inSandbox(identity)).toMatchObject({ changes: "some", replaces: [] });
  });

  test("does nothing when adopt changes", async () => {
    const { host } = await openHost();
    const olds = { definition: rule(1), ruleId: "1" };
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
    const { host } = await openHost();
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
    const { host } = await openHost();
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
    const { host } = await openHost();
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
    const { host: first, served, another } = await openHost(seed);
    const { id, outs } = await first.create({ definition: rule(1) });
    const host = await another();
    expect((await host.read(id, outs)).id).toBe(id);
    served.service.resetRequests();
    await expect(host.delete(id, outs)).rejects.toThrow(/operations\.delete\.identifyBy/);
    await expect(host.diff(id, outs, { definition: rule(2) })).rejects.toThrow(/operations\.delete\.identifyBy/);
    expect(served.service.requests).toEqual([]);
  });
});

describe("a state", () => {
  test("that a newer version wrote is refused", async () => {
    const { host } = await openHost();
    await expect(host.read("1", { definition: rule(1), ruleId: "1", stateVersion: 4 })).rejects.toThrow(
      /state has version 4.*install/s,
    );
  });
});
