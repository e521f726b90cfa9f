import { describe, expect, test } from "vitest";
import { allOf, clientOf, failureOf, reply, type ScriptedServer, serve } from "./scripted-server.ts";

const definition = { name: "limit", priority: 2 };

test("create posts the definition and gives back the id, the rule and the status", async () => {
  const server = await serve([{ status: 201, json: { ruleId: "r1", name: "limit", priority: 2, createdBy: "me" } }]);
  const created = await clientOf(server).create(definition, { label: "limit-1" });
  expect(created).toEqual({
    ruleId: "r1",
    rule: { ruleId: "r1", name: "limit", priority: 2, createdBy: "me" },
    status: 201,
  });
  const [request] = server.requests;
  expect(request).toMatchObject({
    method: "POST",
    target: "/api/v1/merchants/rules",
    body: JSON.stringify(definition),
  });
  expect(request?.headers).toMatchObject({
    accept: "application/json",
    "content-type": "application/json",
    authorization: "Bearer token-of-the-tests",
    "user-agent": expect.stringMatching(/^pulumi-merchant-rules\/\d+\.\d+\.\d+/),
  });
});

test("create gives an empty rule where the answer has an id and no envelope", async () => {
  const server = await serve([{ status: 201, json: { id: "r1" } }]);
  expect(await clientOf(server, { rule: { envelope: "/data" } }).create(definition)).toEqual({
    ruleId: "r1",
    rule: {},
    status: 201,
  });
});

test("a get sends no body and no content type", async () => {
  const server = await serve([{ json: { ruleId: "r1", name: "limit" } }]);
  expect(await clientOf(server).get("r1")).toEqual({ ruleId: "r1", rule: { ruleId: "r1", name: "limit" } });
  expect(server.requests[0]).toMatchObject({ method: "GET", target: "/api/v1/merchants/rules/r1", body: "" });
  expect(server.requests[0]?.headers).not.toHaveProperty("content-type");
});

test("a get whose answer has no id is about the rule that was asked for", async () => {
  const server = await serve([{ json: { name: "limit" } }]);
  expect(await clientOf(server).get("r1")).toEqual({ ruleId: "r1", rule: { name: "limit" } });
});

test("a get that is answered with another rule is refused", async () => {
  const server = await serve([{ json: { ruleId: "r2" } }]);
  const error = await failureOf(clientOf(server).get("r1", { label: "limit-1" }));
  expect(error.message).toBe(
    'get rule "limit-1" (id "r1") failed: the answer is about another rule, "r2" [GET /api/v1/merchants/rules/r1]. ' +
      "What to do: compare the answer with operations and rule in the contract (RESPONSE_INVALID)",
  );
});

test.each([404, 410])("a get answered %i is RULE_NOT_FOUND", async (status) => {
  const server = await serve([{ status, json: {} }]);
  expect(await failureOf(clientOf(server).get("r1"))).toMatchObject({ code: "RULE_NOT_FOUND", outcomeUnknown: false });
  expect(server.requests).toHaveLength(1);
});

test.each([404, 410])("a create answered %i says that the path is wrong, not that a rule is gone", async (status) => {
  const server = await serve([{ status, json: {} }]);
  const error = await failureOf(clientOf(server).create(definition));
  expect(error).toMatchObject({ code: "REJECTED", outcomeUnknown: false });
  expect(error.message).toContain("check baseUrl and the path");
});

test("ids are found inside the envelope first, then in the whole answer, a number as its decimal text", async () => {
  const answers: unknown[] = [
    { id: "outer", data: { id: "inner" } },
    { id: "outer", data: { name: "limit" } },
    { id: null, data: { ruleId: null, id: 42 } },
  ];
  const server = await serve((_, number) => ({ status: 201, json: answers[number - 1] }));
  const client = clientOf(server, { rule: { envelope: "/data" } });
  expect(await client.create(definition)).toEqual({ ruleId: "inner", rule: { id: "inner" }, status: 201 });
  expect(await client.create(definition)).toEqual({ ruleId: "outer", rule: { name: "limit" }, status: 201 });
  expect(await client.create(definition)).toMatchObject({ ruleId: "42" });
});

