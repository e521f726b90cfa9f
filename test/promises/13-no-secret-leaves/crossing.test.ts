import { describe, expect, test } from "vitest";
import type { RulesClient } from "../../../sdk/client/index.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { allOf, clientOf, failureOf, type ScriptedServer, serve } from "../../sdk/client/scripted-server.ts";

const token = { path: "/token", fields: { id: "{clientId}", secret: "{clientSecret}" } };
const credentials = { kind: "client", clientId: "shop", clientSecret: "hush, a secret" } as const;
const contract: Partial<ContractInput> = {
  operations: {
    update: { path: "/rules/{ruleId}", body: "declared" },
    list: {
      path: "/rules",
      items: "/rules",
      pagination: { type: "cursor", limit: null, cursor: "after", next: "/next" },
    },
  },
  auth: { token },
  limits: { maxAttempts: 3 },
};

const calls: [string, (client: RulesClient) => Promise<unknown>][] = [
  ["create", (client) => client.create({ name: "x" })],
  ["get", (client) => client.get("r1")],
  ["update", (client) => client.update("r1", { name: "x" })],
  ["delete", (client) => client.delete("r1")],
  ["list", (client) => allOf(client.list())],
];

/** A host that nobody has a reason to ask. */
async function elsewhere(): Promise<ScriptedServer> {
  return serve([{ json: { id: "r1", access_token: "t2", rules: [] } }]);
}

describe.each([301, 302, 303, 307, 308])("a redirect %i to another host", (status) => {
  const isRefused = status === 307 || status === 308;

  test.each(calls)("is not followed by %s, which is not sent again either", async (name, call) => {
    const other = await elsewhere();
    const server = await serve(({ target }) =>
      target === "/token"
        ? { json: { access_token: "t1" } }
        : { status, headers: { location: `${other.baseUrl}/elsewhere` } },
    );
    const error = await failureOf(call(clientOf(server, contract, { credentials })));
    expect(error).toMatchObject({
      code: name === "create" && !isRefused ? "RULE_OUTCOME_UNKNOWN" : "RESPONSE_INVALID",
      retryable: false,
      outcomeUnknown: ["create", "update", "delete"].includes(name) && !isRefused,
    });
    expect(error.message).toContain("redirects are not followed");
    expect([server.requests.length, other.requests.length]).toEqual([2, 0]);
  });

  test("is not followed by the token operation", async () => {
    const other = await elsewhere();
    const server = await serve([{ status, headers: { location: `${other.baseUrl}/token` } }]);
    const error = await failureOf(clientOf(server, contract, { credentials }).get("r1"));
    expect(error.message).toContain("redirects are not followed");
    expect([server.requests.length, other.requests.length]).toEqual([1, 0]);
  });
});

describe("what a service gives as text never becomes an address", () => {
  test.each(["/elsewhere", "//elsewhere", "http://user@elsewhere", "?x=", "#", "\r\nHost: elsewhere\r\n"])(
    "a cursor %j stays a value of the query",
    async (kind) => {
      const other = await elsewhere();
      const cursor = kind.replace("elsewhere", `127.0.0.1:${other.port}/rules`);
      const server = await serve([
        { json: { rules: [{ id: "r1" }], next: cursor } },
        { json: { rules: [], next: null } },
      ]);
      const client = clientOf(server, { ...contract, auth: {} });
      expect(await allOf(client.list())).toHaveLength(1);
      const { pathname, searchParams } = new URL(server.requests[1]?.target ?? "", server.baseUrl);
      expect([pathname, [...searchParams]]).toEqual(["/rules", [["after", cursor]]]);
      expect(server.requests[1]?.headers.host).toBe(`127.0.0.1:${server.port}`);
      expect(other.requests).toHaveLength(0);
    },
  );

  test.each(["//elsewhere/r", "http://elsewhere/r", "@elsewhere", "\\\\elsewhere", "r1\r\nX-Other: 1", "r1 HTTP/1.1"])(
    "an id %j stays a segment, under this host",
    async (kind) => {
      const other = await elsewhere();
      const id = kind.replace("elsewhere", `127.0.0.1:${other.port}`);
      const server = await serve([{ json: { id } }]);
      expect(await clientOf(server).get(id)).toMatchObject({ ruleId: id });
      expect(server.requests[0]?.target).toBe(`/api/v1/merchants/rules/${encodeURIComponent(id)}`);
      expect(server.requests[0]?.headers).not.toHaveProperty("x-other");
      expect([server.requests.length, other.requests.length]).toEqual([1, 0]);
    },
  );
});

test("the token operation of another host gets the client's credentials, and never the token; the rules the other way round", async () => {
  const issuer = await serve([{ json: { access_token: "t1" } }]);
  const server = await serve([{ json: { id: "r1" } }]);
  const elsewhereToken = { auth: { token: { ...token, baseUrl: issuer.baseUrl } } };
  await clientOf(server, { ...contract, ...elsewhereToken }, { credentials }).get("r1");
  expect(JSON.stringify(issuer.requests)).toContain("hush");
  expect(JSON.stringify(issuer.requests)).not.toContain("t1");
  expect(JSON.stringify(server.requests)).toContain("Bearer t1");
  expect(JSON.stringify(server.requests)).not.toContain("hush");
});

test.each(["http://issuer.example", "http://localhost.example"])(
  "a token operation at %s is refused: https only",
  (baseUrl) => {
    const make = (): unknown =>
      clientOf({ baseUrl: "https://rules.example" }, { auth: { token: { ...token, baseUrl } } }, { credentials });
    expect(make).toThrow(/auth\.token\.baseUrl of the contract begins with http:.*use https/);
  },
);

describe("an id that a terminal would obey", () => {
  const id = "r\u001b[2Jx\u202ey\u2028z\nwarning: all is well";

  test("is shown with escapes, on one line", async () => {
    const server = await serve([{ status: 403 }]);
    const error = await failureOf(clientOf(server).get(id));
    expect(error.message).toContain("r\\u001b[2Jx\\u{202e}y\\u{2028}z\\nwarning");
    expect(error.message).not.toMatch(/[^\P{Cc}]|[\p{Cf}\u2028\u2029]/u);
  });

  test("and is very long, is shortened", async () => {
    const server = await serve([{ status: 403 }]);
    const error = await failureOf(clientOf(server).get("r".repeat(10_000)));
    expect(error.message.length).toBeLessThan(800);
    expect(error.exchange?.path.length).toBeGreaterThan(10_000);
  });
});
