import { afterEach, expect, test, vi } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { clientOf, contractOf, failureOf, type Received, type Reply, reply, serve, silent } from "./scripted-server.ts";

afterEach(() => {
  vi.useRealTimers();
});

const credentials = { kind: "client", clientId: "shop", clientSecret: "hush, a secret" } as const;
const tokenPath = "/api/v1/auth/token";
const token = { path: tokenPath, fields: { client_id: "{clientId}", client_secret: "{clientSecret}" } };
const found = { json: { name: "x" } };

/** Tokens t1, t2, ... for those who ask; rules for those who present one that `accepts` likes. */
async function tokenService(
  answer: (number: number) => Reply,
  accepts: (authorization: string, received: Received) => boolean = () => true,
) {
  let asked = 0;
  const server = await serve((received) => {
    if (received.target === tokenPath) {
      asked += 1;
      return answer(asked);
    }
    return accepts(String(received.headers.authorization), received)
      ? found
      : { status: 401, json: { error: { code: "expired" } } };
  });
  return {
    ...server,
    server,
    asked: () => asked,
    rules: () => server.requests.filter(({ target }) => target !== tokenPath),
  };
}

const issued = (number: number, expiresIn?: unknown): Reply => ({
  json: { access_token: `t${number}`, expires_in: expiresIn },
});

test("1,000 calls at once ask for one token and present it", async () => {
  const service = await tokenService((number) => issued(number, 3600));
  const client = clientOf(service, { auth: { token } }, { credentials });
  await Promise.all(Array.from({ length: 1000 }, (_, index) => client.get(`r${index}`)));
  expect(service.asked()).toBe(1);
  expect(service.rules()).toHaveLength(1000);
  expect(new Set(service.rules().map(({ headers }) => headers.authorization))).toEqual(new Set(["Bearer t1"]));
});

test("the token operation gets the contract's fields as JSON, and no credentials in a header", async () => {
  const service = await tokenService((number) => issued(number));
  await clientOf(service, { auth: { token } }, { credentials }).get("r1");
  const [request] = service.requests;
  expect(request).toMatchObject({ method: "POST", body: '{"client_id":"shop","client_secret":"hush, a secret"}' });
  expect(request?.headers["content-type"]).toBe("application/json");
  expect(request?.headers).not.toHaveProperty("authorization");
});

test("the token operation may be form-encoded, at an address of its own, with parameters", async () => {
  const issuer = await serve([{ status: 200, json: { data: { jwt: "t1" } } }]);
  const server = await serve([found]);
  const contract: Partial<ContractInput> = {
    parameters: { tenant: {} },
    auth: {
      present: { name: "X-Auth", format: "jwt={token};tenant={tenant}" },
      token: {
        baseUrl: `${issuer.baseUrl}/idp`,
        path: "/{tenant}/token",
        query: { v: "2" },
        encoding: "form",
        fields: { grant_type: "client_credentials", who: "{clientId}@{tenant}", secret: "{clientSecret}" },
        accessToken: "/data/jwt",
        expiresIn: null,
      },
    },
  };
  await clientOf(server, contract, { credentials, parameters: { tenant: "eu" } }).get("r1");
  expect(issuer.requests[0]).toMatchObject({
    target: "/idp/eu/token?v=2",
    body: "grant_type=client_credentials&who=shop%40eu&secret=hush%2C+a+secret",
  });
  expect(issuer.requests[0]?.headers["content-type"]).toBe("application/x-www-form-urlencoded");
  expect(server.requests[0]?.headers["x-auth"]).toBe("jwt=t1;tenant=eu");
});

test("no credentials are sent where the contract presents none", async () => {
  const server = await serve([found]);
  await clientOf(server, { auth: { present: null } }).get("r1");
  expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
});

/** A clock that stands still until it is set, in seconds since now. */
function settableClock(): (seconds: number) => void {
  const began = performance.now();
  const clock = vi.spyOn(performance, "now");
  return (seconds) => void clock.mockReturnValue(began + seconds * 1000);
}

