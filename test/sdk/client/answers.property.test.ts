import { writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { RulesClient } from "../../../sdk/client/index.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { isMerchantRulesError } from "../../../sdk/errors.ts";
import { findNotJson } from "../../../sdk/json/index.ts";
import { newFolder } from "../../support/folder.ts";
import { foreign, mutated } from "../../support/fuzz/mutations.ts";
import { check, expectReadable, timeout } from "../../support/fuzz/runs.ts";
import { rule } from "../../support/rules.ts";
import { HookFailure } from "../../support/stack/hosts.ts";
import { ProviderHost } from "../../support/stack/provider-host.ts";
import { allOf, clientOf } from "./scripted-server.ts";

const contract: Partial<ContractInput> = {
  operations: {
    update: { path: "/rules/{ruleId}" },
    list: {
      path: "/rules",
      items: "/rules",
      pagination: { type: "cursor", limit: "limit", next: "/nextCursor", more: "/hasMore" },
    },
  },
  rule: { id: ["/id"], naturalKey: "/name", unordered: ["/conditions"] },
  auth: { token: { path: "/token", fields: { client_id: "{clientId}", client_secret: "{clientSecret}" } } },
  limits: {
    maxAttempts: 2,
    maxPages: 3,
    attemptTimeoutMs: 200,
    totalTimeoutMs: 600,
    maxRetryAfterMs: 20,
    maxBodyBytes: 65_536,
  },
};

const live = { id: "rule-1", ...rule(1) };
const bodies = [
  live,
  { rules: [live, { ...live, id: "rule-2" }], nextCursor: "c2", hasMore: true },
  { rules: [], nextCursor: null, hasMore: false },
  { error: { code: "too_odd", message: "a message", details: [{ path: "/priority" }] } },
  { access_token: "token-of-the-service", expires_in: 3600 },
].map((body) => JSON.stringify(body));

/** The server's answer to any request: raw bytes, so that nothing mends them. */
let answer: (socket: Socket, received: number) => void = () => undefined;
let requests: { line: string; status: number | undefined }[] = [];
const sockets = new Set<Socket>();
const server = createServer((socket) => {
  sockets.add(socket);
  socket.on("close", () => sockets.delete(socket)).on("error", () => undefined);
  socket.on("data", (bytes) => {
    // Every request of the client is small enough to come in one piece or two; the second begins with its body.
    const line = /^(?:GET|POST|PUT|PATCH|DELETE) \S+/.exec(bytes.toString("latin1"))?.[0];
    if (line === undefined) return;
    requests.push({ line, status: undefined });
    answer(socket, requests.length);
  });
});
let baseUrl = "";
beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  baseUrl = `http://127.0.0.1:${address.port}`;
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

const statuses = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(200, 201, 404, 409, 422) },
  fc.constantFrom(
    100,
    101,
    103,
    199,
    202,
    204,
    206,
    299,
    301,
    304,
    308,
    400,
    401,
    403,
    408,
    410,
    418,
    429,
    500,
    503,
    599,
  ),
);
const headers = fc.array(
  fc.constantFrom(
    "retry-after: 0",
    "retry-after: 1e9",
    `retry-after: ${"9".repeat(400)}`,
    "retry-after: Thu, 01 Jan 1970 00:00:00 GMT",
    "retry-after: Fri, 31 Dec 9999 23:59:59 GMT",
    "retry-after: soon",
    "date: never",
    "content-type: text/html; charset=utf-16",
    "content-encoding: gzip",
    "content-encoding: br, identity",
    "x-request-id: \u00e9\u00ff",
    `x-request-id: ${"x".repeat(3000)}`,
    "location: http://127.0.0.1:1/",
    "__proto__: polluted",
    "constructor: polluted",
    "set-cookie: a=b",
    "connection: close",
    "transfer-encoding: chunked",
    "content-length: 3",
    "content-length: -1",
    "content-length: 99999999999999999999",
    "no colon",
    "bad name : x",
    ": empty",
    "x: a\rb",
    "x: \u0000",
  ),
  { maxLength: 2 },
);

interface Whole {
  readonly status: number;
  readonly lines: readonly string[];
  readonly body: Buffer;
}
const whole: fc.Arbitrary<Whole> = fc.record({
  status: statuses,
  lines: headers,
  body: fc.oneof(
    { weight: 4, arbitrary: mutated(...bodies) },
    { weight: 2, arbitrary: fc.constantFrom(...bodies).map((body) => Buffer.from(body)) },
    foreign,
  ),
});

function send(socket: Socket, { status, lines, body }: Whole): void {
  const last = requests.at(-1);
  if (last !== undefined) last.status = status;
  const own = lines.some((line) => /^(content-length|transfer-encoding)/.test(line))
    ? []
    : [`content-length: ${body.length}`];
  socket.write(Buffer.from([`HTTP/1.1 ${status} Odd`, ...own, ...lines, "", ""].join("\r\n"), "latin1"));
  socket.write(body);
  // What follows a head that lied about its body must not be taken for the next answer.
  if (own.length === 0) socket.end();
}

const calls = {
  create: (client: RulesClient) => client.create(rule(1)),
  get: (client: RulesClient) => client.get("rule-1"),
  update: (client: RulesClient) => client.update("rule-1", rule(1), { live: rule(1, { priority: 2 }) }),
  delete: (client: RulesClient) => client.delete("rule-1"),
  list: (client: RulesClient) => allOf(client.list()),
};

