import { describe, expect, test } from "vitest";
import { defineContract } from "../../../sdk/contract/index.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { call, fieldOfEach, serve, textAt } from "./under-test.ts";

const rules = "/api/v1/merchants/rules";
const gone = [
  { at: "/status", is: ["deleted", "archived"] },
  { at: "/removed", is: [true] },
];
const input = contractOf({ rule: { gone } });
const contract = defineContract(input);

describe("a rule that is deleted where the service keeps its rows", () => {
  async function deleted() {
    let now = Date.UTC(2026, 0, 1);
    const service = await serve({ contract, now: () => now });
    const id = textAt(await call(service, "POST", rules, { body: { name: "a", priority: 1 } }), "/id");
    now += 1000;
    const answer = await call(service, "DELETE", `${rules}?ruleId=${id}`);
    return { service, id, answer };
  }

  test("is still answered, and stands in the list, marked by the first value of the first place", async () => {
    const { service, id, answer } = await deleted();
    expect([answer.status, answer.text]).toEqual([200, `{"deleted":true,"id":"${id}"}`]);
    const read = await call(service, "GET", `${rules}/${id}`);
    const row = {
      id,
      name: "a",
      priority: 1,
      status: "deleted",
      createdAt: "2026-01-01T00:00:00.000Z",
      updatedAt: "2026-01-01T00:00:01.000Z",
    };
    expect([read.status, read.at("")]).toEqual([200, row]);
    expect((await call(service, "GET", rules)).at("/rules")).toEqual([row]);
    expect(service.rules()).toEqual([]);
    expect(service.rows()).toEqual([{ ruleId: id, rule: { name: "a", priority: 1, status: "deleted" } }]);
  });

  test("cannot be deleted again, nor updated", async () => {
    const { service, id } = await deleted();
    const again = await call(service, "DELETE", `${rules}?ruleId=${id}`);
    expect([again.status, again.at("/error/code")]).toEqual([404, "RULE_NOT_FOUND"]);
    const updated = await call(service, "PUT", `${rules}/${id}`, { body: { name: "a" } });
    expect([updated.status, updated.at("/error/code")]).toEqual([409, "RULE_DELETED"]);
    expect(service.rows()).toMatchObject([{ rule: { status: "deleted", priority: 1 } }]);
  });

  test("leaves its natural key to a new rule", async () => {
    const { service, id } = await deleted();
    const second = await call(service, "POST", rules, { body: { name: "a" } });
    expect(second.status).toBe(201);
    expect((await call(service, "POST", rules, { body: { name: "a" } })).status).toBe(409);
    expect(service.rules().map(({ ruleId }) => ruleId)).toEqual([textAt(second, "/id")]);
    expect(fieldOfEach(await call(service, "GET", rules), "/rules", "id")).toEqual([id, textAt(second, "/id")]);
  });
});

test.each([{ status: "archived" }, { removed: true }])("a rule becomes gone by hand: %j", async (mark) => {
  const service = await serve({ contract });
  const id = service.put(undefined, { name: "a" });
  expect((await call(service, "POST", rules, { body: { name: "a" } })).status).toBe(409);
  service.put(id, { name: "a", ...mark });
  expect([service.rules(), service.rows()]).toEqual([[], [{ ruleId: id, rule: { name: "a", ...mark } }]]);
  expect((await call(service, "GET", `${rules}/${id}`)).status).toBe(200);
  expect((await call(service, "DELETE", `${rules}?ruleId=${id}`)).status).toBe(404);
  expect((await call(service, "POST", rules, { body: { name: "a" } })).status).toBe(201);
  expect(service.remove(id)).toBe(true);
  expect((await call(service, "GET", `${rules}/${id}`)).status).toBe(404);
});

test.each([{ status: "active" }, { removed: false }, { removed: "true" }])(
  "%j does not make a rule gone",
  async (field) => {
    const service = await serve({ contract });
    const id = service.put(undefined, { name: "a", ...field });
    expect(service.rules()).toHaveLength(1);
    expect((await call(service, "DELETE", `${rules}?ruleId=${id}`)).status).toBe(200);
    expect(service.rows()).toMatchObject([{ rule: { status: "deleted" } }]);
  },
);

test("where the contract has no rule.gone, a delete leaves no row", async () => {
  const service = await serve({ contract: defineContract({ ...input, rule: { ...input.rule, gone: [] } }) });
  const id = service.put(undefined, { name: "a", status: "deleted" });
  expect(service.rules()).toHaveLength(1);
  expect((await call(service, "DELETE", `${rules}?ruleId=${id}`)).status).toBe(200);
  expect(service.rows()).toEqual([]);
});