test("a token is renewed before it ends", async () => {
  const service = await tokenService((number) => issued(number, 100));
  const client = clientOf(service, { auth: { token } }, { credentials });
  const set = settableClock();
  for (const [seconds, presented] of [
    [0, "t1"],
    [80, "t1"],
    [95, "t2"],
    [120, "t2"],
  ] as const) {
    set(seconds);
    await client.get("r1");
    expect(service.rules().at(-1)?.headers.authorization).toBe(`Bearer ${presented}`);
  }
  expect(service.asked()).toBe(2);
});

test("where an early renewal fails, the token is used to its end", async () => {
  const service = await tokenService((number) => (number === 1 ? issued(number, 100) : { status: 500 }));
  const client = clientOf(service, { auth: { token }, limits: { maxAttempts: 1 } }, { credentials });
  const set = settableClock();
  for (const [seconds, asked] of [
    [0, 1],
    [95, 2],
    [99, 2],
  ] as const) {
    set(seconds);
    await client.get("r1");
    expect(service.asked()).toBe(asked);
  }
  expect(service.rules().every(({ headers }) => headers.authorization === "Bearer t1")).toBe(true);
  set(100);
  expect(await failureOf(client.get("r1"))).toMatchObject({ code: "SERVICE_FAILED" });
});

test("a token without a life is used until the service refuses it", async () => {
  let refused = "";
  const service = await tokenService(
    (number) => issued(number),
    (authorization) => authorization !== refused,
  );
  const client = clientOf(service, { auth: { token } }, { credentials });
  await client.get("r1");
  refused = "Bearer t1";
  await client.get("r2");
  expect(service.asked()).toBe(2);
  expect(service.rules().map(({ headers }) => headers.authorization)).toEqual(["Bearer t1", "Bearer t1", "Bearer t2"]);
});

test("a token that is refused in mid-run is renewed once for all calls, creates included", async () => {
  const service = await tokenService(
    (number) => issued(number, 3600),
    (authorization, { method }) => method === "GET" || authorization !== "Bearer t1",
  );
  const answering = clientOf(
    service,
    { auth: { token }, operations: { create: { success: [200] } }, rule: { id: ["/name"] } },
    { credentials },
  );
  await answering.get("r1").catch(() => undefined);
  await Promise.all(Array.from({ length: 40 }, () => answering.create({})));
  expect(service.asked()).toBe(2);
});

test("a second 401 under a new token is UNAUTHENTICATED: one renewal, one more attempt", async () => {
  const service = await tokenService(
    (number) => issued(number, 3600),
    () => false,
  );
  const client = clientOf(service, { auth: { token }, limits: { maxAttempts: 5 } }, { credentials });
  const error = await failureOf(client.create({}));
  expect(error).toMatchObject({ code: "UNAUTHENTICATED", outcomeUnknown: false, exchange: { serviceCode: "expired" } });
  expect([service.asked(), service.rules().length]).toEqual([2, 2]);
});

test("a token that was given cannot be renewed: 401 is the end", async () => {
  const server = await serve([{ status: 401 }]);
  expect(await failureOf(clientOf(server).get("r1"))).toMatchObject({ code: "UNAUTHENTICATED" });
  expect(server.requests).toHaveLength(1);
});

test.each([400, 401, 403])(
  "client credentials refused with %i are asked for once, and named without the secret",
  async (status) => {
    const service = await tokenService(() => ({
      status,
      json: { error: { code: "invalid_client", message: "no hush, a secret here" } },
    }));
    const client = clientOf(service, { auth: { token }, limits: { concurrency: 2 } }, { credentials });
    const failures = await Promise.all(
      Array.from({ length: 10 }, (_, index) => failureOf(client.create({}, { label: `l${index}` }))),
    );
    expect(service.asked()).toBe(1);
    expect(service.rules()).toHaveLength(0);
    expect(failures.map(({ code }) => code)).toEqual([
      ...Array(2).fill("UNAUTHENTICATED"),
      ...Array(8).fill("NOT_TRIED"),
    ]);
    expect(failures.some(({ outcomeUnknown }) => outcomeUnknown)).toBe(false);
    expect(failures[0]?.message).toBe(
      `request an access token to create rule "l0" failed: the service answered ${status} (code invalid_client; no [redacted] here) ` +
        `[POST ${tokenPath}]. What to do: check the client id and the client secret of this connection (UNAUTHENTICATED)`,
    );
  },
);

