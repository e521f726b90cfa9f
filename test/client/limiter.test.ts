import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { Limiter } from "../../sdk/client/limiter.ts";
import { clientOf, failureOf, type Reply, reply, serve } from "./scripted-server.ts";

const found = { json: { name: "x" } };

test("a 429 pauses everything until its Retry-After, and costs no call more than one attempt", async () => {
  const times: number[] = [];
  const server = await serve((_, number) => {
    times.push(performance.now());
    return number === 1 ? { status: 429, headers: { "retry-after": "0.3" } } : found;
  });
  const client = clientOf(server, { limits: { concurrency: 1, maxAttempts: 2 } });
  await Promise.all(Array.from({ length: 5 }, (_, index) => client.get(`r${index}`)));
  expect(server.requests).toHaveLength(6);
  const [first = 0, second = 0] = times;
  expect(second - first).toBeGreaterThanOrEqual(290);
});

test("a Retry-After of exactly limits.maxRetryAfterMs pauses everything as well", async () => {
  const times: number[] = [];
  const server = await serve((_, number) => {
    times.push(performance.now());
    return number === 1 ? { status: 429, headers: { "retry-after": "1" } } : found;
  });
  const client = clientOf(server, { limits: { concurrency: 1, maxRetryAfterMs: 1000 } });
  await Promise.all(Array.from({ length: 3 }, (_, index) => client.get(`r${index}`)));
  expect(server.requests).toHaveLength(4);
  const [first = 0, second = 0] = times;
  expect(second - first).toBeGreaterThanOrEqual(990);
});

test("a 429 that says when to come back is no failed attempt: only the total clock ends a call that is put off", async () => {
  const server = await serve((_, number) =>
    number <= 4 ? { status: 429, headers: { "retry-after": "0.02" } } : found,
  );
  await clientOf(server, { limits: { maxAttempts: 2 } }).get("r");
  expect(server.requests).toHaveLength(5);

  const full = await serve(() => ({ status: 429, headers: { "retry-after": "0.1" } }));
  const error = await failureOf(
    clientOf(full, { limits: { maxAttempts: 2, attemptTimeoutMs: 500, totalTimeoutMs: 500 } }).get("r"),
  );
  expect(error.code).toBe("RATE_LIMITED");
  expect(error.message).toContain("no time is left");
  expect(full.requests.length).toBeGreaterThan(2);
});

test("a pause holds what waits for its second as well", async () => {
  const limiter = new Limiter({ concurrency: 4, requestsPerSecond: 1.9 });
  const began = performance.now();
  const startAfter = (): Promise<number> => limiter.run(async () => performance.now() - began);
  const both = Promise.all([startAfter(), startAfter()]);
  limiter.slowDown(700, performance.now());
  const [first, second] = await both;
  expect(first).toBeLessThan(500);
  expect(second).toBeGreaterThanOrEqual(690);
});

test("the call that was refused goes first when the pause is over", async () => {
  const server = await serve((_, number) =>
    number === 1 ? { status: 429, headers: { "retry-after": "0.05" } } : found,
  );
  const client = clientOf(server, { limits: { concurrency: 1 } });
  await Promise.all(["first", "second", "third"].map((id) => client.get(id)));
  const order = server.requests.map(({ target }) => target.split("/").at(-1));
  expect(order.slice(0, 1)).toEqual(["first"]);
  expect(order.filter((id) => id === "first")).toHaveLength(2);
  expect(order.indexOf("first", 1)).toBeLessThanOrEqual(2);
});

test("a service that lets ten pass at a time is worked through without a failure", async () => {
  let windowEnds = 0;
  let passed = 0;
  const server = await serve(() => {
    const now = performance.now();
    if (now >= windowEnds) {
      windowEnds = now + 100;
      passed = 0;
    }
    passed += 1;
    return passed <= 10 ? found : { status: 429, headers: { "retry-after": "0.1" } };
  });
  const client = clientOf(server, { limits: { concurrency: 16 } });
  await Promise.all(Array.from({ length: 60 }, (_, index) => client.get(`r${index}`)));
  expect(server.requests.length).toBeLessThan(110);
});

test("refusals of requests that were under way together halve the concurrency once, successes bring it back", async () => {
  const limiter = new Limiter({ concurrency: 8, requestsPerSecond: null });
  const startedAt = performance.now();
  for (let refused = 0; refused < 8; refused += 1) limiter.slowDown(0, startedAt);
  expect(limiter.concurrency).toBe(4);
  const succeed = (times: number): void => {
    for (let time = 0; time < times; time += 1) limiter.succeeded();
  };
  succeed(3);
  expect(limiter.concurrency).toBe(4);
  succeed(1);
  expect(limiter.concurrency).toBe(5);
  succeed(5 + 6 + 7 + 8);
  expect(limiter.concurrency).toBe(8);
});

test("the concurrency never falls below one", () => {
  const limiter = new Limiter({ concurrency: 3, requestsPerSecond: null });
  for (let time = 0; time < 5; time += 1) limiter.slowDown(0, performance.now() + time);
  expect(limiter.concurrency).toBe(1);
});

test("after a refusal half as many requests are under way at once", async () => {
  let underWay = 0;
  let most = 0;
  const server = await serve((_, number) => async (response) => {
    if (number === 1) return reply(response, { status: 429 });
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise(setImmediate);
    underWay -= 1;
    reply(response, found);
  });
  const client = clientOf(server, { limits: { concurrency: 8 } });
  await client.get("r0");
  await Promise.all(["r1", "r2", "r3", "r4", "r5", "r6"].map((id) => client.get(id)));
  expect(most).toBeLessThanOrEqual(4);
});

test.each([
  [1.9, 527],
  [2.5, 800],
])("at most limits.requestsPerSecond (%d) start in any window", async (requestsPerSecond, windowMs) => {
  const times: number[] = [];
  const server = await serve(() => {
    times.push(performance.now());
    return found;
  });
  const client = clientOf(server, { limits: { requestsPerSecond } });
  const count = Math.floor(requestsPerSecond) + 1;
  await Promise.all(Array.from({ length: count }, (_, index) => client.get(`r${index}`)));
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(windowMs - 20);
});

test("a retry that gets no turn before the total clock ends fails with what it met", async () => {
  const later = (response: ServerResponse, ms: number, answer: Reply) =>
    void setTimeout(() => reply(response, answer), ms);
  const server = await serve(({ target }) => (response) => {
    if (target.endsWith("slow")) later(response, 1000, found);
    else later(response, 80, { status: 503 });
  });
  const client = clientOf(server, { limits: { concurrency: 1, attemptTimeoutMs: 150, totalTimeoutMs: 150 } });
  const refused = failureOf(client.get("refused"));
  const slow = failureOf(client.get("slow"));
  expect((await refused).message).toContain("the service answered 503, and no time is left for attempt 2");
  expect(await slow).toMatchObject({ code: "TIMED_OUT" });
  expect(server.requests).toHaveLength(2);
});
