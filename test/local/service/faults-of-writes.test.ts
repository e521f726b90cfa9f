import { describe, expect, test } from "vitest";
import { defineContract } from "../../../sdk/contract/index.ts";
import { contractOf, update } from "../../support/stack/contracts.ts";
import { attempt, call, serve, textAt } from "./under-test.ts";

const rules = "/api/v1/merchants/rules";
const input = contractOf({ operations: { update: { ...update, body: "changes" } }, idempotency: {} });
const contract = defineContract(input);

describe("a service that normalises", () => {
  test("takes the blanks around the natural key away, in creates and updates, stores it so and answers so", async () => {
    const service = await serve({ contract });
    service.faults.set({ kind: "normalise" });
    const created = await call(service, "POST", rules, { body: { name: "  Padded name ", note: " kept " } });
    expect([created.status, created.at("/name"), created.at("/note")]).toEqual([201, "Padded name", " kept "]);
    const id = textAt(created, "/id");
    const updated = await call(service, "PUT", `${rules}/${id}`, { body: { name: "Other\n" } });
    expect(updated.at("/name")).toBe("Other");
    expect(service.rules()).toEqual([{ ruleId: id, rule: { name: "Other", note: " kept " } }]);
    expect(service.faults.injected).toMatchObject([{ operation: "create" }, { operation: "update" }]);
  });

  test("finds by the normalised key that a rule exists already, and knows a request again by its idempotency key", async () => {
    const service = await serve({ contract });
    service.faults.set({ kind: "normalise" });
    const sent = { headers: { "idempotency-key": "k" }, body: { name: "a " } };
    const created = await call(service, "POST", rules, sent);
    expect((await call(service, "POST", rules, { body: { name: " a" } })).status).toBe(409);
    service.faults.clear();
    const replayed = await call(service, "POST", rules, sent);
    expect([replayed.status, replayed.text]).toEqual([201, created.text]);
    expect((await call(service, "POST", rules, { body: { name: " a" } })).at("/name")).toBe(" a");
  });

  test.each([{ name: "a" }, { name: 1 }, { note: " a " }])("finds nothing to change in %j", async (body) => {
    const service = await serve({ contract });
    service.faults.set({ kind: "normalise" });
    expect((await call(service, "POST", rules, { body })).status).toBe(201);
    expect(service.rules()).toMatchObject([{ rule: body }]);
    expect(service.faults.current).toMatchObject([{ matched: 1, injected: 0 }]);
  });

  test("needs a natural key", async () => {
    const service = await serve({ contract: defineContract({ ...input, rule: { id: ["/id"] } }) });
    service.faults.set({ kind: "normalise" });
    expect((await call(service, "POST", rules, { body: { name: "a " } })).at("/name")).toBe("a ");
    expect(service.faults.current).toMatchObject([{ matched: 0 }]);
  });
});

describe("a service that does not see which rule a delete names", () => {
  const merchants = [
    { name: "acme", token: "token-acme" },
    { name: "globex", token: "token-globex" },
  ];

  test.each(["?ruleId=a", "?ruleId=none", "", "?other=a"])(
    "deletes all of the merchant's for %j, once",
    async (query) => {
      const service = await serve({ contract, merchants });
      for (const name of ["a", "b"]) service.put(name, { name });
      service.of("globex").put("a", { name: "a" });
      service.faults.set({ kind: "delete-all" });
      const answer = await call(service, "DELETE", rules + query, { token: "token-acme" });
      expect([answer.status, answer.text]).toEqual([200, '{"deleted":true}']);
      expect([service.rules(), service.of("globex").rules().length]).toEqual([[], 1]);
      service.put("c", { name: "c" });
      expect((await call(service, "DELETE", `${rules}?ruleId=b`, { token: "token-acme" })).status).toBe(404);
      expect(service.rules()).toHaveLength(1);
    },
  );

  test("does so even where the contract does not say how a delete names its rule", async () => {
    const service = await serve({ contract: defineContract({ version: 1 }) });
    service.put("a", { name: "a" });
    service.faults.set({ kind: "delete-all" });
    expect((await call(service, "DELETE", rules)).status).toBe(200);
    expect(service.rules()).toEqual([]);
  });

  test("keeps its rows where it keeps rows, and its own rules", async () => {
    const rule = {
      ...input.rule,
      gone: [{ at: "/status", is: ["deleted"] }],
      foreign: [{ at: "/by", is: ["system"] }],
    };
    const service = await serve({ contract: defineContract({ ...input, rule }) });
    service.put("a", { name: "a" });
    service.put("s", { name: "s", by: "system" });
    service.faults.set({ kind: "delete-all" });
    expect((await call(service, "DELETE", `${rules}?ruleId=a`)).status).toBe(200);
    expect(service.rows()).toEqual([
      { ruleId: "a", rule: { name: "a", status: "deleted" } },
      { ruleId: "s", rule: { name: "s", by: "system" } },
    ]);
    expect(service.rules().map(({ ruleId }) => ruleId)).toEqual(["s"]);
  });

  test("deletes nothing for who has no credentials", async () => {
    const service = await serve({ contract });
    service.put("a", { name: "a" });
    service.faults.set({ kind: "delete-all" });
    expect((await attempt(service, "DELETE", `${rules}?ruleId=a`, { token: null })).status).toBe(401);
    expect(service.rules()).toHaveLength(1);
    expect(service.faults.injected).toEqual([]);
  });
});