test.each([
  ["no id", { name: "limit" }, "has no id at /ruleId or /id"],
  ["an empty id", { ruleId: "" }, "the id at /ruleId is empty"],
  ["an object for an id", { ruleId: {} }, "neither a text nor a number"],
  ["a number for an id that is no whole one", { id: 1.5 }, "no whole one"],
])("a create answered with %s says that the rule may exist", async (_, json, reason) => {
  const server = await serve([{ status: 201, json }]);
  const error = await failureOf(clientOf(server).create(definition));
  expect(error).toMatchObject({ code: "RESPONSE_INVALID", outcomeUnknown: true });
  expect(error.message).toContain(reason);
  expect(error.message).toContain("the rule may exist");
  expect(server.requests).toHaveLength(1);
});

test("a get without the envelope is not a rule that is gone", async () => {
  const server = await serve([{ json: { error: "later" } }]);
  const error = await failureOf(clientOf(server, { rule: { envelope: "/data" } }).get("r1"));
  expect(error).toMatchObject({ code: "RESPONSE_INVALID" });
  expect(error.message).toContain("no rule object at /data");
});

test("a definition stands where bodyAt says", async () => {
  const server = await serve([{ status: 201, json: { id: "r1" } }]);
  await clientOf(server, { operations: { create: { bodyAt: "/data/attributes" } } }).create(definition);
  expect(JSON.parse(server.requests[0]?.body ?? "")).toEqual({ data: { attributes: definition } });
});

test("fixed headers and queries are sent with their parameters, encoded", async () => {
  const server = await serve([{ status: 201, json: { id: "r1" } }, { json: { id: "r1" } }]);
  const fixed = { headers: { "Api-Version": "{version}" }, query: { account: "{account}", expand: "all of it" } };
  const client = clientOf(
    server,
    {
      parameters: { account: {}, version: { default: "2026-01-31" }, region: {} },
      operations: { create: fixed, get: { ...fixed, path: "/{region}/rules/{ruleId}" } },
    },
    { parameters: { account: "a&b=c", region: "eu/west" } },
  );
  await client.create(definition);
  await client.get("r1");
  expect(server.requests.map(({ target }) => target)).toEqual([
    "/api/v1/merchants/rules?account=a%26b%3Dc&expand=all%20of%20it",
    "/eu%2Fwest/rules/r1?account=a%26b%3Dc&expand=all%20of%20it",
  ]);
  expect(server.requests[0]?.headers["api-version"]).toBe("2026-01-31");
});

test.each([
  ["query", { in: "query", name: "rule" }, "/rules", { target: "/rules?rule=a%20%26b", body: "" }],
  ["body", { in: "body", name: "rule" }, "/rules", { target: "/rules", body: '{"rule":"a &b"}' }],
  ["path", { in: "path" }, "/rules/{ruleId}/x", { target: "/rules/a%20%26b/x", body: "" }],
  [
    "header",
    { in: "header", name: "X-Rule" },
    "/rules",
    { target: "/rules", headers: expect.objectContaining({ "x-rule": "a &b" }) },
  ],
] as const)("delete names the rule in the %s", async (_, identifyBy, path, sent) => {
  const server = await serve([{ json: {} }]);
  expect(await clientOf(server, { operations: { delete: { identifyBy, path } } }).delete("a &b")).toBe("deleted");
  expect(server.requests).toEqual([expect.objectContaining({ method: "DELETE", ...sent })]);
});

test("a delete that is answered with 200 and a page is unconfirmed, and nothing is read", async () => {
  const server = await serve([{ body: "<html>Log in</html>" }]);
  expect(await clientOf(server).delete("r1")).toBe("unconfirmed");
  expect(server.requests.map(({ method }) => method)).toEqual(["DELETE"]);
});

test("delete without a place for the id is refused before any request, naming the field to set", async () => {
  const server = await serve([{}]);
  const error = await failureOf(clientOf(server, { operations: { delete: {} } }).delete("r1"));
  expect(error).toMatchObject({ code: "UNSUPPORTED_BY_CONTRACT" });
  expect(error.message).toContain("operations.delete.identifyBy: query | body | path | header");
  expect(server.requests).toHaveLength(0);
});

test("update and list that the contract lacks are refused before any request", async () => {
  const server = await serve([{}]);
  const client = clientOf(server);
  const update = await failureOf(client.update("r1", {}));
  const list = await failureOf(client.list().next());
  expect(update.message).toContain("set operations.update in the contract");
  expect(list.message).toContain("set operations.list in the contract");
  expect([update.code, list.code]).toEqual(["UNSUPPORTED_BY_CONTRACT", "UNSUPPORTED_BY_CONTRACT"]);
  expect(server.requests).toHaveLength(0);
});

