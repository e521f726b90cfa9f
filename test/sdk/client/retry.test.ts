import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import {
  type Answer,
  clientOf,
  cut,
  dropped,
  failureOf,
  type ScriptedServer,
  serve,
  silent,
} from "./scripted-server.ts";

const limits = { maxAttempts: 3 };
const keyed = { idempotency: {}, limits };
const created = { status: 201, json: { id: "r1" } };
const unknown: [string, Answer][] = [
  ["408", { status: 408 }],
  ["500", { status: 500 }],
  ["503", { status: 503 }],
  ["503 with Retry-After", { status: 503, headers: { "retry-after": "0" } }],
  ["a lost connection", dropped],
  ["a cut body", cut(201)],
];
const passing: typeof unknown = [...unknown.slice(0, -1), ["a cut body", cut(200)], ["429", { status: 429 }]];

test.each(passing)("reads, deletes and PUT updates try again after %s", async (name, answer) => {
  const server = await serve((_received, number) => (number % 2 === 1 ? answer : { json: { id: "r1" } }));
  const client = clientOf(server, {
    limits,
    operations: { update: { path: "/rules/{ruleId}", body: "declared" }, list: { path: "/rules", items: "" } },
  });
  await client.get("r1");
  // Where the first attempt may be carried out yet, that is told.
  expect(await client.delete("r1")).toBe(name === "429" ? "deleted" : "deleted again");
  expect(await client.update("r1", {})).toMatchObject({ ruleId: "r1" });
  expect(server.requests.map(({ method }) => method)).toEqual(["GET", "GET", "DELETE", "DELETE", "PUT", "PUT"]);
});

test("a list tries the page again that failed", async () => {
  const list = { path: "/rules", items: "/rules", pagination: { type: "cursor", next: "/next" } } as const;
  const server = await serve([
    { json: { rules: [{ id: "a" }], next: "2" } },
    { status: 500 },
    cut(200),
    { json: { rules: [{ id: "b" }] } },
  ]);
  const ids: string[] = [];
  for await (const { ruleId } of clientOf(server, { limits, operations: { list } }).list()) ids.push(ruleId);
  expect(ids).toEqual(["a", "b"]);
  expect(server.requests.map(({ target }) => target)).toEqual([
    "/rules",
    "/rules?cursor=2",
    "/rules?cursor=2",
    "/rules?cursor=2",
  ]);
});

test.each([400, 403, 404, 405, 409, 410, 422, 501, 505])("%i is not tried again", async (status) => {
  const server = await serve([{ status }]);
  await failureOf(clientOf(server, keyed).get("r1"));
  await failureOf(clientOf(server, keyed).create({}));
  expect(server.requests).toHaveLength(2);
});

test("the last of limits.maxAttempts ends the call and says so", async () => {
  const server = await serve([{ status: 503 }]);
  const error = await failureOf(clientOf(server, { limits }).get("r1"));
  expect(error).toMatchObject({ code: "SERVICE_FAILED", outcomeUnknown: false });
  expect(error.message).toContain("the service answered 503, at the last of 3 attempts");
  expect(server.requests).toHaveLength(3);
});

test.each([...unknown, ["a redirect 302", { status: 302 }], ["a redirect 303", { status: 303 }]] as typeof unknown)(
  "a create without a key is not sent again after %s: the rule may exist",
  async (_, answer) => {
    const server = await serve([answer, created]);
    const error = await failureOf(clientOf(server, { limits }).create({}, { label: "limit-1" }));
    expect(error).toMatchObject({
      code: "RULE_OUTCOME_UNKNOWN",
      outcomeUnknown: true,
      exchange: { method: "POST", path: "/api/v1/merchants/rules" },
    });
    expect(error.message).toMatch(/^create rule "limit-1" failed: [^;]*; the rule may exist[^;]* What to do: /);
    expect(error.message).toContain("look for the rule at the service; create it again only if it is not there");
    expect(error.message.split("may exist")).toHaveLength(2);
    expect(error.cause).toMatchObject({ name: "MerchantRulesError", outcomeUnknown: true });
    expect(server.requests).toHaveLength(1);
  },
);

