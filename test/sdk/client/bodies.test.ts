import { expect, test } from "vitest";
import { clientOf, cut, failureOf, serve } from "./scripted-server.ts";

const limits = { maxBodyBytes: 1024, maxAttempts: 3 };

test("an announced body that is too large is not read, and its connection is not used again", async () => {
  const server = await serve([{ body: JSON.stringify({ id: "r1", fill: "x".repeat(2000) }) }, { json: { id: "r1" } }]);
  const client = clientOf(server, { limits: { ...limits, concurrency: 1 } });
  const error = await failureOf(client.get("r1"));
  expect(error).toMatchObject({ code: "RESPONSE_INVALID", exchange: { status: 200 } });
  expect(error.message).toContain("larger than 1024 bytes");
  expect(server.requests).toHaveLength(1);
  await client.get("r1");
  expect(server.connections()).toBe(2);
});

test("a body of unknown size is counted while it arrives, and the socket is destroyed at the bound", async () => {
  const closed = Promise.withResolvers<void>();
  const server = await serve([
    (response) => {
      response.on("close", closed.resolve);
      response.writeHead(200);
      const more = (): void => {
        if (!response.destroyed) response.write("x".repeat(600), () => setImmediate(more));
      };
      more();
    },
  ]);
  expect(await failureOf(clientOf(server, { limits }).get("r1"))).toMatchObject({ code: "RESPONSE_INVALID" });
  await closed.promise;
  expect(server.requests).toHaveLength(1);
});

test("a failure whose body is too large or cut keeps its status", async () => {
  const server = await serve([
    { status: 422, body: "x".repeat(100_000) },
    cut(422),
    { status: 404, body: "x".repeat(100_000) },
  ]);
  const client = clientOf(server, { limits });
  expect(await failureOf(client.get("r1"))).toMatchObject({ code: "REJECTED", exchange: { status: 422 } });
  expect(await failureOf(client.get("r1"))).toMatchObject({ code: "REJECTED", exchange: { status: 422 } });
  expect(await failureOf(client.get("r1"))).toMatchObject({ code: "RULE_NOT_FOUND" });
  expect(server.requests).toHaveLength(3);
});

test.each([
  ["empty", "", "is empty"],
  ["a web page", "<html></html>", "is not JSON"],
  ["an array", "[]", "not a JSON object"],
  ["a text", '"r1"', "not a JSON object"],
  ["not UTF-8", Buffer.from([0x22, 0xff, 0x22]), "not UTF-8"],
])("a body that is %s is refused at once", async (_, body, reason) => {
  const server = await serve([{ body }]);
  const error = await failureOf(clientOf(server, { limits }).get("r1"));
  expect(error).toMatchObject({ code: "RESPONSE_INVALID", retryable: false });
  expect(error.message).toContain(reason);
  expect(server.requests).toHaveLength(1);
});

test("a body in an encoding that was not asked for is named as such", async () => {
  const server = await serve([{ body: "x", headers: { "content-encoding": "gzip" } }]);
  expect((await failureOf(clientOf(server).get("r1"))).message).toContain("encoded (gzip)");
});

test("a byte order mark is passed over", async () => {
  const server = await serve([{ body: '\ufeff{"id":"r1"}' }]);
  expect(await clientOf(server).get("r1")).toMatchObject({ ruleId: "r1" });
});

test("a body that ends early is read again: by its connection or by its JSON", async () => {
  const server = await serve([cut(200), { body: '{"id":"r1","na' }, { json: { id: "r1" } }]);
  expect(await clientOf(server, { limits }).get("r1")).toMatchObject({ ruleId: "r1" });
  expect(server.requests).toHaveLength(3);
});

test.each([301, 302, 303, 307, 308])("a redirect %i is not followed, to nobody", async (status) => {
  const other = await serve([{ json: { id: "r1" } }]);
  const server = await serve([{ status, headers: { location: `${other.baseUrl}/elsewhere` } }]);
  const client = clientOf(server, { limits });
  const read = await failureOf(client.get("r1"));
  expect(read).toMatchObject({ code: "RESPONSE_INVALID", outcomeUnknown: false });
  expect(read.message).toContain("redirects are not followed");
  const isRefused = status === 307 || status === 308;
  expect(await failureOf(client.create({}))).toMatchObject({
    code: isRefused ? "RESPONSE_INVALID" : "RULE_OUTCOME_UNKNOWN",
    outcomeUnknown: !isRefused,
    exchange: { status },
  });
  expect([server.requests.length, other.requests.length]).toEqual([2, 0]);
});

test("interim answers are passed over", async () => {
  const server = await serve([
    (response) => {
      response.writeEarlyHints({ link: "</x>; rel=preload" });
      response.end('{"id":"r1"}');
    },
  ]);
  expect(await clientOf(server).get("r1")).toMatchObject({ ruleId: "r1" });
});

test("a field named __proto__ is a field of the rule", async () => {
  const server = await serve([{ body: '{"id":"r1","__proto__":{"id":"r2"}}' }]);
  const { rule } = await clientOf(server).get("r1");
  expect(Object.keys(rule)).toEqual(["id", "__proto__"]);
  expect(Object.getPrototypeOf(rule)).toBe(Object.prototype);
});

test.each(['{"id":"r1","a":1,"b":{"a":1},"a":2}', '{"id":"r1","x":[{"k":1,"\\u006b":2}]}'])(
  "a field twice in one object is refused, not read as the last one: %s",
  async (body) => {
    const error = await failureOf(clientOf(await serve([{ body }])).get("r1"));
    expect(error).toMatchObject({ code: "RESPONSE_INVALID" });
    expect(error.message).toContain("the body has a field twice in one object");
  },
);

test("texts that look like fields are none", async () => {
  const json = { id: "r1", text: '"id": "r2", \\"id\\": {"id":1}', list: [{ id: 1 }, { id: 2 }], deep: { id: "x" } };
  const { rule } = await clientOf(await serve([{ json }])).get("r1");
  expect(rule).toEqual(json);
});