test.each([404, 410])("a delete and an update answered %i are RULE_NOT_FOUND, and nothing is read", async (status) => {
  const server = await serve([{ status, json: {} }]);
  const client = clientOf(server, { operations: { update: { path: "/rules/{ruleId}", body: "declared" } } });
  for (const call of [client.delete("r1"), client.update("r1", definition)])
    expect(await failureOf(call)).toMatchObject({
      code: "RULE_NOT_FOUND",
      outcomeUnknown: false,
      exchange: { status },
    });
  expect(server.requests.map(({ method }) => method).toSorted()).toEqual(["DELETE", "PUT"]);
});

test("a delete may be answered with any JSON, or nothing", async () => {
  const server = await serve([{ body: "" }, { json: [] }, { json: null }]);
  const client = clientOf(server);
  for (const id of ["r1", "r2", "r3"]) expect(await client.delete(id)).toBe("deleted");
  expect(server.requests).toHaveLength(3);
});

test("with readAfter the client reads nothing: that is its caller's", async () => {
  const server = await serve([{}]);
  const remove = { identifyBy: { in: "query" }, readAfter: true } as const;
  expect(await clientOf(server, { operations: { delete: remove } }).delete("r1")).toBe("deleted");
  expect(server.requests).toHaveLength(1);
});

const live = { name: "limit", priority: 1, tags: ["b", "a"], nested: { a: 1, extra: true }, owner: "x" };
const declared = { name: "limit", priority: 2, tags: ["a", "b"], nested: { a: 1 } };

const merged = { ...live, ...declared, nested: live.nested };

test.each([
  ["PUT", null, merged],
  ["POST", null, merged],
  ["PATCH", null, { priority: 2 }],
  ["PUT", "declared", declared],
  ["PATCH", "declared", declared],
  ["PUT", "merged", merged],
  ["PUT", "changes", { priority: 2 }],
] as const)("an update by %s of body %s sends that", async (method, body, sent) => {
  const server = await serve([{ json: { id: "r1", ...declared } }]);
  const client = clientOf(server, {
    operations: { update: { method, path: "/rules/{ruleId}", body } },
    rule: { unordered: ["/tags"] },
  });
  const answered = { ruleId: "r1", rule: { id: "r1", ...declared } };
  expect(await client.update("r1", declared, { live })).toEqual(answered);
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]).toMatchObject({ method, target: "/rules/r1" });
  expect(JSON.parse(server.requests[0]?.body ?? "")).toEqual(sent);
});

const deepLive = { name: "limit", scope: { region: "eu", window: { days: 1, zone: "UTC" } }, tags: [{ id: 1, x: 2 }] };
const deepDeclared = { name: "limit", scope: { window: { days: 2 }, kind: "all" }, tags: [{ id: 2 }] };
const deepScope = { region: "eu", window: { days: 2, zone: "UTC" }, kind: "all" };

test.each([
  ["declared", deepDeclared],
  ["merged", { name: "limit", scope: deepScope, tags: [{ id: 2 }] }],
  ["changes", { scope: deepScope, tags: [{ id: 2 }] }],
] as const)("an update of body %s treats what lies within objects so, and arrays as declared", async (body, sent) => {
  const server = await serve([{}]);
  const client = clientOf(server, { operations: { update: { path: "/rules/{ruleId}", body } } });
  await client.update("r1", deepDeclared, { live: deepLive });
  expect(JSON.parse(server.requests[0]?.body ?? "")).toEqual(sent);
});

test.each(["merged", "changes"] as const)(
  "in an update of body %s __proto__ is a field like any other",
  async (body) => {
    const server = await serve([{}]);
    const client = clientOf(server, { operations: { update: { path: "/rules/{ruleId}", body } } });
    const definition = JSON.parse('{"__proto__":{"b":2},"constructor":{"c":1}}');
    await client.update("r1", definition, { live: JSON.parse('{"__proto__":{"a":1,"b":1}}') });
    expect(server.requests[0]?.body).toBe('{"__proto__":{"a":1,"b":2},"constructor":{"c":1}}');
  },
);

