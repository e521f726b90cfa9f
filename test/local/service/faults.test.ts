import { createServer } from "node:http";
import { setTimeout } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import type { FaultInput, LocalService } from "../../../local/service/index.ts";
import { defineContract, loadPreset } from "../../../sdk/contract/index.ts";
import { attempt, call, serve, textAt } from "./under-test.ts";

const contract = loadPreset("illustrative");
const rules = "/api/v1/merchants/rules";
const keyed = { headers: { "idempotency-key": "k" }, body: { name: "a" } };

async function withFault(fault: FaultInput): Promise<LocalService> {
  const service = await serve({ contract });
  service.faults.set(fault);
  return service;
}

/** Creates a rule under a key, by a request that the fault hits, and says how many rules there are then. */
async function createInto(service: LocalService) {
  const outcome = await attempt(service, "POST", rules, keyed);
  expect(service.faults.injected).toMatchObject([{ operation: "create", method: "POST", path: rules, request: 1 }]);
  return { ...outcome, rules: service.rules().length };
}

/** The same request again, which no fault hits: whether it is a replay tells whether the first was carried out. */
async function again(service: LocalService): Promise<string> {
  const { status, headers } = await attempt(service, "POST", rules, keyed);
  expect(service.rules()).toHaveLength(1);
  expect(status).toBe(201);
  return headers.get("idempotency-replayed") === "true" ? "replayed" : "carried out";
}

describe("a connection that is closed", () => {
  test("before the write: no status, nothing has happened", async () => {
    const service = await withFault({ kind: "close" });
    expect(await createInto(service)).toMatchObject({ status: undefined, failure: "UND_ERR_SOCKET", rules: 0 });
    expect(await again(service)).toBe("carried out");
    expect(service.requests).toMatchObject([{ status: 0, fault: "close" }, { status: 201 }]);
  });

  test("after the write: no status, the rule is there and its key is known", async () => {
    const service = await withFault({ kind: "close", at: "after" });
    expect(await createInto(service)).toMatchObject({ status: undefined, failure: "UND_ERR_SOCKET", rules: 1 });
    expect(await again(service)).toBe("replayed");
  });

  test("in mid-answer: status and half of the body, then a reset; the rule is there", async () => {
    const service = await withFault({ kind: "close", at: "mid-answer" });
    const half = await createInto(service);
    expect(half).toMatchObject({ status: 201, failure: "ECONNRESET", rules: 1 });
    const { text } = await attempt(service, "POST", rules, keyed);
    expect(half.text).toBe(text.slice(0, text.length / 2));
  });

  test("in mid-answer where the answer has no body: within the status line", async () => {
    const operations = { delete: { identifyBy: { in: "query" as const, name: "ruleId" }, success: [204] } };
    const service = await serve({ contract: defineContract({ version: 1, operations }) });
    const id = service.put(undefined, { name: "a" });
    service.faults.set({ kind: "close", at: "mid-answer" });
    expect((await attempt(service, "DELETE", `${rules}?ruleId=${id}`)).status).toBeUndefined();
    expect(service.rules()).toEqual([]);
    expect(service.faults.injected).toHaveLength(1);
  });
});

describe("a status", () => {
  test.each([401, 403, 429, 500, 502, 503, 504])("%d before the write: nothing has happened", async (status) => {
    const service = await withFault({ kind: "status", status });
    const failed = await createInto(service);
    expect(failed).toMatchObject({ status, failure: undefined, rules: 0 });
    expect(JSON.parse(failed.text)).toMatchObject({ error: { code: "FAULT" } });
    expect([failed.headers.has("retry-after"), failed.headers.has("www-authenticate")]).toEqual([
      false,
      status === 401,
    ]);
    expect(await again(service)).toBe("carried out");
  });

  test("after the write: the rule is there and its key is known", async () => {
    const service = await withFault({ kind: "status", status: 502, at: "after" });
    expect(await createInto(service)).toMatchObject({ status: 502, rules: 1 });
    expect(await again(service)).toBe("replayed");
  });

  test("has Retry-After in seconds or as a date", async () => {
    const now = Date.UTC(2026, 0, 15, 12);
    const service = await serve({ contract, now: () => now });
    const limited = { kind: "status", status: 429, retryAfterSeconds: 90 } as const;
    service.faults.set([limited, { ...limited, retryAfterAs: "date" }]);
    const answers = [await attempt(service, "GET", rules), await attempt(service, "GET", rules)];
    expect(answers.map(({ headers }) => headers.get("retry-after"))).toEqual(["90", "Thu, 15 Jan 2026 12:01:30 GMT"]);
  });
});

