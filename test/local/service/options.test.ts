import { describe, expect, test } from "vitest";
import { defineContract, loadPreset } from "../../../sdk/contract/index.ts";
import { call, fieldOfEach, serve, textAt } from "./under-test.ts";

const contract = loadPreset("illustrative");
const rules = "/api/v1/merchants/rules";

describe("a service that accepts duplicates", () => {
  test("makes two rules with one natural key, and lists both", async () => {
    const service = await serve({ contract, allowDuplicates: true });
    const created = [
      await call(service, "POST", rules, { body: { name: "a" } }),
      await call(service, "POST", rules, { body: { name: "a" } }),
    ];
    expect(created.map(({ status }) => status)).toEqual([201, 201]);
    const ids = created.map((each) => textAt(each, "/id"));
    expect(fieldOfEach(await call(service, "GET", rules), "/rules", "id")).toEqual(ids);
    const other = service.put(undefined, { name: "b" });
    expect((await call(service, "PUT", `${rules}/${other}`, { body: { name: "a" } })).status).toBe(200);
    expect((await call(service, "DELETE", `${rules}?ruleId=${ids[0]}`)).status).toBe(200);
    expect(service.rules().map(({ ruleId }) => ruleId)).toEqual([ids[1], other]);
  });

  test("shows them late, or on two pages, as faults of lists say", async () => {
    const service = await serve({ contract, allowDuplicates: true });
    service.put("one", { name: "a" });
    service.faults.set({ kind: "stale-list", times: 1 });
    expect((await call(service, "POST", rules, { body: { name: "a" } })).status).toBe(201);
    expect(fieldOfEach(await call(service, "GET", rules), "/rules", "name")).toEqual(["a"]);
    expect(fieldOfEach(await call(service, "GET", rules), "/rules", "name")).toEqual(["a", "a"]);
    service.put("three", { name: "c" });
    service.faults.set({ kind: "shifting-list", change: "insert" });
    const first = await call(service, "GET", `${rules}?limit=1`);
    const next = await call(service, "GET", `${rules}?limit=2&cursor=${textAt(first, "/nextCursor")}`);
    expect(fieldOfEach(next, "/rules", "name")).toEqual(["a", "a"]);
  });

  test("is not what a service is by itself", async () => {
    const service = await serve({ contract });
    service.put("one", { name: "a" });
    expect((await call(service, "POST", rules, { body: { name: "a" } })).status).toBe(409);
  });
});

describe("a service that answers the id alone", () => {
  const enveloped = defineContract({
    version: 1,
    operations: { update: { path: `${rules}/{ruleId}` }, delete: { identifyBy: { in: "query" } } },
    rule: { id: ["/key/id"], envelope: "/data" },
    idempotency: {},
  });

  test("does so to a create and an update, in the envelope; a get has the whole rule", async () => {
    const service = await serve({ contract: enveloped, answers: "id" });
    const sent = { headers: { "idempotency-key": "k" }, body: { name: "a" } };
    const created = await call(service, "POST", rules, sent);
    const id = textAt(created, "/data/key/id");
    expect([created.status, created.text]).toEqual([201, `{"data":{"key":{"id":"${id}"}}}`]);
    expect((await call(service, "POST", rules, sent)).text).toBe(created.text);
    const updated = await call(service, "PUT", `${rules}/${id}`, { body: { name: "b" } });
    expect([updated.status, updated.text]).toEqual([200, created.text]);
    expect((await call(service, "GET", `${rules}/${id}`)).at("/data/name")).toBe("b");
  });
});

describe("counted ruleIds", () => {
  test("begin at 1, are used once, and pass over an id that was given by hand", async () => {
    const service = await serve({ contract, ruleIds: "sequential" });
    expect([service.put(undefined, { name: "a" }), service.put(undefined, { name: "b" })]).toEqual(["1", "2"]);
    service.remove("2");
    expect(textAt(await call(service, "POST", rules, { body: { name: "c" } }), "/id")).toBe("3");
    service.put("5", { name: "by hand" });
    service.put("6", { name: "by hand too" });
    const next = service.put(undefined, { name: "d" });
    expect(["5", "6"]).not.toContain(next);
    service.remove(next);
    expect(service.put(undefined, { name: "e" })).not.toBe(next);
  });
});