test("a declared null that the service drops is no change", async () => {
  const server = await serve([{}]);
  const client = clientOf(server, { operations: { update: { path: "/rules/{ruleId}", body: "changes" } } });
  await client.update("r1", { note: null, priority: 2 }, { live: { priority: 1 } });
  expect(server.requests[0]?.body).toBe('{"priority":2}');
});

describe.each(["changes", "merged"] as const)("an update of body %s", (body) => {
  const operations = { update: { path: "/rules/{ruleId}", body } } as const;
  const methodsOf = ({ requests }: ScriptedServer) => requests.map(({ method }) => method);

  test("reads the rule that it was not given", async () => {
    const server = await serve([{ json: { id: "r1", ...live } }, {}]);
    await clientOf(server, { operations }).update("r1", { priority: 2 });
    expect(methodsOf(server)).toEqual(["GET", "PUT"]);
    const changed = body === "changes" ? { priority: 2 } : { ...live, priority: 2 };
    expect(JSON.parse(server.requests[1]?.body ?? "")).toEqual(changed);
  });

  test("sends nothing that is as declared already, and gives the live rule", async () => {
    const server = await serve([{ json: { id: "r1", ...live } }]);
    const client = clientOf(server, { operations, rule: { unordered: ["/tags"] } });
    const definition = { tags: ["a", "b"], nested: { a: 1 }, note: null };
    const answered = { ruleId: "r1", rule: { id: "r1", ...live } };
    expect(await client.update("r1", definition)).toEqual(answered);
    expect(await client.update("r1", definition, { live })).toEqual({ ruleId: "r1", rule: live });
    expect(methodsOf(server)).toEqual(["GET"]);
  });

  test("sends nothing where the rule cannot be read, or is not this one", async () => {
    const server = await serve([{ status: 404 }, { json: { error: "later" } }, { json: { error: "later" } }]);
    const client = clientOf(server, { operations });
    expect(await failureOf(client.update("r1", declared))).toMatchObject({ code: "RULE_NOT_FOUND" });
    const error = await failureOf(client.update("r1", declared, { label: "limit-1" }));
    expect(error.message).toBe(
      "read rule limit-1 failed: the service's answer has none of the fields that are declared. What to do: check " +
        "rule.envelope and the path of operations.get in the contract: the answer is not taken for this rule. If the rule " +
        "has really lost all of them, delete it at the service, so that it is made again (RESPONSE_INVALID)",
    );
    expect(methodsOf(server)).toEqual(["GET", "GET"]);
  });

  test("takes a rule that has a field that is known of it", async () => {
    const server = await serve([{}]);
    await clientOf(server, { operations }).update("r1", { note: "x" }, { live, known: { name: "limit" } });
    expect(methodsOf(server)).toEqual(["PUT"]);
  });
});

test("where no operation reads one rule, an update sends what is declared", async () => {
  const server = await serve([{}]);
  const operations = { get: null, list: { path: "/rules", items: "", lagMs: 0 }, update: { path: "/rules/{ruleId}" } };
  await clientOf(server, { operations }).update("r1", declared);
  expect(server.requests.map(({ method, body }) => [method, JSON.parse(body)])).toEqual([["PUT", declared]]);
});

test("an update sends nothing back that the service alone sets, but its version", async () => {
  const shown = { ...live, id: "r1", version: 7, createdAt: "t", stats: { hits: 1 }, audit: { by: "x", note: "n" } };
  const server = await serve([{}]);
  const client = clientOf(server, {
    operations: { update: { path: "/rules/{ruleId}", version: { at: "/version" } } },
    rule: { readOnly: ["/version", "/createdAt", "/stats"], changedBy: "/audit/by" },
  });
  await client.update("r1", { priority: 2 }, { seen: { ruleId: "r1", rule: shown, version: 7 } });
  const sent = { ...live, priority: 2, version: 7, audit: { note: "n" } };
  expect(JSON.parse(server.requests[0]?.body ?? "")).toEqual(sent);
});

test("an update of body declared reads nothing", async () => {
  const server = await serve([{}]);
  await clientOf(server, { operations: { update: { path: "/rules/{ruleId}", body: "declared" } } }).update(
    "r1",
    declared,
    {
      live: declared,
    },
  );
  expect(server.requests.map(({ method }) => method)).toEqual(["PUT"]);
});

