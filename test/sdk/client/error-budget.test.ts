import { createServer } from "node:net";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { RulesClient } from "../../../sdk/client/index.ts";
import { isMerchantRulesError, type MerchantRulesError } from "../../../sdk/errors.ts";
import { type Answer, allOf, clientOf, dropped, failureOf, type Reply, serve, silent } from "./scripted-server.ts";

const found = { json: { name: "x" } };
const fixed = { kind: "token", token: "refused" } as const;

/** The number of calls that ended with each code. */
function codesOf(failures: readonly MerchantRulesError[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { code } of failures) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

function failures(count: number, call: (index: number) => Promise<unknown>): Promise<MerchantRulesError[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => failureOf(call(index))));
}

/** Reads one rule after the other until one is not sent; gives how many were. */
async function readsUntilClosed(client: RulesClient): Promise<number> {
  for (let sent = 0; sent < 100; sent += 1) {
    const error = await client.get("r1").catch((thrown: unknown) => thrown);
    if (isMerchantRulesError(error) && error.code === "NOT_TRIED") return sent;
  }
  throw new Error("it never closed");
}

function later(ms: number): void {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + ms);
}

describe("a service that accepts and never answers", () => {
  test.each<[string, (client: RulesClient, index: number) => Promise<unknown>]>([
    ["reads", (client, index) => client.get(`r${index}`)],
    ["creates", (client) => client.create({ name: "x" })],
    ["deletes", (client, index) => client.delete(`r${index}`)],
  ])("ends 1,000 %s after two timeouts and 25 requests", async (_, call) => {
    const server = await serve([silent]);
    const client = clientOf(server, { limits: { concurrency: 16, attemptTimeoutMs: 400 } }, {}, { backoffMs: 50 });
    const began = performance.now();
    const failed = await failures(1000, (index) => call(client, index));
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(server.requests.length).toBeLessThanOrEqual(25);
    expect(failed.filter(({ code }) => code === "NOT_TRIED").length).toBeGreaterThanOrEqual(975);
    expect(failed.filter(({ outcomeUnknown }) => outcomeUnknown).length).toBeLessThanOrEqual(25);
  });

  test("ends calls that wait for their second as well", async () => {
    const server = await serve([silent]);
    const limits = { concurrency: 30, requestsPerSecond: 21, attemptTimeoutMs: 200, maxAttempts: 1 };
    const client = clientOf(server, { limits });
    const began = performance.now();
    const failed = await failures(500, () => client.get("r1"));
    const seconds = Math.ceil((performance.now() - began) / 1000);
    expect(seconds).toBeLessThan(15);
    expect(codesOf(failed)).toEqual({ TIMED_OUT: server.requests.length, NOT_TRIED: 500 - server.requests.length });
    // The 30 that had room, and one more for each second that a slow machine takes.
    expect(server.requests.length).toBeLessThanOrEqual(30 + seconds);
  });
});

describe("a token that is refused", () => {
  test("ends 500 calls after at most limits.concurrency requests", async () => {
    const server = await serve([{ status: 401 }]);
    const client = clientOf(server, { limits: { concurrency: 8 } }, { credentials: fixed });
    const failed = await failures(500, (index) => client.get(`r${index}`));
    expect(server.requests.length).toBeLessThanOrEqual(8);
    expect(codesOf(failed)).toEqual({
      UNAUTHENTICATED: server.requests.length,
      NOT_TRIED: 500 - server.requests.length,
    });
  });

  test("ends all that follows after one request, and every error says why it was not sent", async () => {
    const server = await serve([{ status: 401, json: { error: { code: "expired" } } }]);
    const client = clientOf(server, { operations: { list: { path: "/rules", items: "" } } }, { credentials: fixed });
    const first = await failureOf(client.create({}, { label: "limit-1" }));
    const failed = await failures(500, () => client.create({}, { label: "limit-2" }));
    failed.push(await failureOf(allOf(client.list())));
    expect(server.requests).toHaveLength(1);
    expect(codesOf(failed)).toEqual({ NOT_TRIED: 501 });
    expect(failed[0]?.message).toBe(
      'create rule "limit-2" failed: not sent, because the connection fails: the service answered 401. ' +
        "What to do: check the token or the client credentials of this connection (NOT_TRIED)",
    );
    expect(failed[0]).toMatchObject({ outcomeUnknown: false, advice: first.advice, exchange: undefined });
    expect(failed[0]?.cause).toMatchObject({ code: "UNAUTHENTICATED", exchange: { serviceCode: "expired" } });
  });

  test("ends all that follows where the token operation refuses the client", async () => {
    const server = await serve([{ status: 400 }]);
    const auth = { token: { path: "/token", fields: { secret: "{clientSecret}" } } };
    const credentials = { kind: "client", clientId: "shop", clientSecret: "hush, a secret" } as const;
    const client = clientOf(server, { auth }, { credentials });
    expect(await failureOf(client.get("r1"))).toMatchObject({ code: "UNAUTHENTICATED" });
    vi.spyOn(performance, "now").mockReturnValue(performance.now() + 11_000);
    expect(await failureOf(client.get("r1"))).toMatchObject({ code: "NOT_TRIED" });
    expect(server.requests).toHaveLength(1);
  });
});

