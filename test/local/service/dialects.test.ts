import { describe, expect, test } from "vitest";
import { defineContract } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { call, fieldOfEach, type Sent, serve, textAt } from "./under-test.ts";

describe("enveloped answers, rules that cannot change", () => {
  const contract = defineContract({
    version: 1,
    operations: {
      create: { path: "/v2/rules", success: [202, 201] },
      get: { path: "/v2/rules/{ruleId}" },
      delete: { path: "/v2/rules/{ruleId}/archive", method: "POST", identifyBy: { in: "path" }, success: [204] },
      list: { path: "/v2/rules/all", items: "/data/results", envelope: "/rule" },
    },
    rule: { id: ["/data/meta/key"], envelope: "/data" },
    auth: { present: null },
    errors: { code: "/type", message: "/title", details: "/problems", requestId: { header: "request-id" } },
  });

  test("have rule and id where the contract says", async () => {
    const service = await serve({ contract });
    const created = await call(service, "POST", "/v2/rules", { body: { a: 1, meta: { mine: true } } });
    expect(created.status).toBe(202);
    const id = textAt(created, "/data/meta/key");
    const read = await call(service, "GET", `/v2/rules/${id}`);
    expect([read.at("/data/a"), read.at("/data/meta")]).toEqual([1, { mine: true, key: id }]);
    const list = await call(service, "GET", "/v2/rules/all");
    expect(list.at("/data/results/0/rule/meta/key")).toBe(id);
    expect((await call(service, "PUT", `/v2/rules/${id}`, { body: { a: 2 } })).status).toBe(405);
    const deleted = await call(service, "POST", `/v2/rules/${id}/archive`);
    expect([deleted.status, deleted.text, deleted.headers.get("content-type")]).toEqual([204, "", null]);
    expect(service.rules()).toEqual([]);
  });

  test("have failures where the contract says", async () => {
    const service = await serve({ contract });
    const missing = await call(service, "GET", "/v2/rules/none");
    expect([missing.status, missing.at("/type"), missing.headers.has("request-id")]).toEqual([
      404,
      "RULE_NOT_FOUND",
      true,
    ]);
    expect(textAt(missing, "/title")).toContain("none");
    expect(
      fieldOfEach(await call(service, "POST", "/v2/rules", { body: { meta: { key: "x" } } }), "/problems", "path"),
    ).toEqual(["meta.key"]);
  });
});

describe("an account in every query, a dated version header, a form token", () => {
  const version = { "X-Api-Version": "2026-01-15" };
  const query = { account: "{account}" };
  const contract = defineContract({
    version: 1,
    parameters: { account: {}, region: {} },
    operations: {
      create: { path: "/{region}/rules", headers: version, query, bodyAt: "/rule" },
      get: { path: "/{region}/rules/{ruleId}", headers: version, query },
      delete: { path: "/{region}/rules", headers: version, query, identifyBy: { in: "query", name: "id" } },
      update: {
        path: "/{region}/rules/{ruleId}",
        method: "PATCH",
        body: "changes",
        bodyAt: "/rule",
        headers: version,
        query,
      },
    },
    rule: { id: ["/id"], immutable: ["/kind", "/limits/*/currency"], unordered: ["/tags"] },
    auth: {
      token: {
        path: "/oauth/token",
        encoding: "form",
        fields: {
          grant_type: "client_credentials",
          client_id: "{clientId}",
          client_secret: "{clientSecret}",
          scope: "{account}",
        },
        accessToken: "/data/token",
        expiresIn: null,
        success: [201],
      },
    },
  });
  const parameters = { account: "acct 1/ü", region: "eu/west" };
  const path = "/eu%2Fwest/rules";
  const account = `account=${encodeURIComponent(parameters.account)}`;

  test("must be sent as the contract says", async () => {
    const service = await serve({ contract, parameters });
    const create = (target: string, headers: Record<string, string>) =>
      call(service, "POST", target, { headers, body: { rule: { kind: "a" } } });
    const created = await create(`${path}?${account}`, version);
    expect(created.status).toBe(201);
    expect(
      (await call(service, "GET", `${path}/${textAt(created, "/id")}?${account}`, { headers: version })).status,
    ).toBe(200);
    const none = await create(path, {});
    expect([none.status, fieldOfEach(none, "/error/details", "path")]).toEqual([
      400,
      ["header X-Api-Version", "query account"],
    ]);
    expect((await create(`${path}?${account}`, { "x-api-version": "2025-01-01" })).status).toBe(400);
    expect((await create(`${path}?account=other`, version)).status).toBe(400);
    expect((await create(`${path}?${account}&${account}`, version)).status).toBe(400);
    expect((await create(`/us/rules?${account}`, version)).status).toBe(404);
    expect(service.rules()).toHaveLength(1);
  });

  test("may be anything that is not empty when the service is not told them", async () => {
    const service = await serve({ contract });
    const send = async (target: string) =>
      (await call(service, "POST", target, { headers: version, body: { rule: {} } })).status;
    expect([
      await send("/any/rules?account=x"),
      await send("/any/rules?account="),
      await send("//rules?account=x"),
    ]).toEqual([201, 400, 404]);
  });

  test("the token is asked for with a form", async () => {
    const service = await serve({ contract, parameters });
    const form = (fields: Record<string, string>) => {
      const all = {
        grant_type: "client_credentials",
        client_id: "local-client",
        client_secret: "local-secret",
        scope: parameters.account,
        ...fields,
      };
      return call(service, "POST", "/oauth/token", {
        token: null,
        body: `${new URLSearchParams(all)}`,
        headers: { "content-type": "application/x-www-form-urlencoded" },
      });
    };
    const minted = await form({});
    expect([minted.status, minted.text]).toEqual([201, expect.not.stringContaining("expires")]);
    expect(
      (
        await call(service, "GET", `${path}/none?${account}`, {
          headers: version,
          token: textAt(minted, "/data/token"),
        })
      ).status,
    ).toBe(404);
    expect((await form({ client_secret: "wrong" })).status).toBe(401);
    expect((await form({ grant_type: "password" })).status).toBe(400);
    expect((await call(service, "POST", "/oauth/token", { body: {} })).status).toBe(415);
  });

  test("an update lays what is sent over the rule, and leaves immutable fields alone", async () => {
    const service = await serve({ contract, parameters });
    const id = service.put(undefined, {
      kind: "a",
      tags: ["x", "y"],
      limits: [{ currency: "EUR", most: 5 }],
      note: "kept",
    });
    const change = (rule: Record<string, string | string[] | { currency: string; most: number }[]>) =>
      call(service, "PATCH", `${path}/${id}?${account}`, { headers: version, body: { rule } });
    expect((await change({ tags: ["z"], limits: [{ currency: "EUR", most: 6 }] })).status).toBe(200);
    expect(service.rules()[0]?.rule).toEqual({
      kind: "a",
      tags: ["z"],
      limits: [{ currency: "EUR", most: 6 }],
      note: "kept",
    });
    const refused = await change({ kind: "b", limits: [{ currency: "USD", most: 6 }] });
    expect([refused.status, fieldOfEach(refused, "/error/details", "path")]).toEqual([
      422,
      ["kind", "limits.0.currency"],
    ]);
    const beside = await call(service, "PATCH", `${path}/${id}?${account}`, {
      headers: version,
      body: { rule: {}, other: 1 },
    });
    expect(beside.status).toBe(400);
    const elsewhere = await call(service, "POST", `${path}?${account}`, { headers: version, body: { kind: "a" } });
    expect([elsewhere.status, textAt(elsewhere, "/error/message")]).toEqual([400, expect.stringContaining("rule")]);
  });
});

