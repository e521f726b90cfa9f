import { describe, expect, test } from "vitest";
import type { ErrorCode } from "../../../sdk/errors.ts";
import { allOf, clientOf, dropped, failureOf, serve } from "./scripted-server.ts";

const path = "/api/v1/merchants/rules/{ruleId}";
const operations = {
  delete: { identifyBy: { in: "query" } },
  update: { path },
  list: { path: "/api/v1/merchants/rules", items: "/rules" },
} as const;
const failure = [{ at: "/status", is: ["error"] }];
const refused = { status: "error", error: { code: "LOCKED", message: "the rule is locked" } };

describe("a body that says by errors.failure that nothing was done", () => {
  test.each([
    ["create", 201],
    ["get", 200],
    ["update", 200],
    ["delete", 200],
    ["delete", 202],
    ["list", 200],
  ] as const)("is a failure of a %s that is answered %s, and is sent once", async (operation, status) => {
    const server = await serve([{ status, json: { id: "r1", ...refused } }]);
    const client = clientOf(server, { operations, errors: { failure } });
    const calls = {
      create: () => client.create({ name: "a" }),
      get: () => client.get("r1"),
      update: () => client.update("r1", { name: "a" }),
      delete: () => client.delete("r1"),
      list: () => allOf(client.list()),
    };
    const error = await failureOf(calls[operation]());
    expect(error).toMatchObject({ code: "REJECTED", outcomeUnknown: false, exchange: { serviceCode: "LOCKED" } });
    expect(error.message).toMatch(
      new RegExp(
        `answered ${status}, and its body says that it failed \\(errors.failure\\) \\(code LOCKED; the rule is`,
      ),
    );
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ["notFound", "RULE_NOT_FOUND"],
    ["inUse", "RULE_CONFLICT"],
  ] as const)("means what errors.%s says of its code", async (meaning, code) => {
    for (const status of [null, 200]) {
      const server = await serve([{ json: refused }]);
      const client = clientOf(server, { operations, errors: { failure, [meaning]: [{ status, code: "LOCKED" }] } });
      expect(await failureOf(client.delete("r1"))).toMatchObject({ code, outcomeUnknown: false });
    }
  });

  test("leaves the doubt of an attempt before it, whose answer was lost", async () => {
    const server = await serve([dropped, { json: refused }]);
    const error = await failureOf(clientOf(server, { errors: { failure } }).delete("r1"));
    expect(error).toMatchObject({ code: "REJECTED", outcomeUnknown: true });
  });

  test.each([{ status: "ok" }, undefined, ...[null, false, 0, "", []].map((error) => ({ error }))])(
    "is not found in an answer that has none: %j",
    async (json) => {
      const either = { failure: [...failure, { at: "/error" }] };
      const client = clientOf(await serve([{ json }]), { errors: either });
      expect(await client.delete("r1")).toBe("deleted");
    },
  );
});

describe("a code that errors.notFound names", () => {
  const statuses: readonly (readonly [number, ErrorCode])[] = [
    [400, "RULE_NOT_FOUND"],
    [404, "RULE_NOT_FOUND"],
    [409, "RULE_NOT_FOUND"],
    [401, "UNAUTHENTICATED"],
    [403, "FORBIDDEN"],
    [408, "TIMED_OUT"],
    [429, "RATE_LIMITED"],
    [500, "SERVICE_FAILED"],
    [503, "SERVICE_FAILED"],
  ];
  test.each(statuses)("with status %s is %s, to a get, an update and a delete", async (status, code) => {
    const server = await serve([{ status, json: { error: { code: "NONE" } } }]);
    const limits = { maxAttempts: 2 };
    const client = clientOf(server, { operations, errors: { notFound: [{ code: "NONE" }] }, limits });
    const errors = [client.get("r1"), client.update("r1", {}), client.delete("r1")].map(failureOf);
    expect((await Promise.all(errors)).map((error) => error.code)).toEqual([code, code, code]);
    expect(server.requests).toHaveLength([408, 429, 500, 503].includes(status) ? 6 : 3);
  });
});