/** The call gives JSON with an id, or fails with an error of ours that says nothing that it must not. */
async function expectResultOrError(operation: keyof typeof calls, client: RulesClient): Promise<void> {
  requests = [];
  try {
    const result = await calls[operation](client);
    // Half a surrogate pair is JSON's own oddity; it must not leave a hook.
    expect([undefined, "half a surrogate pair"]).toContain(findNotJson(result ?? null)?.found);
    for (const each of [result].flat()) {
      if (typeof each !== "object") continue;
      expect(each.ruleId).toEqual(expect.stringMatching(/./s));
      expect(typeof each.rule).toBe("object");
      expect(Array.isArray(each.rule)).toBe(false);
    }
  } catch (error) {
    if (!isMerchantRulesError(error)) throw error;
    expectReadable(error.message, 2000);
    expect(error.message).not.toMatch(/token-of-the-tests|client-secret-of-the-tests/);
    if (error.code === "RULE_NOT_FOUND")
      expect(requests.map(({ status }) => status)).toContainEqual(expect.toSatisfy(isGone));
  }
  // The token, one renewal of it, each attempted twice; three pages, or the call and a read after it.
  expect(requests.length).toBeLessThanOrEqual(16);
  if (operation === "create")
    expect(
      requests.filter(({ line, status }) => line === "POST /api/v1/merchants/rules" && status === 200).length,
    ).toBeLessThanOrEqual(1);
}

function isGone(status: unknown): boolean {
  return status === 404 || status === 410;
}

function clientFor(withToken: boolean): RulesClient {
  const credentials = withToken
    ? ({ kind: "token", token: "token-of-the-tests" } as const)
    : ({ kind: "client", clientId: "client", clientSecret: "client-secret-of-the-tests" } as const);
  const client = clientOf({ baseUrl }, contract, { credentials });
  return client;
}

const operation = fc.constantFrom<keyof typeof calls>("create", "get", "update", "delete", "list");

describe("the client, whatever the service answers, gives a rule or an error that can be read", { timeout }, () => {
  test("by answers that are HTTP", async () => {
    await check<[keyof typeof calls, boolean, Whole[]]>(
      1000,
      fc.tuple(operation, fc.boolean(), fc.array(whole, { minLength: 1, maxLength: 3 })),
      async ([name, withToken, answers]) => {
        answer = (socket, received) => send(socket, answers[(received - 1) % answers.length] ?? answers[0] ?? odd);
        const client = clientFor(withToken);
        try {
          await expectResultOrError(name, client);
        } finally {
          for (const socket of sockets) socket.destroy();
          await client.close();
        }
      },
      [
        ["get", true, [answerOf('{"id":"rule-1","priority":1e400}')]],
        ["get", true, [answerOf(`{"id":"rule-1","a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`)]],
        ["list", true, [answerOf('{"rules":[{"id":"1","p":-1e999}],"hasMore":false}')]],
        [
          "get",
          true,
          [answerOf('{"id":"rule-1","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}')],
        ],
        ["get", true, [{ ...answerOf(JSON.stringify({ error: { message: "%41".repeat(15_000) } })), status: 422 }]],
        ["get", true, [{ ...answerOf(JSON.stringify({ error: { message: "\\u0041".repeat(9000) } })), status: 422 }]],
      ],
    );
  });

  test("by bytes that are not", async () => {
    const head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\ncontent-type: application/json\r\n\r\n";
    await check(
      100,
      fc.tuple(
        operation,
        fc.oneof(
          mutated(
            head + bodies[0],
            `${head.replace("content-length: 100", "transfer-encoding: chunked")}5\r\n{"id"\r\n0\r\n\r\n`,
          ),
          foreign,
        ),
      ),
      async ([name, bytes]) => {
        answer = (socket) => socket.end(bytes);
        const client = clientFor(true);
        try {
          await expectResultOrError(name, client);
        } finally {
          for (const socket of sockets) socket.destroy();
          await client.close();
        }
      },
    );
  });
});

test("the hooks give what is JSON or an error without a stack, and nothing is gone that no 404 said", {
  timeout,
}, async () => {
  const folderContract = JSON.stringify({
    version: 1,
    ...contract,
    operations: { ...contract.operations, delete: { identifyBy: { in: "query" } } },
  });
  const folder = newFolder();
  const file = join(folder, "contract.json");
  writeFileSync(file, folderContract);
  const environment = {
    MERCHANT_RULES_BASE_URL: baseUrl,
    MERCHANT_RULES_CONTRACT: file,
    MERCHANT_RULES_TOKEN: "token-of-the-tests",
  };
  const host = await ProviderHost.start({}, environment);
  onTestFinished(() => host.close());
  const state = { definition: rule(1), ruleId: "rule-1" };
  await check(20, fc.tuple(fc.boolean(), fc.array(whole, { minLength: 1, maxLength: 3 })), async ([reads, answers]) => {
    answer = (socket, received) => send(socket, answers[(received - 1) % answers.length] ?? odd);
    requests = [];
    try {
      if (!reads) {
        const { id, outs } = await host.create({ definition: rule(1) });
        expect(outs).toEqual({ definition: rule(1), ruleId: id });
        return;
      }
      const { id, props } = await host.read("rule-1", state);
      if (id === "") expect(requests.map(({ status }) => status)).toContainEqual(expect.toSatisfy(isGone));
      else expect(props.ruleId).toBe("rule-1");
    } catch (error) {
      if (!(error instanceof HookFailure)) throw error;
      expectReadable(error.message, 3000);
    }
  });
  expect(host.stderr).not.toMatch(/\n\s+at /);
});

const odd: Whole = { status: 200, lines: [], body: Buffer.from("{}") };

function answerOf(text: string): Whole {
  return { ...odd, body: Buffer.from(text) };
}
