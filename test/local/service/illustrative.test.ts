import { describe, expect, test } from "vitest";
import { loadPreset } from "../../../sdk/contract/index.ts";
import { call, fieldOfEach, serve, textAt } from "./under-test.ts";

const contract = loadPreset("illustrative");
const rules = "/api/v1/merchants/rules";

describe("a rule", () => {
  test("is created, read, changed and deleted", async () => {
    const service = await serve({ contract });
    const created = await call(service, "POST", rules, { body: { name: "limit", priority: 1 } });
    expect(created.status).toBe(201);
    const id = textAt(created, "/id");
    expect(id).toMatch(/^[0-9a-z]{12}$/);
    expect(textAt(created, "/createdAt")).toBe(textAt(created, "/updatedAt"));

    const read = await call(service, "GET", `${rules}/${id}`);
    expect([read.status, read.text]).toEqual([200, created.text]);

    const changed = await call(service, "PUT", `${rules}/${id}`, { body: { name: "limit", isActive: false } });
    expect([changed.status, changed.at("/id"), changed.at("/isActive"), changed.at("/priority")]).toEqual([
      200,
      id,
      false,
      undefined,
    ]);
    expect(changed.at("/createdAt")).toBe(created.at("/createdAt"));

    const deleted = await call(service, "DELETE", `${rules}?ruleId=${id}`);
    expect([deleted.status, deleted.at("/id")]).toEqual([200, id]);
    const gone = await call(service, "GET", `${rules}/${id}`);
    expect([gone.status, gone.at("/error/code")]).toEqual([404, "RULE_NOT_FOUND"]);
    expect((await call(service, "DELETE", `${rules}?ruleId=${id}`)).status).toBe(404);
    expect((await call(service, "PUT", `${rules}/${id}`, { body: { name: "x" } })).status).toBe(404);
  });

  test("keeps its fields exactly as they were sent", async () => {
    const service = await serve({ contract });
    const definition = `{"name":"ünï 🏦\\u0000","z":null,"a":[1.5,-3,1e+21,true,{}],"__proto__":{"x":1},"constructor":"c","":""}`;
    const created = await call(service, "POST", rules, { body: definition });
    expect(created.status).toBe(201);
    const read = await call(service, "GET", `${rules}/${textAt(created, "/id")}`);
    expect(read.text).toContain(definition.slice(1, -1));
  });

  test("is refused with the places that its schema does not allow", async () => {
    const service = await serve({ contract });
    const refused = await call(service, "POST", rules, { body: { name: "", conditions: [{ field: "amount" }] } });
    expect([refused.status, refused.at("/error/code")]).toEqual([422, "VALIDATION_FAILED"]);
    expect(fieldOfEach(refused, "/error/details", "path").sort()).toEqual(["conditions[0]", "name"]);
    expect(service.rules()).toEqual([]);
  });

  test("may not set what only the service sets", async () => {
    const service = await serve({ contract });
    const refused = await call(service, "POST", rules, { body: { name: "a", id: "mine", createdAt: "2020-01-01" } });
    expect([refused.status, fieldOfEach(refused, "/error/details", "path")]).toEqual([422, ["id", "createdAt"]]);
  });

  test("cannot have the natural key of another, and the answer shows the key alone", async () => {
    const service = await serve({ contract });
    await call(service, "POST", rules, { body: { name: "a", priority: 77 } });
    const other = await call(service, "POST", rules, { body: { name: "b" } });
    for (const again of [
      await call(service, "POST", rules, { body: { name: "a" } }),
      await call(service, "PUT", `${rules}/${textAt(other, "/id")}`, { body: { name: "a" } }),
    ]) {
      expect([again.status, again.at("/error/code")]).toEqual([409, "RULE_EXISTS"]);
      expect(again.text).toContain('\\"a\\"');
      expect(again.text).not.toContain("77");
    }
    expect(
      (await call(service, "PUT", `${rules}/${textAt(other, "/id")}`, { body: { name: "b", priority: 2 } })).status,
    ).toBe(200);
  });

  test("is edited, added and removed by hand, past the contract's rules", async () => {
    const service = await serve({ contract });
    const created = await call(service, "POST", rules, { body: { name: "a" } });
    const id = textAt(created, "/id");
    expect(service.put(id, { name: "a", priority: "by hand" })).toBe(id);
    const added = service.put(undefined, { name: "a" });
    expect(service.rules()).toEqual([
      { ruleId: id, rule: { name: "a", priority: "by hand" } },
      { ruleId: added, rule: { name: "a" } },
    ]);
    expect((await call(service, "GET", `${rules}/${id}`)).at("/priority")).toBe("by hand");
    expect([service.remove(added), service.remove(added)]).toEqual([true, false]);
    expect((await call(service, "GET", `${rules}/${added}`)).status).toBe(404);
    expect(() => service.put(undefined, { name: Number.NaN })).toThrow("name is not JSON");
  });
});