describe("a body", () => {
  test("cut by the end of the connection is shorter than its content-length", async () => {
    const service = await withFault({ kind: "cut-body" });
    const cut = await createInto(service);
    expect(cut).toMatchObject({ status: 201, failure: "UND_ERR_SOCKET", rules: 1 });
    expect(Number(cut.headers.get("content-length"))).toBeGreaterThan(cut.text.length);
    expect(cut.text).toMatch(/^\{"id":/);
  });

  test("cut within its JSON is whole HTTP", async () => {
    const service = await withFault({ kind: "cut-body", how: "json" });
    const cut = await createInto(service);
    expect(cut).toMatchObject({ status: 201, failure: undefined, rules: 1 });
    expect(cut.headers.get("content-length")).toBe(String(cut.text.length));
    expect(() => JSON.parse(cut.text)).toThrow(SyntaxError);
  });

  test("is an HTML page, with the status of a success", async () => {
    const service = await withFault({ kind: "not-json" });
    const page = await createInto(service);
    expect([page.status, page.headers.get("content-type"), page.rules]).toEqual([201, "text/html; charset=utf-8", 1]);
    expect(page.text).toMatch(/^<!doctype html>/);
  });

  test.each([
    [undefined, { status: "ok" }] as const,
    [
      [1, null],
      [1, null],
    ] as const,
  ])("is JSON of another shape, the default or a given one (%j)", async (json, expected) => {
    const service = await withFault({ kind: "other-shape", ...(json === undefined ? {} : { json: [...json] }) });
    const other = await createInto(service);
    expect([other.status, JSON.parse(other.text), other.rules]).toEqual([201, expected, 1]);
  });

  test("has no id: of a rule, of a deleted rule, of every rule of a list", async () => {
    const service = await withFault({ kind: "without-id", times: "always" });
    const created = await createInto(service);
    expect(Object.keys(JSON.parse(created.text))).toEqual(["name", "createdAt", "updatedAt"]);
    const { text } = await attempt(service, "GET", rules);
    expect(JSON.parse(text)).toMatchObject({ rules: [{ name: "a" }], hasMore: false });
    expect(text).not.toContain('"id"');
    const id = service.rules()[0]?.ruleId;
    expect((await attempt(service, "DELETE", `${rules}?ruleId=${id}`)).text).toBe('{"deleted":true}');
    expect(service.faults.injected).toHaveLength(3);
  });

  test("has no id within an envelope", async () => {
    const rule = { id: ["/meta/key"], envelope: "/data" };
    const service = await serve({ contract: defineContract({ version: 1, rule, auth: { present: null } }) });
    service.faults.set({ kind: "without-id" });
    const created = await call(service, "POST", rules, { body: { a: 1 } });
    expect([created.at("/data/a"), created.at("/data/meta")]).toEqual([1, undefined]);
  });

  test.each([false, true])("is of 100 MB and still JSON (content-length declared: %j)", async (declared) => {
    const service = await withFault({ kind: "huge-body", declared });
    const response = await fetch(service.url + rules, { headers: { authorization: "Bearer local-token" } });
    expect(response.headers.get("content-length")).toBe(declared ? "100000000" : null);
    let length = 0;
    let start = "";
    for await (const chunk of response.body ?? []) {
      if (length === 0) start = Buffer.from(chunk).toString();
      length += chunk.length;
    }
    expect([length, start.trimEnd()]).toEqual([100_000_000, '{"rules":[],"nextCursor":null,"hasMore":false}']);
  });

  test("of 10 GB begins at once, and ends when the client goes away", async () => {
    const service = await withFault({ kind: "huge-body", bytes: 10_000_000_000 });
    const response = await fetch(service.url + rules, { headers: { authorization: "Bearer local-token" } });
    let length = 0;
    for await (const chunk of response.body ?? []) {
      length += chunk.length;
      if (length > 1_000_000) break;
    }
    expect(length).toBeLessThan(2_000_000);
    expect((await attempt(service, "GET", rules)).status).toBe(200);
  });

  test("that an answer does not have cannot be harmed, and is not counted", async () => {
    const operations = { delete: { identifyBy: { in: "query" as const, name: "ruleId" }, success: [204] } };
    const service = await serve({ contract: defineContract({ version: 1, operations }) });
    const kinds = ["cut-body", "not-json", "other-shape", "without-id", "huge-body"] as const;
    for (const kind of kinds) {
      const id = service.put(undefined, { name: kind });
      service.faults.set({ kind });
      const outcome = await attempt(service, "DELETE", `${rules}?ruleId=${id}`);
      expect([outcome.status, outcome.text, service.faults.injected]).toEqual([204, "", []]);
      expect(service.faults.current).toMatchObject([{ matched: 1, injected: 0 }]);
    }
    expect(service.requests.map(({ fault }) => fault)).toEqual(kinds.map(() => undefined));
  });
});

describe("a redirect", () => {
  test.each([301, 302, 303, 307, 308] as const)(
    "%d leads to the request itself, and nothing has happened",
    async (status) => {
      const service = await withFault({ kind: "redirect", status });
      const redirected = await createInto(service);
      expect([redirected.status, redirected.headers.get("location"), redirected.rules]).toEqual([status, rules, 0]);
    },
  );

  test("comes after the write, where it is told so: the rule is there and its key is known", async () => {
    const service = await withFault({ kind: "redirect", at: "after", status: 303, location: "/elsewhere" });
    const redirected = await createInto(service);
    expect([redirected.status, redirected.headers.get("location"), redirected.rules]).toEqual([303, "/elsewhere", 1]);
    expect(await again(service)).toBe("replayed");
  });

  test("keeps the query, so that a client that follows gets the answer", async () => {
    const service = await withFault({ kind: "redirect", operations: ["list"] });
    const headers = { authorization: "Bearer local-token" };
    const followed = await fetch(`${service.url}${rules}?limit=3`, { headers });
    expect([followed.status, followed.redirected]).toEqual([200, true]);
    expect(service.requests.map(({ query }) => query)).toEqual([{ limit: "3" }, { limit: "3" }]);
  });

  test("leads to another host", async () => {
    let reached = 0;
    const other = createServer((_request, response) => {
      reached += 1;
      response.end("elsewhere");
    });
    await new Promise<void>((listening) => other.listen(0, "127.0.0.1", listening));
    onTestFinished(() => void other.close());
    const address = other.address();
    const location = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/elsewhere`;
    const service = await withFault({ kind: "redirect", location });
    expect(await (await fetch(service.url + rules)).text()).toBe("elsewhere");
    expect(reached).toBe(1);
  });
});

describe("a request that is carried out after its answer", () => {
  const laterMs = 200;
  const faults = [
    ...[408, 503, 504].map((status) => ({ kind: "status", status, at: "later", laterMs }) as const),
    { kind: "close", at: "later", laterMs } as const,
  ];

  test.each(faults)(
    "%j: the answer comes at once, the rule and its key later, the faults cleared or not",
    async (fault) => {
      const service = await withFault(fault);
      expect(await createInto(service)).toMatchObject({
        status: fault.kind === "status" ? fault.status : undefined,
        failure: fault.kind === "status" ? undefined : "UND_ERR_SOCKET",
        rules: 0,
      });
      service.faults.clear();
      await expect.poll(() => service.rules().length).toBe(1);
      expect(await again(service)).toBe("replayed");
    },
  );

  test.each(faults)("%j: sent again before that with the same key, it is carried out once", async (fault) => {
    const service = await withFault(fault);
    await createInto(service);
    expect(await again(service)).toBe("carried out");
    await setTimeout(2 * laterMs);
    expect(await again(service)).toBe("replayed");
  });

  test("sent again before that without a key, it is carried out twice where doubles are accepted", async () => {
    const service = await serve({ contract, allowDuplicates: true });
    service.faults.set({ kind: "status", status: 504, at: "later", laterMs });
    const { body } = keyed;
    const answers = [await attempt(service, "POST", rules, { body }), await attempt(service, "POST", rules, { body })];
    expect(answers.map(({ status }) => status)).toEqual([504, 201]);
    await expect.poll(() => service.rules().length).toBe(2);
  });

  test("an update and a delete, too", async () => {
    const service = await serve({ contract });
    const [changed, deleted] = [service.put(undefined, { name: "a" }), service.put(undefined, { name: "b" })];
    service.faults.set({ kind: "status", status: 504, at: "later", laterMs, times: 2 });
    await attempt(service, "PUT", `${rules}/${changed}`, { body: { name: "c" } });
    await attempt(service, "DELETE", `${rules}?ruleId=${deleted}`);
    expect(service.rules().map(({ rule }) => rule.name)).toEqual(["a", "b"]);
    await expect.poll(() => service.rules().map(({ rule }) => rule.name)).toEqual(["c"]);
  });

  test("is not waited for when the service closes, nor carried out", async () => {
    const service = await withFault({ kind: "status", status: 504, at: "later", laterMs: 60_000 });
    await createInto(service);
    const began = performance.now();
    await service.close();
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  test.each(["status", "close"] as const)("%s: laterMs without it is refused", async (kind) => {
    const service = await serve({ contract });
    const fault = { ...(kind === "status" ? { kind, status: 504 } : { kind }), at: "after", laterMs } as const;
    expect(() => service.faults.set(fault)).toThrow('laterMs: found 200; allowed: nothing, but with at "later"');
  });
});

describe("a late answer", () => {
  test.each(["before", "after"] as const)("comes after a wait %s the write", async (at) => {
    const service = await withFault({ kind: "latency", ms: 300, at });
    const began = performance.now();
    const answer = attempt(service, "POST", rules, keyed);
    await expect.poll(() => service.faults.injected.length).toBe(1);
    expect(service.rules()).toHaveLength(at === "before" ? 0 : 1);
    expect((await answer).status).toBe(201);
    expect(performance.now() - began).toBeGreaterThanOrEqual(295);
    expect(service.rules()).toHaveLength(1);
  });

  test("is not waited for when the service closes, nor carried out", async () => {
    const service = await withFault({ kind: "latency", ms: 60_000 });
    const answer = attempt(service, "POST", rules, keyed);
    await expect.poll(() => service.faults.injected.length).toBe(1);
    const began = performance.now();
    await service.close();
    expect(performance.now() - began).toBeLessThan(30_000);
    expect(await answer).toMatchObject({ status: undefined });
    expect(service.requests).toMatchObject([{ status: 0 }]);
  });
});

describe("a request that is held", () => {
  test.each(["before", "after"] as const)("%s its write goes on when it is released", async (at) => {
    const service = await withFault({ kind: "hold", at });
    const answer = attempt(service, "POST", rules, keyed);
    const held = await service.faults.nextHeld();
    expect(held).toMatchObject({ operation: "create", method: "POST", path: rules, at });
    expect(service.faults.held).toEqual([held]);
    expect([service.rules().length, service.requestCount()]).toEqual([at === "before" ? 0 : 1, 0]);
    held.release();
    expect((await answer).status).toBe(201);
    expect([service.rules().length, service.faults.held]).toEqual([1, []]);
  });

  test("is carried out even when its client is gone", async () => {
    const service = await withFault({ kind: "hold" });
    const client = new AbortController();
    const body = JSON.stringify({ name: "a" });
    const headers = { authorization: "Bearer local-token", "content-type": "application/json" };
    const sent = fetch(service.url + rules, { method: "POST", headers, body, signal: client.signal });
    const held = await service.faults.nextHeld();
    client.abort();
    await expect(sent).rejects.toThrow("abort");
    expect(service.rules()).toEqual([]);
    held.release();
    await expect.poll(() => service.rules().length).toBe(1);
    expect((await attempt(service, "GET", rules)).status).toBe(200);
  });

  test("is told once, in the order of arrival; all go on together, or when the faults are cleared", async () => {
    const service = await withFault({ kind: "hold", times: "always" });
    for (const way of ["release", "clear"] as const) {
      const first = service.faults.nextHeld();
      const one = attempt(service, "GET", rules);
      expect((await first).operation).toBe("list");
      const two = attempt(service, "GET", `${rules}/x`);
      expect((await service.faults.nextHeld()).operation).toBe("get");
      expect(service.faults[way]()).toBe(way === "release" ? 2 : undefined);
      expect([(await one).status, (await two).status]).toEqual([200, 404]);
    }
  });

  test("is dropped when the service closes, as is who waits for one", async () => {
    const service = await withFault({ kind: "hold" });
    const answer = attempt(service, "POST", rules, keyed);
    await service.faults.nextHeld();
    const next = service.faults.nextHeld();
    await Promise.all([service.close(), expect(next).rejects.toThrow("the service was closed")]);
    expect((await answer).status).toBeUndefined();
  });
});

describe("a get just after a create", () => {
  const late = { kind: "late-get", gets: 2, withinMs: 1000 } as const;

  test("finds nothing for the first gets of each new rule; other gets are not hit", async () => {
    const service = await withFault(late);
    const read = async (id: string) => (await call(service, "GET", `${rules}/${id}`)).status;
    expect(await read("none")).toBe(404);
    expect(service.faults.injected).toEqual([]);
    const ids = ["a", "b"].map((name) => service.put(undefined, { name }));
    for (const id of ids) expect([await read(id), await read(id), await read(id)]).toEqual([404, 404, 200]);
    expect(service.faults.injected).toHaveLength(4);
  });

  test("finds the rule when it is no longer new, though it was just changed", async () => {
    let now = Date.now();
    const service = await serve({ contract, now: () => now });
    service.faults.set(late);
    const id = textAt(await call(service, "POST", rules, { body: { name: "a" } }), "/id");
    const missing = await call(service, "GET", `${rules}/${id}`);
    expect([missing.status, missing.at("/error/code")]).toEqual([404, "RULE_NOT_FOUND"]);
    now += 1000;
    service.put(id, { name: "a", priority: 1 });
    expect((await call(service, "GET", `${rules}/${id}`)).status).toBe(200);
  });
});
