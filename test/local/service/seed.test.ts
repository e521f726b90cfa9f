import { expect, test } from "vitest";
import { loadPreset } from "../../../sdk/contract/index.ts";
import { call, serve, textAt } from "./under-test.ts";

const contract = loadPreset("seed");
const rules = "/api/v1/merchants/rules";

test("the documented operations work, and nothing else exists", async () => {
  const service = await serve({ contract });
  const created = await call(service, "POST", rules, { body: { anything: [1, null] } });
  expect(created.status).toBe(201);
  const id = textAt(created, "/ruleId");
  expect((await call(service, "GET", `${rules}/${id}`)).at("/anything")).toEqual([1, null]);
  expect((await call(service, "GET", rules)).status).toBe(405);
  expect((await call(service, "PUT", `${rules}/${id}`, { body: {} })).status).toBe(405);
});

test("a delete is never guessed while the contract does not say how it names its rule", async () => {
  const service = await serve({ contract });
  const id = service.put(undefined, { a: 1 });
  for (const target of [rules, `${rules}?ruleId=${id}`]) {
    const refused = await call(service, "DELETE", target);
    expect([refused.status, refused.at("/error/code")]).toEqual([400, "BAD_REQUEST"]);
  }
  const refused = await call(service, "DELETE", rules);
  expect(textAt(refused, "/error/message")).toContain("identifyBy");
  expect((await call(service, "DELETE", `${rules}/${id}`)).status).toBe(405);
  expect(service.rules()).toHaveLength(1);
});

test("the same definition twice makes two rules, as nothing tells them apart", async () => {
  const service = await serve({ contract });
  const key = { headers: { "idempotency-key": "k" }, body: { a: 1 } };
  await call(service, "POST", rules, key);
  await call(service, "POST", rules, key);
  expect(service.rules()).toHaveLength(2);
});