describe("the list", () => {
  test("has 20 rules a page unless the client asks for another size, and says when it ends", async () => {
    const service = await serve({ contract });
    const ids = Array.from({ length: 45 }, (_, index) => service.put(undefined, { name: `rule ${index}` }));
    const seen: unknown[] = [];
    const sizes: number[] = [];
    for (let cursor = ""; ; ) {
      const page = await call(service, "GET", `${rules}${cursor}`);
      const found = fieldOfEach(page, "/rules", "id");
      seen.push(...found);
      sizes.push(found.length);
      if (page.at("/hasMore") === false) {
        expect(page.at("/nextCursor")).toBe(null);
        break;
      }
      cursor = `?cursor=${textAt(page, "/nextCursor")}`;
    }
    expect(sizes).toEqual([20, 20, 5]);
    expect(seen).toEqual(ids);
    expect(fieldOfEach(await call(service, "GET", `${rules}?limit=45`), "/rules", "id")).toEqual(ids);
  });

  test("goes on where it was when rules come and go between pages", async () => {
    const service = await serve({ contract });
    const ids = Array.from({ length: 6 }, (_, index) => service.put(undefined, { name: `rule ${index}` }));
    const first = await call(service, "GET", `${rules}?limit=2`);
    for (const id of ids.slice(0, 3)) service.remove(id);
    const added = service.put(undefined, { name: "late" });
    const rest = await call(service, "GET", `${rules}?limit=10&cursor=${textAt(first, "/nextCursor")}`);
    expect(fieldOfEach(rest, "/rules", "id")).toEqual([...ids.slice(3), added]);
  });

  test.each([
    "limit=201",
    "limit=0",
    "limit=ten",
    "limit=1.5",
    "limit=-1",
    "limit=",
    "cursor=abc",
    "cursor=",
    "limit=1&limit=2",
    "page=2",
    "ruleId=x",
  ])("refuses ?%s", async (query) => {
    const service = await serve({ contract });
    const refused = await call(service, "GET", `${rules}?${query}`);
    expect([refused.status, refused.at("/error/code")]).toEqual([400, "BAD_REQUEST"]);
  });
});