test("an update may name the rule in its body, beside the definition", async () => {
  const server = await serve([{ json: {} }]);
  const update = {
    method: "POST",
    path: "/rules/update",
    identifyBy: { in: "body", name: "id" },
    bodyAt: "/rule",
    body: "declared",
  } as const;
  expect(await clientOf(server, { operations: { update } }).update("r1", { a: 1 })).toBeUndefined();
  expect(server.requests[0]).toMatchObject({ method: "POST", body: '{"rule":{"a":1},"id":"r1"}' });
});

test("an update that is answered with nothing, or with no id, gives nothing; with another id it is refused", async () => {
  const answers = [{}, { json: { done: true } }, { json: { id: "r2" } }];
  const server = await serve(answers);
  const client = clientOf(server, { operations: { update: { path: "/rules/{ruleId}", body: "declared" } } });
  expect(await client.update("r1", declared)).toBeUndefined();
  expect(await client.update("r1", declared)).toBeUndefined();
  expect(await failureOf(client.update("r1", declared))).toMatchObject({
    code: "RESPONSE_INVALID",
    outcomeUnknown: true,
  });
});

test("a failure says what was attempted, what came back and what to do", async () => {
  const server = await serve([
    { status: 422, json: { error: { code: "X", message: "no such\nfield" } }, headers: { "x-request-id": "q-1" } },
  ]);
  const error = await failureOf(clientOf(server, {}, { name: "eu" }).create(definition, { label: "limit-1" }));
  expect(error.message).toBe(
    'create rule "limit-1" on connection "eu" failed: the service answered 422 (code X; no such field; request id q-1) ' +
      "[POST /api/v1/merchants/rules]. What to do: compare the definition and the contract with what the service accepts; " +
      "its own message says more (REJECTED)",
  );
  expect(error).toMatchObject({
    code: "REJECTED",
    exchange: {
      method: "POST",
      path: "/api/v1/merchants/rules",
      status: 422,
      serviceCode: "X",
      serviceMessage: "no such field",
      requestId: "q-1",
    },
    retryable: false,
    outcomeUnknown: false,
  });
});

test.each([
  [400, {}, "compare the definition and the contract with what the service accepts (REJECTED)"],
  [408, {}, "run it again later (TIMED_OUT)"],
  [
    409,
    {},
    "the service does not say what it conflicts with: look there for what uses the rule, for a newer version of it, and for another rule like it; where its answers do say it, correct errors in the contract (RULE_CONFLICT)",
  ],
  [501, {}, "check baseUrl and this operation in the contract (SERVICE_FAILED)"],
  [503, {}, "run it again later (SERVICE_FAILED)"],
  [
    503,
    { "x-request-id": "q-1" },
    "run it again later; with the request id the service's operators can look into it (SERVICE_FAILED)",
  ],
])("a failure with %i and the headers %j says what to do", async (status, headers, advice) => {
  const server = await serve([{ status, headers }]);
  const error = await failureOf(clientOf(server, { limits: { maxAttempts: 1 } }).get("r1"));
  expect(error.message.split("What to do: ")).toEqual([expect.stringContaining(`answered ${status}`), advice]);
});

test("a conflict that the service explains may be about another rule", async () => {
  const server = await serve([{ status: 409, json: { error: { message: "the name is taken" } } }]);
  const { message } = await failureOf(clientOf(server).get("r1"));
  expect(message).toContain("(the name is taken)");
  expect(message).toContain("What to do: another rule may be in its way");
});

test("a message may stand in several places, each is shown once", async () => {
  const json = { errors: [{ title: "Bad rule", detail: "no such field" }], message: "Bad rule" };
  const server = await serve([{ status: 422, json }]);
  const errors = { message: ["/missing", "/message", "/errors/0/title", "/errors/0/detail"], details: "/none" };
  const { message, exchange } = await failureOf(clientOf(server, { errors }).get("r1"));
  expect(message).toContain("answered 422 (Bad rule; no such field) [GET");
  expect(exchange).toMatchObject({ serviceMessage: "Bad rule; no such field" });
});