test("the token operation is tried again like a read, in one loop", async () => {
  const service = await tokenService((number) => (number < 3 ? { status: 503 } : issued(number)));
  await clientOf(service, { auth: { token }, limits: { maxAttempts: 3 } }, { credentials })
    .create({})
    .catch(() => undefined);
  expect(service.asked()).toBe(3);
  const down = await tokenService(() => ({ status: 503 }));
  const error = await failureOf(
    clientOf(down, { auth: { token }, limits: { maxAttempts: 3 } }, { credentials }).create({}),
  );
  expect(error).toMatchObject({ code: "SERVICE_FAILED", outcomeUnknown: false });
  expect([down.asked(), down.rules().length]).toEqual([3, 0]);
});

test.each([
  ["no token", {}, "there is no token at /access_token"],
  ["an empty token", { access_token: "" }, "there is no token at /access_token"],
  ["a number for a token", { access_token: 7 }, "there is no token at /access_token"],
  ["a token of two lines", { access_token: "a\nb" }, "characters that no header can carry"],
  ["a life of zero", { access_token: "t", expires_in: 0 }, "not a positive number of seconds"],
  ["an object for a life", { access_token: "t", expires_in: { seconds: 1 } }, "not a positive number"],
  ["a token with a carriage return", { access_token: "a\r\nX-Other: 1" }, "characters that no header can carry"],
  ["a token beyond Latin-1", { access_token: "日本" }, "characters that no header can carry"],
  ["an array for an answer", ["t"], "there is no token at /access_token"],
  ["a negative life", { access_token: "t", expires_in: -1 }, "not a positive number of seconds"],
  ["a word for a life", { access_token: "t", expires_in: "an hour" }, "not a positive number of seconds"],
])("%s is refused by name", async (_, json, reason) => {
  const service = await tokenService(() => ({ json }));
  const error = await failureOf(clientOf(service, { auth: { token } }, { credentials }).get("r1"));
  expect(error).toMatchObject({ code: "RESPONSE_INVALID", outcomeUnknown: false });
  expect(error.message).toContain(`request an access token to get rule "r1" failed: `);
  expect(error.message).toContain(reason);
  expect(service.rules()).toHaveLength(0);
});

test.each([
  ["HTML", { body: "<html>sign in</html>" }, "the body is not JSON"],
  ["nothing", {}, "the body is empty, not JSON"],
  ["half of an answer", { body: '{"access_token":"t' }, "the body ends before its JSON does"],
])("%s in place of a token is refused by name, and asked for as often as a read", async (name, answer, reason) => {
  const service = await tokenService(() => answer);
  const limits = { maxAttempts: 3 };
  const error = await failureOf(clientOf(service, { auth: { token }, limits }, { credentials }).create({}));
  expect(error).toMatchObject({ code: "RESPONSE_INVALID", outcomeUnknown: false });
  expect(error.message).toContain(`request an access token to create a rule failed: ${reason}`);
  expect([service.asked(), service.rules().length]).toEqual([name === "half of an answer" ? 3 : 1, 0]);
});

test.each([null, 1e308, Number.MAX_SAFE_INTEGER])("a life of %d is one without an end", async (life) => {
  const service = await tokenService((number) => issued(number, life));
  const client = clientOf(service, { auth: { token } }, { credentials });
  for (let index = 0; index < 5; index += 1) await client.get("r1");
  expect(service.asked()).toBe(1);
});

test("a token that lives shorter than its own request still serves the call that waited for it", async () => {
  const service = await tokenService((number) => issued(number, 1e-9));
  const client = clientOf(service, { auth: { token } }, { credentials });
  for (let index = 0; index < 5; index += 1) await client.get("r1");
  expect([service.asked(), service.rules().length]).toEqual([5, 5]);
});