describe("a request that the contract does not know", () => {
  test("has another path: 404; another method: 405 with those that there are", async () => {
    const service = await serve({ contract });
    for (const path of [
      "/",
      "/api/v1/merchants",
      `${rules}/`,
      `${rules}/a/b`,
      "//api/v1/merchants/rules",
      `${rules}/%zz`,
      "/api/v2/merchants/rules",
    ]) {
      const missing = await call(service, "GET", path);
      expect([path, missing.status, missing.at("/error/code")]).toEqual([path, 404, "NOT_FOUND"]);
    }
    const wrong = await call(service, "PATCH", rules);
    expect([wrong.status, wrong.at("/error/code"), wrong.headers.get("allow")]).toEqual([
      405,
      "METHOD_NOT_ALLOWED",
      "POST, GET, DELETE",
    ]);
    expect((await call(service, "HEAD", rules)).status).toBe(405);
    expect(service.requestCount("unknown")).toBe(9);
  });

  test("names no rule to delete: nothing is deleted", async () => {
    const service = await serve({ contract });
    service.put(undefined, { name: "a" });
    for (const target of [rules, `${rules}?ruleId=`]) expect((await call(service, "DELETE", target)).status).toBe(400);
    expect(service.rules()).toHaveLength(1);
  });

  test.each([
    ["not JSON", '{"name":', {}, 400, "BAD_REQUEST"],
    ["no object", "[1]", {}, 400, "BAD_REQUEST"],
    ["nothing", "", {}, 400, "BAD_REQUEST"],
    ["a number that no program can hold", '{"name":"a","priority":1e999}', {}, 422, "VALIDATION_FAILED"],
    ["nesting without end", `{"name":"a","x":${"[".repeat(2000)}${"]".repeat(2000)}}`, {}, 422, "VALIDATION_FAILED"],
    ["another content type", '{"name":"a"}', { "content-type": "text/plain" }, 415, "UNSUPPORTED_MEDIA_TYPE"],
    [
      "another charset",
      '{"name":"a"}',
      { "content-type": "application/json; charset=latin1" },
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    ["a body beyond the limit", `{"name":"${"a".repeat(1_048_576)}"}`, {}, 413, "PAYLOAD_TOO_LARGE"],
  ])("has a body that is %s", async (_, body, headers, status, code) => {
    const service = await serve({ contract });
    const refused = await call(service, "POST", rules, { body, headers });
    expect([refused.status, refused.at("/error/code")]).toEqual([status, code]);
    expect(service.rules()).toEqual([]);
  });

  test("has a body that is not UTF-8, or a larger one of unknown length", async () => {
    const service = await serve({ contract });
    const headers = { "content-type": "application/json", authorization: "Bearer local-token" };
    const latin = await fetch(service.url + rules, {
      method: "POST",
      headers,
      body: Buffer.from('{"name":"\u00fc"}', "latin1"),
    });
    expect(latin.status).toBe(400);
    const stream = new ReadableStream({
      start(controller) {
        for (let count = 0; count < 40; count += 1) controller.enqueue(new Uint8Array(65_536).fill(32));
        controller.close();
      },
    });
    expect((await fetch(service.url + rules, { method: "POST", headers, body: stream, duplex: "half" })).status).toBe(
      413,
    );
  });
});

test("every answer has a request id of its own, and every request is remembered without its body", async () => {
  const service = await serve({ contract });
  const answers = [
    await call(service, "GET", "/nowhere"),
    await call(service, "GET", rules),
    await call(service, "GET", rules, { token: "wrong" }),
  ];
  const ids = answers.map(({ headers }) => headers.get("x-request-id"));
  expect(new Set(ids).size).toBe(3);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/);
  await call(service, "POST", rules, { body: { name: "a" }, headers: { "idempotency-key": "k" } });
  await call(service, "GET", `${rules}?limit=5`);
  expect(service.requests.map(({ operation, status }) => [operation, status])).toEqual([
    ["unknown", 404],
    ["list", 200],
    ["list", 401],
    ["create", 201],
    ["list", 200],
  ]);
  expect(service.requests.at(-2)).toEqual({
    operation: "create",
    method: "POST",
    path: rules,
    query: {},
    status: 201,
    idempotencyKey: "k",
  });
  expect(service.requests.at(-1)?.query).toEqual({ limit: "5" });
  expect([service.requestCount(), service.requestCount("list"), service.requestCount("delete")]).toEqual([5, 3, 0]);
  service.resetRequests();
  expect([service.requestCount(), service.requests]).toEqual([0, []]);
});

test("requests beyond the rate are told how long to wait", async () => {
  let now = 0;
  const service = await serve({ contract, requestsPerSecond: 2, now: () => now });
  const statuses = async (count: number) => {
    const received = [];
    for (let index = 0; index < count; index += 1) received.push(await call(service, "GET", rules));
    return received;
  };
  const [, , third] = await statuses(3);
  expect([third?.status, third?.headers.get("retry-after"), third?.at("/error/code")]).toEqual([
    429,
    "1",
    "RATE_LIMITED",
  ]);
  now += 1000;
  expect((await statuses(3)).map(({ status }) => status)).toEqual([200, 200, 429]);
});