describe("rules named in body, header or path", () => {
  const contract = (place: "body" | "header", pagination: "page" | "offset" | "none") =>
    defineContract({
      version: 1,
      operations: {
        delete: { path: "/rules/delete", method: "POST", identifyBy: { in: place, name: "rule-id" } },
        update: {
          path: "/api/v1/merchants/rules",
          method: "POST",
          identifyBy: { in: place, name: "rule-id" },
          body: "merged",
          bodyAt: "/rule",
        },
        list: {
          path: "/rules",
          items: "/items",
          pagination:
            pagination === "none"
              ? { type: "none" }
              : pagination === "page"
                ? { type: "page", limit: "size", first: 0 }
                : { type: "offset", limit: "size", offset: "skip", more: "/more" },
        },
        create: { bodyAt: "/rule" },
      },
      auth: { present: null },
      limits: { pageSize: 3 },
    });

  test.each(["body", "header"] as const)(
    "a delete and an update name their rule in the %s, on the path of another operation",
    async (place) => {
      const service = await serve({ contract: contract(place, "none") });
      const named = (id: string, body?: JsonObject): Sent => {
        if (place === "body") return { body: { "rule-id": id, ...body } };
        return { headers: { "rule-id": id }, ...(body === undefined ? {} : { body }) };
      };
      const created = await call(service, "POST", "/api/v1/merchants/rules", { body: { rule: { a: 1 } } });
      const id = textAt(created, "/ruleId");
      const live = { ruleId: id, a: 2, createdAt: "2020", updatedAt: "2020" };
      const updated = await call(service, "POST", "/api/v1/merchants/rules", named(id, { rule: live }));
      expect([updated.status, updated.at("/a"), updated.at("/createdAt")]).toEqual([200, 2, created.at("/createdAt")]);
      expect(service.rules()).toEqual([{ ruleId: id, rule: { a: 2 } }]);
      expect(service.requests.map(({ operation }) => operation)).toEqual(["create", "update"]);
      expect((await call(service, "POST", "/rules/delete", place === "body" ? { body: {} } : {})).status).toBe(400);
      expect((await call(service, "POST", "/rules/delete", named("other"))).status).toBe(404);
      expect((await call(service, "POST", "/rules/delete", named(id))).status).toBe(200);
      expect(service.rules()).toEqual([]);
    },
  );

  test("pages are counted from where the contract says", async () => {
    const service = await serve({ contract: contract("body", "page") });
    const ids = Array.from({ length: 5 }, () => service.put(undefined, {}));
    const page = async (query: string) => fieldOfEach(await call(service, "GET", `/rules${query}`), "/items", "ruleId");
    expect(await page("")).toEqual(ids.slice(0, 3));
    expect(await page("?page=1")).toEqual(ids.slice(3));
    expect(await page("?page=2&size=2")).toEqual(ids.slice(4));
    expect(await page("?page=9")).toEqual([]);
    for (const query of ["page=-1", "page=x", "size=4"])
      expect((await call(service, "GET", `/rules?${query}`)).status).toBe(400);
  });

  test("an offset passes rules over", async () => {
    const service = await serve({ contract: contract("body", "offset") });
    const ids = Array.from({ length: 5 }, () => service.put(undefined, {}));
    const first = await call(service, "GET", "/rules?size=2");
    const last = await call(service, "GET", "/rules?size=3&skip=2");
    expect([fieldOfEach(first, "/items", "ruleId"), first.at("/more")]).toEqual([ids.slice(0, 2), true]);
    expect([fieldOfEach(last, "/items", "ruleId"), last.at("/more")]).toEqual([ids.slice(2), false]);
  });

  test("a list without pages has everything and takes no page parameters", async () => {
    const service = await serve({ contract: contract("body", "none") });
    for (let count = 0; count < 25; count += 1) service.put(undefined, {});
    expect(fieldOfEach(await call(service, "GET", "/rules"), "/items", "ruleId")).toHaveLength(25);
    expect((await call(service, "GET", "/rules?size=3")).status).toBe(400);
  });
});