test("a token that is refused at once is asked for once more, however many rules there are, and later again", async () => {
  const service = await tokenService(
    (number) => issued(number, 3600),
    (authorization) => authorization === "Bearer t3",
  );
  const client = clientOf(service, { auth: { token } }, { credentials });
  const failed = await Promise.all(Array.from({ length: 100 }, (_, index) => failureOf(client.get(`r${index}`))));
  expect(new Set(failed.map(({ code }) => code))).toEqual(new Set(["UNAUTHENTICATED", "NOT_TRIED"]));
  expect(service.asked()).toBe(2);
  // The calls that were under way have presented both tokens.
  expect(service.rules().length).toBeLessThanOrEqual(2 * 16);

  vi.spyOn(performance, "now").mockReturnValue(performance.now() + 60_001);
  await client.get("r1");
  expect(service.asked()).toBe(3);
});

test("a token that was accepted once is renewed whenever it is refused", async () => {
  let refused = "";
  const service = await tokenService(
    (number) => issued(number, 3600),
    (authorization) => authorization !== refused,
  );
  const client = clientOf(service, { auth: { token } }, { credentials });
  for (let number = 1; number <= 5; number += 1) {
    await client.get("r1");
    refused = `Bearer t${number}`;
  }
  await client.get("r1");
  expect(service.asked()).toBe(6);
});

test.each([24, -24])(
  "a wall clock that is set by %d hours changes nothing: lives run on a clock that nobody sets",
  async (hours) => {
    const service = await tokenService((number) => issued(number, 3600));
    const client = clientOf(service, { auth: { token } }, { credentials });
    await client.get("r1");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hours * 3_600_000 });
    await client.get("r1");
    expect(service.asked()).toBe(1);
  },
);

test("calls that come while a token is renewed wait for that one renewal", async () => {
  let isRefused = false;
  let asked = 0;
  let answered: (() => void) | undefined;
  const server = await serve((received) => {
    if (received.target !== tokenPath)
      return isRefused && received.headers.authorization === "Bearer t1" ? { status: 401 } : found;
    asked += 1;
    if (asked === 1) return issued(1, 3600);
    return (response) => {
      answered = () => reply(response, issued(2, 3600));
    };
  });
  const client = clientOf(server, { auth: { token } }, { credentials });
  await client.get("r1");
  isRefused = true;
  const waiting = [client.get("r2")];
  await expect.poll(() => answered).toBeDefined();
  waiting.push(...Array.from({ length: 50 }, (_, index) => client.get(`r${index}`)));
  answered?.();
  await Promise.all(waiting);
  expect(asked).toBe(2);
  // The first call, refused once; then all under the new token.
  expect(server.requests.filter(({ headers }) => headers.authorization === "Bearer t1")).toHaveLength(2);
  expect(server.requests.filter(({ headers }) => headers.authorization === "Bearer t2")).toHaveLength(51);
});

/** Moves the clock by which failures are held. */
function elevenSecondsLater(): void {
  const now = performance.now.bind(performance);
  const before = now();
  vi.spyOn(performance, "now").mockImplementation(() => Math.max(before, now()) + 11_000);
}

test.each([
  ["fails with 503", { status: 503 }, "SERVICE_FAILED", 3],
  ["hangs", silent, "TIMED_OUT", 2],
] as const)(
  "a token operation that %s is asked in one flight of attempts, however many rules there are, and later again",
  async (_, answer, code, maxAttempts) => {
    let asked = 0;
    let isMended = false;
    const server = await serve(({ target }) => {
      if (target !== tokenPath) return found;
      asked += 1;
      return isMended ? issued(asked, 3600) : answer;
    });
    const limits = { concurrency: 4, maxAttempts, attemptTimeoutMs: 2000, totalTimeoutMs: 30_000 };
    const client = clientOf(server, { auth: { token }, limits }, { credentials });
    const failed = await Promise.all(Array.from({ length: 64 }, () => failureOf(client.create({}))));
    expect(new Set(failed.map((error) => error.code))).toEqual(new Set([code]));
    expect(failed.every(({ outcomeUnknown }) => !outcomeUnknown)).toBe(true);
    expect([asked, server.requests.length]).toEqual([maxAttempts, maxAttempts]);

    isMended = true;
    expect(await failureOf(client.get("r1"))).toMatchObject({ code });
    elevenSecondsLater();
    await Promise.all(Array.from({ length: 10 }, () => client.get("r1")));
    expect([asked, server.requests.length]).toEqual([maxAttempts + 1, maxAttempts + 11]);
  },
);

