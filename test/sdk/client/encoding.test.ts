import fc from "fast-check";
import { expect, test } from "vitest";
import { RulesClient } from "../../../sdk/client/index.ts";
import { clientOf, contractOf, failureOf, serve } from "./scripted-server.ts";

const base = "/api/v1/merchants/rules/";

test("whatever an id is, it arrives as one segment that decodes to it, or nothing is sent", async () => {
  const server = await serve(({ target }) => {
    const id = decodeURIComponent(target.slice(base.length));
    return { json: { id } };
  });
  const client = clientOf(server);
  const ids = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom(".", "/", "%", "2", "e", "E", "f", "\\", "?", "#", "a") }),
  );
  await fc.assert(
    fc.asyncProperty(ids, async (id) => {
      const before = server.requests.length;
      const result = await client.get(id).catch((error: unknown) => error);
      if (result instanceof Error) {
        expect(result).toMatchObject({ code: "RULE_INVALID" });
        expect(server.requests).toHaveLength(before);
        return;
      }
      const { pathname, search, hash } = new URL(server.requests.at(-1)?.target ?? "", "http://host");
      expect(pathname.startsWith(base) && !pathname.slice(base.length).includes("/")).toBe(true);
      expect([decodeURIComponent(pathname.slice(base.length)), search, hash]).toEqual([id, "", ""]);
    }),
    { numRuns: 150 },
  );
});

test.each([
  "",
  ".",
  "..",
  "%2e",
  "%2E%2e",
  "%252e%252e",
  "../other",
  "a/../../b",
  "a\\..\\b",
  "%2e%2e%2fother",
  "a/%2e%2e/b",
  "\ud800",
])("the id %j never reaches a path", async (id) => {
  const server = await serve([{ json: { id } }]);
  const error = await failureOf(clientOf(server).get(id));
  expect(error).toMatchObject({ code: "RULE_INVALID" });
  expect(error.message).toMatch(
    /its id cannot be sent: .*What to do: name the rule by the id that the service gave it; where it gave this one, check rule.id/,
  );
  expect(server.requests).toHaveLength(0);
});

test.each(["a/b", "a?b=c", "a#b", "a&b", "..a", "a..b", "100%", "a b", "é", "日本", "a\r\nx: y", "\0"])(
  "the id %j arrives whole in a path and in a query",
  async (id) => {
    const server = await serve([{ json: { id } }, {}]);
    const client = clientOf(server);
    expect((await client.get(id)).ruleId).toBe(id);
    await client.delete(id);
    const [path, query] = server.requests.map(({ target }) => target);
    expect(path).toBe(base + encodeURIComponent(id));
    expect(query).toBe(`/api/v1/merchants/rules?ruleId=${encodeURIComponent(id)}`);
  },
);

test.each(["", "a\r\nX-Other: 1", "a\nb", "a\0", "日本", " a", "a "])(
  "the id %j never reaches a header",
  async (id) => {
    const server = await serve([{}]);
    const client = clientOf(server, { operations: { delete: { identifyBy: { in: "header", name: "X-Rule" } } } });
    expect(await failureOf(client.delete(id))).toMatchObject({ code: "RULE_INVALID" });
    expect(server.requests).toHaveLength(0);
  },
);

test.each(["query", "body", "path", "header"] as const)(
  "an empty id in the %s is refused: it might mean all rules",
  async (place) => {
    const server = await serve([{}]);
    const path = place === "path" ? "/rules/{ruleId}" : "/rules";
    const client = clientOf(server, { operations: { delete: { path, identifyBy: { in: place } } } });
    expect(await failureOf(client.delete(""))).toMatchObject({ code: "RULE_INVALID" });
    expect(server.requests).toHaveLength(0);
  },
);

const connect = (baseUrl: string, parameters: Record<string, string> = {}, contract = contractOf()): RulesClient =>
  new RulesClient({ name: "eu", baseUrl, contract, parameters, credentials: { kind: "none" } });

test.each([
  ["http://rules.example", "begins with http:"],
  ["http://127.0.0.1.example", "begins with http:"],
  ["http://localhost.example", "begins with http:"],
  ["ftp://localhost", "begins with ftp:"],
  ["rules.example", "is not a URL"],
  ["", "is not a URL"],
  ["https://user:hunter2@rules.example", "holds credentials"],
  ["https://:hunter2@rules.example", "holds credentials"],
  ["https://rules.example/?key=hunter2", "holds a query or a fragment"],
  ["https://rules.example/#hunter2", "holds a query or a fragment"],
  ["https://rules.example/?", "holds a query or a fragment"],
])("baseUrl %j is refused, without printing it", async (baseUrl, reason) => {
  const error = await failureOf(Promise.resolve().then(() => connect(baseUrl)));
  expect(error).toMatchObject({ code: "SETTINGS_INVALID" });
  expect(error.message).toContain(`baseUrl of connection "eu" ${reason}`);
  expect(error.message).not.toContain("hunter2");
});

test.each([
  ["https://rules.example/prefix/", "https://rules.example/prefix"],
  ["https://rules.example", "https://rules.example"],
  ["http://localhost:8080", "http://localhost:8080"],
  ["http://127.8.9.1", "http://127.8.9.1"],
  ["http://[::1]:8080/", "http://[::1]:8080"],
])("baseUrl %j is taken as %j", (given, taken) => {
  expect(connect(given).baseUrl).toBe(taken);
});

test("a prefix of baseUrl stands before every path", async () => {
  const server = await serve([{ json: { id: "r1" } }]);
  await clientOf({ baseUrl: `${server.baseUrl}/eu/payments/` }).get("r1");
  expect(server.requests[0]?.target).toBe("/eu/payments/api/v1/merchants/rules/r1");
});

test("a parameter without a value is named before any request, with the operation that needs it", async () => {
  const contract = contractOf({
    parameters: { account: {} },
    operations: { get: { query: { account: "{account}" } } },
  });
  const error = await failureOf(Promise.resolve().then(() => connect("https://rules.example", {}, contract)));
  expect(error).toMatchObject({ code: "SETTINGS_INVALID" });
  expect(error.message).toContain(
    'connection "eu": parameter account has no value; operations.get of its contract uses it',
  );
});

test.each([
  ["path", "..", { path: "/{account}/rules/{ruleId}" }],
  ["path", "", { path: "/{account}/rules/{ruleId}" }],
  ["header", "a\nb", { headers: { "X-Account": "{account}" } }],
])("a parameter that cannot stand in a %s is refused: %j", async (_, account, get) => {
  const contract = contractOf({ parameters: { account: {} }, operations: { get } });
  const error = await failureOf(Promise.resolve().then(() => connect("https://rules.example", { account }, contract)));
  expect(error).toMatchObject({ code: "SETTINGS_INVALID" });
  expect(error.message).toContain("parameter account cannot be used");
});