test("a literal path wins over a name, and paths are compared as what they mean", async () => {
  const contract = defineContract({
    version: 1,
    operations: { get: { path: "/r/{ruleId}" }, list: { path: "/r/all-of:them!", items: "" } },
    auth: { present: null },
  });
  const service = await serve({ contract });
  service.put("a b/ü", {});
  expect((await call(service, "GET", "/r/all-of%3athem%21")).at("/0/ruleId")).toBe("a b/ü");
  expect((await call(service, "GET", `/r/${encodeURIComponent("a b/ü")}`)).status).toBe(200);
});

describe("rules that requests of their own publish, and that an update gives another id", () => {
  const path = "/v2/rules/{ruleId}";
  const contract = defineContract({
    version: 1,
    operations: {
      create: { path: "/v2/rules" },
      get: { path },
      delete: { path, identifyBy: { in: "path" } },
      update: { path, id: "new" },
    },
    rule: {
      id: ["/id"],
      gone: [{ at: "/state", is: ["deleted"] }],
      transitions: [
        { at: "/state", to: "live", from: ["draft"], path: `${path}/publish`, success: [202] },
        { at: "/state", to: "off", from: ["live"], path: "/v2/rules/off", fields: { rule: "{ruleId}" } },
      ],
    },
    auth: { present: null },
  });

  test("begin as drafts, and go where a request leads", async () => {
    const service = await serve({ contract });
    const refused = await call(service, "POST", "/v2/rules", { body: { state: "live" } });
    expect([refused.status, refused.at("/error/code")]).toEqual([422, "VALIDATION_FAILED"]);
    const created = await call(service, "POST", "/v2/rules", { body: { a: 1 } });
    expect(created.at("/state")).toBe("draft");
    const id = textAt(created, "/id");
    expect((await call(service, "POST", "/v2/rules/off", { body: { rule: id } })).status).toBe(409);
    const published = await call(service, "POST", `/v2/rules/${id}/publish`);
    expect([published.status, published.at("/state"), published.at("/a")]).toEqual([202, "live", 1]);
    expect((await call(service, "POST", `/v2/rules/${id}/publish`)).status).toBe(409);
    expect((await call(service, "POST", "/v2/rules/off", { body: { rule: id, more: 1 } })).status).toBe(400);
    expect((await call(service, "POST", "/v2/rules/off", { body: { rule: id } })).at("/state")).toBe("off");
    expect((await call(service, "POST", "/v2/rules/none/publish")).status).toBe(404);
  });

  test("have another id after an update, and the row of before is dead", async () => {
    const service = await serve({ contract });
    const id = textAt(await call(service, "POST", "/v2/rules", { body: { a: 1 } }), "/id");
    await call(service, "POST", `/v2/rules/${id}/publish`);
    const updated = await call(service, "PUT", `/v2/rules/${id}`, { body: { a: 2 } });
    const next = textAt(updated, "/id");
    expect(next).not.toBe(id);
    expect([updated.at("/a"), updated.at("/state")]).toEqual([2, "live"]);
    expect((await call(service, "GET", `/v2/rules/${id}`)).at("/state")).toBe("deleted");
    expect((await call(service, "PUT", `/v2/rules/${id}`, { body: { a: 3 } })).status).toBe(409);
    expect((await call(service, "POST", `/v2/rules/${id}/publish`)).status).toBe(409);
    expect(service.rules().map(({ ruleId }) => ruleId)).toEqual([next]);
  });
});