test("without idempotency in the contract no key is sent", async () => {
  const server = await serve([created]);
  await clientOf(server).create({});
  expect(server.requests[0]?.headers).not.toHaveProperty("idempotency-key");
});

const keysOf = ({ requests }: ScriptedServer) => requests.map(({ headers }) => headers["idempotency-key"]);

test.each(unknown)("a create with a key is sent again under the same key after %s", async (_, answer) => {
  const server = await serve([answer, answer, created]);
  expect(await clientOf(server, keyed).create({})).toMatchObject({ ruleId: "r1" });
  const [key] = keysOf(server);
  expect(key).toMatch(/^[0-9a-f-]{36}$/);
  expect(keysOf(server)).toEqual([key, key, key]);
});

test("every create and every update has a key of its own", async () => {
  const server = await serve(({ method }) => (method === "POST" ? created : { json: { id: "r1" } }));
  const client = clientOf(server, {
    idempotency: {},
    operations: { update: { path: "/rules/{ruleId}", body: "declared" } },
  });
  await client.create({});
  await client.create({});
  await client.update("r1", {});
  await client.update("r1", {});
  expect(new Set(keysOf(server)).size).toBe(4);
});

test("a create is sent again after 429 without a key: it was refused", async () => {
  const server = await serve([{ status: 429, headers: { "retry-after": "0" } }, created]);
  expect(await clientOf(server, { limits }).create({})).toMatchObject({ ruleId: "r1" });
  expect(server.requests).toHaveLength(2);
});

test("a create whose first attempt was lost stays unknown, whatever the second is told", async () => {
  const server = await serve([dropped, { status: 409 }]);
  const error = await failureOf(clientOf(server, keyed).create({}));
  expect(error).toMatchObject({ code: "RULE_OUTCOME_UNKNOWN", outcomeUnknown: true, exchange: { status: 409 } });
  expect(error.cause).toMatchObject({ code: "CONNECTION_FAILED" });
});

test.each(["PATCH", "POST"] as const)(
  "a %s update is sent again after a lost answer only under a key",
  async (method) => {
    const server = await serve([dropped, dropped, { json: { id: "r1" } }]);
    const operations = { update: { method, path: "/rules/{ruleId}", body: "declared" } } as const;
    expect(await failureOf(clientOf(server, { limits, operations }).update("r1", {}))).toMatchObject({
      code: "CONNECTION_FAILED",
      outcomeUnknown: true,
    });
    expect(server.requests).toHaveLength(1);
    await clientOf(server, { ...keyed, operations }).update("r1", {});
    expect(server.requests).toHaveLength(3);
  },
);

test.each<[string, Answer]>([
  ["lost its answer", dropped],
  ["was answered 502", { status: 502 }],
])("a delete that %s and then finds nothing is unconfirmed, and nothing is read", async (_, answer) => {
  const server = await serve([answer, { status: 404 }]);
  expect(await clientOf(server, { limits }).delete("r1")).toBe("unconfirmed");
  expect(server.requests.map(({ method }) => method)).toEqual(["DELETE", "DELETE"]);
});

test("a delete that was refused first and then finds nothing has found nothing", async () => {
  const server = await serve([{ status: 429 }, { status: 404 }]);
  expect(await failureOf(clientOf(server, { limits }).delete("r1"))).toMatchObject({
    code: "RULE_NOT_FOUND",
    outcomeUnknown: false,
  });
  expect(server.requests).toHaveLength(2);
});

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

test("a refused connection sent nothing: a create knows that, and is tried again", async () => {
  const baseUrl = `http://127.0.0.1:${await closedPort()}`;
  const error = await failureOf(clientOf({ baseUrl }, { limits }).create({}));
  expect(error).toMatchObject({ code: "CONNECTION_FAILED", outcomeUnknown: false });
  expect(error.message).toContain(`cannot connect to ${baseUrl} (ECONNREFUSED), at the last of 3 attempts`);
});