test.each<[string, unknown, string[] | undefined]>([
  ["a text", "field x", ["field x"]],
  ["texts", ["field x", "field y"], ["field x", "field y"]],
  [
    "objects",
    [{ code: 10, source: { pointer: "/x" }, ok: false, none: null }],
    ["code: 10, source.pointer: /x, ok: false"],
  ],
  ["an object", { name: ["too long", "taken"], kind: "x" }, ["name[0]: too long, name[1]: taken", "kind: x"]],
  ["what the message says", [{ path: "refer", reason: "details" }, "new"], ["new"]],
  ["seven", [1, 2, 3, 4, 5, 6, 7], ["1", "2", "3", "4", "5", "and 2 more"]],
  ["a long one", ["d".repeat(300)], [`${"d".repeat(200)}...`]],
  ["none", [], undefined],
  ["null", null, undefined],
  ["nothing to read", [{}, null, []], undefined],
])("details that are %s are shown, up to a limit", async (_, details, shown) => {
  const server = await serve([{ status: 400, json: { error: { message: "refer to the details", details } } }]);
  const { message, exchange } = await failureOf(clientOf(server).get("r1"));
  expect(exchange?.serviceDetails).toEqual(shown);
  if (shown !== undefined) expect(message).toContain(`(refer to the details; details: ${shown.join(" | ")})`);
});

test("a failure's code may be a number, its texts are kept short, its body need not be JSON", async () => {
  const server = await serve([
    { status: 400, json: { error: { code: 7, message: "m".repeat(2000) } } },
    { status: 400, body: "<html>" },
  ]);
  const client = clientOf(server);
  const error = await failureOf(client.get("r1"));
  expect(error.exchange).toMatchObject({ serviceCode: "7", serviceMessage: `${"m".repeat(300)}...` });
  expect(await failureOf(client.get("r1"))).toMatchObject({ code: "REJECTED", exchange: { status: 400 } });
});

test("403 is FORBIDDEN, 409 is RULE_CONFLICT; neither is tried again", async () => {
  const server = await serve([{ status: 403 }, { status: 409 }]);
  const client = clientOf(server, { idempotency: {} });
  expect(await failureOf(client.create(definition))).toMatchObject({ code: "FORBIDDEN" });
  expect(await failureOf(client.create(definition))).toMatchObject({ code: "RULE_CONFLICT" });
  expect(server.requests).toHaveLength(2);
});

test("a success that the contract does not list is named with what was expected", async () => {
  const server = await serve([{ status: 200, json: { id: "r1" } }]);
  const error = await failureOf(clientOf(server).create(definition));
  expect(error).toMatchObject({ code: "RESPONSE_INVALID", outcomeUnknown: true });
  expect(error.message).toContain("the service answered 200; expected 201");
});

test("requests share kept-alive connections, at most as many as limits.concurrency", async () => {
  const together = Promise.withResolvers<void>();
  let underWay = 0;
  let most = 0;
  const server = await serve(() => async (response, { target }) => {
    underWay += 1;
    most = Math.max(most, underWay);
    if (underWay === 4) together.resolve();
    await together.promise;
    underWay -= 1;
    reply(response, { json: { id: target.split("/").at(-1) } });
  });
  const client = clientOf(server, { limits: { concurrency: 4 } });
  await Promise.all(Array.from({ length: 60 }, (_, index) => client.get(`r${index}`)));
  expect(server.requests).toHaveLength(60);
  expect(server.connections()).toBe(4);
  expect(most).toBe(4);
  await client.close();
  expect(await failureOf(client.get("r1"))).toMatchObject({ code: "CONNECTION_FAILED", retryable: false });
});

describe("who the credentials are", () => {
  const contract = (at = "/merchant/id") => ({
    auth: { identity: { path: "/me", at, query: { account: "{account}" }, headers: { "X-Version": "2" } } },
    parameters: { account: { default: "a 1" } },
  });

  test("is asked once, however many ask", async () => {
    const server = await serve([{ json: { merchant: { id: "m-1" } } }]);
    const client = clientOf(server, contract());
    expect(await Promise.all([client.identity(), client.identity()])).toEqual(["m-1", "m-1"]);
    expect(await client.identity()).toBe("m-1");
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]).toMatchObject({ method: "GET", target: "/me?account=a%201", body: "" });
    expect(server.requests[0]?.headers).toMatchObject({ "x-version": "2", authorization: "Bearer token-of-the-tests" });
  });

  test("may be a number", async () => {
    const server = await serve([{ json: 42 }]);
    expect(await clientOf(server, contract("")).identity()).toBe("42");
  });

  test("is unknown, and not asked for, where the contract cannot ask", async () => {
    const server = await serve([{}]);
    expect(await clientOf(server).identity()).toBeUndefined();
    expect(server.requests).toHaveLength(0);
  });

  test("is asked again after a failure", async () => {
    const server = await serve([{ status: 403 }, { json: { merchant: { id: "m-1" } } }]);
    const client = clientOf(server, contract(), { name: "eu" });
    expect((await failureOf(client.identity())).message).toMatch(
      /^find out who the credentials are on connection "eu" failed: the service answered 403/,
    );
    expect(await client.identity()).toBe("m-1");
  });

  test.each([{}, [], "", null, true, 0.5, { id: "m-1" }])("is not %j", async (id) => {
    const server = await serve([{ json: { merchant: { id } } }]);
    const error = await failureOf(clientOf(server, contract()).identity());
    expect(error.code).toBe("RESPONSE_INVALID");
    expect(error.message).toContain("there is no text or whole number at /merchant/id (auth.identity.at)");
  });
});