describe("45 failed attempts in a row end all that follows, however fast", () => {
  // All of them in one moment, on a machine that is busy too.
  beforeEach(() => {
    vi.spyOn(performance, "now").mockReturnValue(1);
  });
  const list = { path: "/rules", items: "" };
  test.each<[string, Answer]>([
    ["a lost connection", dropped],
    ["500", { status: 500 }],
    ["501", { status: 501 }],
    ["403", { status: 403 }],
    ["a redirect", { status: 302 }],
    ["a page", { body: "<html>" }],
    ["a status that is not expected", { status: 204 }],
  ])("%s", async (_, answer) => {
    const server = await serve([answer]);
    expect(await readsUntilClosed(clientOf(server, { limits: { maxAttempts: 1 } }))).toBe(45);
    expect(server.requests).toHaveLength(45);
  });

  test("refused connections, retries included", async () => {
    const probe = createServer();
    await new Promise<void>((listening) => probe.listen(0, "127.0.0.1", listening));
    const address = probe.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await new Promise((closed) => probe.close(closed));
    const client = clientOf({ baseUrl: `http://127.0.0.1:${port}` }, { limits: { maxAttempts: 4 } });
    expect(await readsUntilClosed(client)).toBe(12);
  });

  test.each([404, 405, 410])("%i where no rule is asked for", async (status) => {
    const server = await serve([{ status }]);
    const client = clientOf(server, { operations: { list } });
    await failures(45, () => allOf(client.list()));
    expect(await failureOf(allOf(client.list()))).toMatchObject({ code: "NOT_TRIED" });
    expect(server.requests).toHaveLength(45);
  });

  test.each<[string, Reply]>([
    ["200", found],
    ["400", { status: 400 }],
    ["404 to a read", { status: 404 }],
    ["409", { status: 409 }],
    ["422", { status: 422 }],
  ])("but not when %s came in between", async (_, answer) => {
    const server = await serve((_received, number) => (number === 20 ? answer : { status: 403 }));
    expect(await readsUntilClosed(clientOf(server))).toBe(65);
  });

  test("429 is neither a failure nor an answer", async () => {
    const server = await serve((_received, number) => ({ status: number % 2 === 1 ? 429 : 403 }));
    expect(await readsUntilClosed(clientOf(server, { limits: { maxAttempts: 1 } }))).toBe(90);
  });
});

test("fewer requests are under way, the fewer failures are left, and all of them again after an answer", async () => {
  let gate = Promise.withResolvers<void>();
  const server = await serve(async (_received, number) => {
    if (number <= 15) return { status: 403 };
    await gate.promise;
    return found;
  });
  const client = clientOf(server, { limits: { concurrency: 16 } });
  for (let index = 0; index < 15; index += 1) await failureOf(client.get("r1"));
  for (const [underWay, before] of [
    [5, 15],
    [16, 31],
  ] as const) {
    const calls = Promise.all(Array.from({ length: 16 }, () => client.get("r1")));
    await expect.poll(() => server.requests.length).toBe(before + underWay);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(server.requests).toHaveLength(before + underWay);
    gate.resolve();
    await calls;
    gate = Promise.withResolvers();
  }
});

describe("a retry that is not sent any more", () => {
  /** One call that is lost and waits for its retry, while others end the budget. */
  async function lostBefore(lost: (client: RulesClient) => Promise<unknown>): Promise<MerchantRulesError> {
    const server = await serve((_received, number) =>
      number === 1 ? { status: 503, headers: { "retry-after": "30" } } : { status: 401 },
    );
    const client = clientOf(server, { idempotency: {} });
    const began = performance.now();
    const waiting = failureOf(lost(client));
    await expect.poll(() => server.requests.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await failureOf(client.get("r2"));
    const error = await waiting;
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(server.requests).toHaveLength(2);
    return error;
  }

  test("of a read is not tried", async () => {
    expect(await lostBefore((client) => client.get("r1"))).toMatchObject({
      code: "NOT_TRIED",
      attempted: 'get rule "r1"',
      outcomeUnknown: false,
    });
  });

  test("of a create that may have taken effect says so", async () => {
    const error = await lostBefore((client) => client.create({}));
    expect(error).toMatchObject({ code: "RULE_OUTCOME_UNKNOWN", outcomeUnknown: true, exchange: { status: 503 } });
    expect(error.reason).toBe("the service answered 503; the rule may exist");
  });

  test("of a delete that may have taken effect says so", async () => {
    expect(await lostBefore((client) => client.delete("r1"))).toMatchObject({
      code: "SERVICE_FAILED",
      outcomeUnknown: true,
    });
  });
});

describe("after 60 seconds", () => {
  test("one call is sent, and all others again once it went well", async () => {
    let isFixed = false;
    const server = await serve(() => (isFixed ? found : { status: 401 }));
    const client = clientOf(server);
    await failureOf(client.get("r1"));
    isFixed = true;
    expect(await failureOf(client.get("r1"))).toMatchObject({ code: "NOT_TRIED" });
    later(60_001);
    const calls = await Promise.allSettled(Array.from({ length: 5 }, () => client.get("r1")));
    expect(calls.map(({ status }) => status)).toEqual(["fulfilled", ...Array(4).fill("rejected")]);
    await client.get("r1");
    expect(server.requests).toHaveLength(3);
  });

  test("one call is sent and none after it where that fails, whatever it was that failed before", async () => {
    const server = await serve((_received, number) => ({ status: number === 1 ? 401 : 503 }));
    const client = clientOf(server);
    await failureOf(client.get("r1"));
    later(60_001);
    expect(await failureOf(client.get("r1"))).toMatchObject({ code: "SERVICE_FAILED" });
    const next = await failureOf(client.get("r1"));
    expect(next).toMatchObject({ code: "NOT_TRIED", cause: expect.objectContaining({ code: "SERVICE_FAILED" }) });
    expect(server.requests).toHaveLength(2);
  });
});