test("a name that does not resolve sent nothing", async () => {
  const error = await failureOf(clientOf({ baseUrl: "https://rules.invalid" }, { limits }).create({}));
  expect(error).toMatchObject({ code: "CONNECTION_FAILED", outcomeUnknown: false });
  expect(error.message).toMatch(/cannot connect to https:\/\/rules\.invalid \((ENOTFOUND|EAI_AGAIN)\)/);
});

test("an attempt that takes too long is ended; a read is tried again, a create is unknown", async () => {
  const server = await serve([silent, { json: { id: "r1" } }, silent, created]);
  const client = clientOf(server, { limits: { ...limits, attemptTimeoutMs: 1500 } });
  expect(await client.get("r1")).toMatchObject({ ruleId: "r1" });
  const error = await failureOf(client.create({}));
  expect(error).toMatchObject({ code: "RULE_OUTCOME_UNKNOWN" });
  expect(error.message).toContain("no whole answer within 1500 ms");
  expect(server.requests).toHaveLength(3);
});

test("an attempt's clock runs to the last byte, not to the next", async () => {
  const drip: Answer = (response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(" "), 10);
    response.on("close", () => clearInterval(timer));
  };
  const server = await serve([drip]);
  const error = await failureOf(clientOf(server, { limits: { maxAttempts: 1, attemptTimeoutMs: 1500 } }).get("r1"));
  expect(error).toMatchObject({ code: "TIMED_OUT", exchange: { status: 200 } });
});

test("the total clock ends a call that has attempts left", async () => {
  const server = await serve([silent]);
  const before = performance.now();
  const error = await failureOf(
    clientOf(server, { limits: { maxAttempts: 20, attemptTimeoutMs: 50, totalTimeoutMs: 180 } }).get("r1"),
  );
  expect(error).toMatchObject({ code: "TIMED_OUT" });
  expect(error.message).toContain("limits.totalTimeoutMs (180 ms)");
  expect(performance.now() - before).toBeLessThan(10_000);
  expect(server.requests.length).toBeLessThanOrEqual(5);
});

test("the total clock starts when a call's first turn comes, not while it waits for it", async () => {
  const slow: Answer = (response) => {
    setTimeout(() => response.end('{"name":"x"}'), 500);
  };
  const server = await serve([slow]);
  const client = clientOf(server, { limits: { concurrency: 1, attemptTimeoutMs: 3000, totalTimeoutMs: 3000 } });
  await Promise.all(Array.from({ length: 8 }, () => client.get("r1")));
  expect(server.requests).toHaveLength(8);
});

const date = Date.UTC(2026, 0, 1);
test.each([
  ["seconds", { "retry-after": "0.6" }, 590],
  // Seconds are all that an HTTP date has. The service's own clock counts, here one that is months away.
  ["a date", { "retry-after": new Date(date + 1000).toUTCString(), date: new Date(date).toUTCString() }, 990],
])("Retry-After in %s is waited for", async (_, headers, waitedMs) => {
  const times: number[] = [];
  const server = await serve((_received, number) => {
    times.push(performance.now());
    return number === 1 ? { status: 503, headers } : { json: { id: "r1" } };
  });
  await clientOf(server, { limits }).get("r1");
  const [first = 0, second = 0] = times;
  expect(second - first).toBeGreaterThanOrEqual(waitedMs);
});

test("a Retry-After that says nothing usable, or a date that has passed, asks for no wait", async () => {
  const answers = ["soon", "-1", new Date(0).toUTCString()].map((text) => ({
    status: 503,
    headers: { "retry-after": text },
  }));
  const server = await serve([...answers, { json: { id: "r1" } }]);
  await clientOf(server, { limits: { maxAttempts: 4 } }).get("r1");
  expect(server.requests).toHaveLength(4);
});