describe("an answer that refuses what the contract has sent says which field to correct", () => {
  test("a page size that is too large", async () => {
    const server = await serve(({ target }) =>
      Number(new URL(target, "http://x").searchParams.get("limit")) > 50 ? { status: 400, json: {} } : { json: [] },
    );
    const contract = (pageSize: number) => ({
      operations: { list: { path: "/rules", items: "", pagination: { type: "page" as const, limit: "limit" } } },
      limits: { pageSize },
    });
    const error = await failureOf(allOf(clientOf(server, contract(200)).list()));
    expect(error).toMatchObject({
      code: "REJECTED",
      advice: expect.stringMatching(
        /^lower limits\.pageSize in the contract \(limit=200 was asked for\), or correct operations\.list\.pagination there: .* limit, page; else /,
      ),
    });
    expect(await allOf(clientOf(server, contract(50)).list())).toEqual([]);
  });

  test("fields that the service alone sets, in an update that sends the live rule back", async () => {
    const live = { id: "r1", name: "limit", priority: 1, meta: { createdAt: "t", note: "n" } };
    const server = await serve(({ method, body }) => {
      if (method === "GET") return { json: live };
      return body.includes("createdAt") || body.includes('"id"') ? { status: 422, json: {} } : { json: { id: "r1" } };
    });
    const contract = (omit: string[]) => ({
      operations: { update: { path: "/rules/{ruleId}", body: "merged" as const, omit } },
    });
    const changed = { name: "limit", priority: 2, meta: { note: "m" } };
    const error = await failureOf(clientOf(server, contract([])).update("r1", changed));
    expect(error).toMatchObject({
      code: "REJECTED",
      advice: expect.stringMatching(
        /program does not declare \(\/meta\/createdAt\): name those .* in operations\.update\.omit of the contract, and in rule\.readOnly; else /,
      ),
    });
    await clientOf(server, contract(["/meta/createdAt"])).update("r1", changed);
    // Where the declared rule alone is sent, this is not what is wrong.
    const declared = { operations: { update: { path: "/rules/{ruleId}", body: "declared" as const } } };
    const other = await failureOf(clientOf(server, declared).update("r1", { ...changed, createdAt: "u" }));
    expect(other.advice).not.toContain("operations.update.omit");
  });

  test("a null that says that a field is gone", async () => {
    const server = await serve([{ status: 422, json: {} }]);
    const operations = { update: { path: "/rules/{ruleId}", body: "declared", removal: null } } as const;
    const known = { note: "n", limits: { day: 1, week: 2 } };
    const error = await failureOf(clientOf(server, { operations }).update("r1", { limits: { day: 1 } }, { known }));
    expect(server.requests[0]?.body).toBe('{"note":null,"limits":{"day":1,"week":null}}');
    expect(error.advice).toMatch(
      /no longer declared \(\/note, \/limits\/week\): .* correct operations\.update\.removal/,
    );
  });

  test("a header that names the tenant", async () => {
    const server = await serve(({ headers }) =>
      headers["x-tenant"] === "acme" ? { status: 201, json: { id: "r1" } } : { status: 403, json: {} },
    );
    const error = await failureOf(clientOf(server).create(definition));
    expect(error).toMatchObject({
      code: "FORBIDDEN",
      advice: expect.stringContaining("headers and query, and the parameters"),
    });
    const create = { headers: { "X-Tenant": "{tenant}" } };
    const client = clientOf(
      server,
      { operations: { create }, parameters: { tenant: {} } },
      { parameters: { tenant: "acme" } },
    );
    expect(await client.create(definition)).toMatchObject({ ruleId: "r1" });
  });
});

