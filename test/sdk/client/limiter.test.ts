import type { ServerResponse } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import { Limiter } from "../../../sdk/client/limiter.ts";
import { clientOf, failureOf, type Reply, reply, serve } from "./scripted-server.ts";

const found = { json: { name: "x" } };

test.each([
  ["until its Retry-After, and costs no call more than one attempt", "0.3", 5, { maxAttempts: 2 }],
  ["for a Retry-After of exactly limits.maxRetryAfterMs as well", "1", 3, { maxRetryAfterMs: 1000 }],
])("a 429 pauses everything %s", async (_, seconds, calls, limits) => {
  const times: number[] = [];
  const server = await serve((_, number) => {
    times.push(performance.now());
    return number === 1 ? { status: 429, headers: { "retry-after": seconds } } : found;
  });
  const client = clientOf(server, { limits: { concurrency: 1, ...limits } });
  await Promise.all(Array.from({ length: calls }, (_, index) => client.get(`r${index}`)));
  expect(server.requests).toHaveLength(calls + 1);
  const [first = 0, second = 0] = times;
  expect(second - first).toBeGreaterThanOrEqual(Number(seconds) * 1000 - 10);
});

test("a 429 that says when to come back is no failed attempt: only the total clock ends a call that is put off", async () => {
  const server = await serve((_, number) =>
    number <= 4 ? { status: 429, headers: { "retry-after": "0.02" } } : found,
  );
  await clientOf(server, { limits: { maxAttempts: 2 } }).get("r");
  expect(server.requests).toHaveLength(5);

  const full = await serve(() => ({ status: 429, headers: { "retry-after": "0.1" } }));
  const error = await failureOf(
    clientOf(full, { limits: { maxAttempts: 2, attemptTimeoutMs: 3000, totalTimeoutMs: 3000 } }).get("r"),
  );
  expect(error.code).toBe("RATE_LIMITED");
  expect(error.message).toContain("no time is left");
  expect(full.requests.length).toBeGreaterThan(2);
});

test("a pause holds what waits for its second as well", async () => {
  const { advance } = stoppedClock();
  const limiter = new Limiter({ concurrency: 4, requestsPerSecond: 1.9 });
  const started: string[] = [];
  const both = Promise.all([1, 2].map(() => limiter.run(async () => started.push("request"))));
  limiter.slowDown(700, performance.now());
  await advance(699);
  expect(started).toHaveLength(1);
  await advance(1);
  expect(started).toHaveLength(2);
  await both;
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
  [1.9, 1, 527],
  [2.5, 2, 800],
  [0.5, 1, 2000],
])(
  "at most limits.requestsPerSecond (%d) start in any window: %i in %i ms",
  async (requestsPerSecond, most, windowMs) => {
    const { advance } = stoppedClock();
    const limiter = new Limiter({ concurrency: 100, requestsPerSecond });
    const started: string[] = [];
    const all = Promise.all(Array.from({ length: 3 * most }, () => limiter.run(async () => started.push("request"))));
    for (const windows of [1, 2, 3]) {
      await advance(windows === 1 ? 0 : 1);
      expect(started).toHaveLength(windows * most);
      await advance(windowMs - 1);
      expect(started).toHaveLength(windows * most);
    }
    await all;
  },
);

test("the client sends nothing more once limits.requestsPerSecond is used up", async () => {
  const server = await serve(() => found);
  const slow = clientOf(server, { limits: { requestsPerSecond: 1 / 3600 } });
  await Promise.race([slow.get("first"), slow.get("in an hour")]);
  // It was called later, and comes first.
  await clientOf(server).get("of another client");
  expect(server.requests.map(({ target }) => target.split("/").at(-1))).toEqual(["first", "of%20another%20client"]);
});

test("a retry that gets no turn before the total clock ends fails with what it met", async () => {
  const later = (response: ServerResponse, ms: number, answer: Reply) =>
    void setTimeout(() => reply(response, answer), ms);
  const server = await serve(({ target }) => (response) => {
    if (target.endsWith("slow")) later(response, 20_000, found);
    else later(response, 500, { status: 503 });
  });
  const client = clientOf(server, { limits: { concurrency: 1, attemptTimeoutMs: 5000, totalTimeoutMs: 5000 } });
  const refused = failureOf(client.get("refused"));
  const slow = failureOf(client.get("slow"));
  expect((await refused).message).toContain("the service answered 503, and no time is left for attempt 2");
  expect(await slow).toMatchObject({ code: "TIMED_OUT" });
  expect(server.requests).toHaveLength(2);
});

/** A clock that goes on only when it is told to. */
function stoppedClock(): { advance: (ms: number) => Promise<unknown> } {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  return { advance: (ms) => vi.advanceTimersByTimeAsync(ms) };
}