test("a Retry-After longer than limits.maxRetryAfterMs ends the call at once", async () => {
  const server = await serve([{ status: 429, headers: { "retry-after": "3600" } }]);
  const error = await failureOf(clientOf(server, { limits: { ...limits, maxRetryAfterMs: 2000 } }).get("r1"));
  expect(error).toMatchObject({ code: "RATE_LIMITED", retryAfterMs: 3_600_000 });
  expect(error.message).toContain("asks to wait 3600 s, longer than limits.maxRetryAfterMs (2000 ms)");
  expect(server.requests).toHaveLength(1);
});

test("a Retry-After that the total clock has no time for ends the call at once", async () => {
  const server = await serve([{ status: 503, headers: { "retry-after": "5" } }]);
  const error = await failureOf(
    clientOf(server, { limits: { attemptTimeoutMs: 2000, totalTimeoutMs: 4000 } }).get("r1"),
  );
  expect(error.message).toContain("no time is left for attempt 2");
  expect(server.requests).toHaveLength(1);
});

test.each(['"1"', 'W/"1"'])(
  "a PATCH of the version %s is sent again after a lost answer only where it names that",
  async (etag) => {
    const server = await serve(({ method }) =>
      method === "GET" ? { json: { id: "r1", a: 1 }, headers: { etag } } : { status: 503 },
    );
    const update = { method: "PATCH", path: "/rules/{ruleId}", version: { etag: true } } as const;
    await failureOf(clientOf(server, { limits, operations: { update } }).update("r1", { a: 2 }));
    const sent = server.requests.filter(({ method }) => method === "PATCH");
    expect(sent.map(({ headers }) => headers["if-match"])).toEqual(etag === '"1"' ? [etag, etag, etag] : [undefined]);
  },
);

describe("when a limit ends", () => {
  const date = "Fri, 27 Nov 2026 04:00:00 GMT";
  const at = Date.parse(date) / 1000;
  const limited: [string, number, Record<string, string>][] = [
    ["X-Rate-Limit-Reset, in seconds", 429, { "x-rate-limit-reset": "1" }],
    ["X-RateLimit-Reset, in seconds since 1970", 429, { "x-ratelimit-reset": String(at + 1) }],
    ["RateLimit-Reset, in milliseconds since 1970", 429, { "ratelimit-reset": String((at + 1) * 1000) }],
    ["RateLimit, by reset", 429, { ratelimit: "limit=10, remaining=0, reset=1" }],
    ["RateLimit, by t", 429, { ratelimit: '"default";r=0;t=1' }],
    ["RateLimit, of the limit that has nothing left", 429, { ratelimit: '"hour";r=800;t=2400, "second";r=0;t=1' }],
    ["Retry-After of a 403", 403, { "retry-after": "1" }],
  ];

  test.each(limited)("by %s, is waited for", async (_, status, headers) => {
    const server = await serve([{ status, headers: { ...headers, date } }, { json: { id: "r1" } }]);
    const startedAt = performance.now();
    await clientOf(server, { limits }).get("r1");
    expect(performance.now() - startedAt).toBeGreaterThan(950);
    expect(server.requests).toHaveLength(2);
  });

  test.each(limited)(
    "by %s, is not waited for where that is longer than the contract allows",
    async (_, status, headers) => {
      const server = await serve([{ status, headers: { ...headers, date } }]);
      const error = await failureOf(clientOf(server, { limits: { ...limits, maxRetryAfterMs: 500 } }).get("r1"));
      expect(error).toMatchObject({ code: "RATE_LIMITED" });
      expect(error.message).toContain("asks to wait 1 s, longer than limits.maxRetryAfterMs (500 ms)");
      expect(server.requests).toHaveLength(1);
    },
  );

  test("is not told by a limit of which something is left", async () => {
    const headers = { "x-ratelimit-remaining": "7", "x-ratelimit-reset": "30" };
    const server = await serve([{ status: 429, headers }, { json: { id: "r1" } }]);
    const startedAt = performance.now();
    await clientOf(server, { limits }).get("r1");
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  test("is not told by a limit header of another status", async () => {
    const server = await serve([{ status: 503, headers: { "x-rate-limit-reset": "30" } }, { json: { id: "r1" } }]);
    const startedAt = performance.now();
    await clientOf(server, { limits }).get("r1");
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });
});