describe("the id in a header", () => {
  const rule = { id: [{ header: "Location", segment: "last" as const }, "/id"] };
  const locations = ["/rules/r%201", "https://example.com/v1/rules/r%201?x=/y", "r%201", "/rules/r%201/"];

  test.each(locations)("of a create with an empty body is the last segment of %s", async (location) => {
    const server = await serve([{ status: 201, headers: { location } }]);
    expect(await clientOf(server, { rule }).create({})).toEqual({ ruleId: "r 1", rule: {}, status: 201 });
  });

  test("counts after one in the body, and in one alone the whole of it counts", async () => {
    const server = await serve([
      { status: 201, json: { id: "r1" }, headers: { location: "/rules/r2", "rule-id": "r3" } },
    ]);
    expect(await clientOf(server, { rule }).create({})).toMatchObject({ ruleId: "r1" });
    const whole = { id: ["/other", { header: "Rule-Id" }] };
    expect(await clientOf(server, { rule: whole }).create({})).toMatchObject({ ruleId: "r3" });
  });

  test("is missed by name, and leaves a create in doubt", async () => {
    for (const headers of [{}, { location: "/" }, { location: "/rules/%off" }]) {
      const server = await serve([{ status: 201, json: { name: "a" }, headers }]);
      const error = await failureOf(clientOf(server, { rule }).create({}));
      expect(error).toMatchObject({ outcomeUnknown: true });
      expect(error.message).toContain("rule.id");
    }
  });

  test("is found beside a body that is no JSON, and not needed where the body has one", async () => {
    const text = await serve([{ status: 201, body: "Created", headers: { location: "/rules/r1" } }]);
    expect(await clientOf(text, { rule }).create({})).toMatchObject({ ruleId: "r1" });
    const both = await serve([{ status: 201, json: { id: "r1" }, headers: { location: "/rules/%off" } }]);
    expect(await clientOf(both, { rule }).create({})).toMatchObject({ ruleId: "r1" });
  });

  test("is that of a rule that an update has given another", async () => {
    const update = { path: "/rules/{ruleId}", id: "new", body: "declared" } as const;
    const server = await serve([{ headers: { location: "/rules/r2" } }]);
    const client = clientOf(server, { rule, operations: { update } });
    expect(await client.update("r1", { a: 1 })).toEqual({ ruleId: "r2", rule: {} });
  });
});

describe("fields that are sent under other names", () => {
  const sentAs = { algorithm_data: "algorithm" };
  const operations = {
    create: { path: "/create", sentAs },
    update: { method: "POST", path: "/update", identifyBy: { in: "body", name: "routing_id" }, sentAs },
  } as const;

  test("are sent so by create and by update, at the top alone, beside the id in a field of its own", async () => {
    const server = await serve(({ method, target }) =>
      method === "GET"
        ? { json: { id: "r1", name: "a", algorithm_data: { algorithm_data: 1 }, note: "x" } }
        : { status: target === "/create" ? 201 : 200, json: { id: "r1" } },
    );
    const client = clientOf(server, { operations });
    await client.create({ name: "a", algorithm_data: { algorithm_data: 1 } });
    await client.update("r1", { name: "a", algorithm_data: { algorithm_data: 2 } });
    const bodies = server.requests.flatMap(({ body }) => (body === "" ? [] : [JSON.parse(body)]));
    expect(bodies).toEqual([
      { name: "a", algorithm: { algorithm_data: 1 } },
      { name: "a", algorithm: { algorithm_data: 2 }, note: "x", routing_id: "r1" },
    ]);
  });

  test("are refused beside a field of that name, and a field in which the update names its rule is, too", async () => {
    const server = await serve([{ json: { id: "r1" } }]);
    const client = clientOf(server, { operations });
    const both = await failureOf(client.create({ algorithm: 1, algorithm_data: 2 }));
    expect(both.message).toMatch(
      /algorithm_data is sent as algorithm, and the rule has a field algorithm, too.*RULE_INVALID/,
    );
    const taken = await failureOf(client.update("r1", { routing_id: "r2" }));
    expect(taken.message).toMatch(/it has a field routing_id, in which the update names the rule.*RULE_INVALID/);
    expect(server.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  });
});