test("an early renewal that fails is not held against the token's end: there it is asked for anew", async () => {
  const service = await tokenService((number) => (number === 2 ? { status: 503 } : issued(number, 100)));
  const client = clientOf(service, { auth: { token }, limits: { maxAttempts: 1 } }, { credentials });
  const set = settableClock();
  for (const [seconds, asked, presented] of [
    [0, 1, "t1"],
    [95, 2, "t1"],
    [99, 2, "t1"],
    [100, 3, "t3"],
  ] as const) {
    set(seconds);
    await client.get("r1");
    expect(service.asked()).toBe(asked);
    expect(service.rules().at(-1)?.headers.authorization).toBe(`Bearer ${presented}`);
  }
});

test("a call waits for a token no longer than it may last, says so, and does not spoil what comes after it", async () => {
  let isSlow = true;
  const server = await serve((received) => {
    if (received.target !== tokenPath) return found;
    if (!isSlow) return issued(2, 3600);
    return (response) => void setTimeout(() => reply(response, issued(1, 3600)), 20_000);
  });
  const limits = { attemptTimeoutMs: 1500, totalTimeoutMs: 2000, maxAttempts: 2 };
  const client = clientOf(server, { auth: { token }, limits }, { credentials });
  const began = performance.now();
  const error = await failureOf(client.create({}));
  expect(performance.now() - began).toBeLessThan(15_000);
  expect(error).toMatchObject({ code: "TIMED_OUT", outcomeUnknown: false });
  expect(error.message).toMatch(
    /^request an access token to create a rule failed: (no access token|no whole answer) within \d+ ms/,
  );
  // What others wait for, too, has clocks of its own and may end a moment later.
  await failureOf(client.get("r1"));
  isSlow = false;
  elevenSecondsLater();
  await client.get("r1");
  expect(server.requests.at(-1)?.headers.authorization).toBe("Bearer t2");
});

test("a call that gets no token in what is left of its time says what to look at", async () => {
  let asked = 0;
  const server = await serve(({ target }) => {
    if (target !== tokenPath) return (response) => void setTimeout(() => reply(response, { status: 401 }), 200);
    asked += 1;
    return asked === 1 ? issued(1, 3600) : silent;
  });
  const limits = { attemptTimeoutMs: 5000, totalTimeoutMs: 5000 };
  const error = await failureOf(clientOf(server, { auth: { token }, limits }, { credentials }).get("r1"));
  expect(error).toMatchObject({ code: "TIMED_OUT", outcomeUnknown: false });
  expect(error.message).toMatch(
    /no access token within \d+ ms\. What to do: check the address of auth\.token in the contract, or raise limits\.total/,
  );
});

test("a token operation that is down is named, with its address and not as the rules' own", async () => {
  const server = await serve([found]);
  const down = { ...token, baseUrl: "http://127.0.0.1:9" };
  const limits = { maxAttempts: 2 };
  const error = await failureOf(clientOf(server, { auth: { token: down }, limits }, { credentials }).create({}));
  expect(error).toMatchObject({ code: "CONNECTION_FAILED", outcomeUnknown: false });
  expect(error.message).toContain(
    "request an access token to create a rule failed: cannot connect to http://127.0.0.1:9",
  );
  expect(server.requests).toHaveLength(0);
});

test("client credentials without a token operation are refused when the client is made", () => {
  const make = (): unknown => clientOf({ baseUrl: "https://rules.example" }, {}, { credentials });
  expect(make).toThrow(/has client credentials, but its contract has no token operation/);
});

test("a token that no header can carry is refused when the client is made, without printing it", () => {
  const make = (): unknown =>
    clientOf(
      { baseUrl: "https://rules.example" },
      {},
      { credentials: { kind: "token", token: "hun\nter" }, contract: contractOf() },
    );
  expect(make).toThrow(/^(?![\s\S]*hun)[\s\S]*the token cannot be presented in Authorization/);
});
