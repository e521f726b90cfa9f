import { expect, test } from "vitest";
import { loadPreset } from "../../../sdk/contract/index.ts";
import { call, serve, textAt } from "./under-test.ts";

const contract = loadPreset("illustrative");
const rules = "/api/v1/merchants/rules";
const keyed = (key: string) => ({ headers: { "idempotency-key": key } });

test("the same key and body are answered alike and make one rule", async () => {
  const service = await serve({ contract });
  const first = await call(service, "POST", rules, { ...keyed("k"), body: { name: "a" } });
  const again = await call(service, "POST", rules, { ...keyed("k"), body: { name: "a" } });
  expect([again.status, again.text]).toEqual([first.status, first.text]);
  expect([first.headers.get("idempotency-replayed"), again.headers.get("idempotency-replayed")]).toEqual([
    null,
    "true",
  ]);
  expect(service.requests.map(({ replayed }) => replayed)).toEqual([undefined, true]);
  expect(service.rules()).toHaveLength(1);
});

test("the same key with another request is a conflict and changes nothing", async () => {
  const service = await serve({ contract });
  const first = await call(service, "POST", rules, { ...keyed("k"), body: { name: "a" } });
  const other = await call(service, "POST", rules, { ...keyed("k"), body: { name: "b" } });
  const update = await call(service, "PUT", `${rules}/${textAt(first, "/id")}`, { ...keyed("k"), body: { name: "a" } });
  for (const refused of [other, update])
    expect([refused.status, refused.at("/error/code")]).toEqual([422, "IDEMPOTENCY_CONFLICT"]);
  expect(service.rules().map(({ rule }) => rule.name)).toEqual(["a"]);
});

test("parallel requests with one key make one rule", async () => {
  const service = await serve({ contract });
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => call(service, "POST", rules, { ...keyed("k"), body: { name: "a" } })),
  );
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(service.rules()).toHaveLength(1);
  expect(service.requests.filter(({ replayed }) => replayed !== true)).toHaveLength(1);
});

test("an update is replayed as well, even over a later change", async () => {
  const service = await serve({ contract });
  const id = service.put(undefined, { name: "a" });
  const update = () => call(service, "PUT", `${rules}/${id}`, { ...keyed("k"), body: { name: "a", priority: 1 } });
  const first = await update();
  service.put(id, { name: "a", priority: 2 });
  expect((await update()).text).toBe(first.text);
  expect(service.rules()[0]?.rule.priority).toBe(2);
});

test("a refused request frees its key; a key lives for 24 hours", async () => {
  let now = Date.now();
  const service = await serve({ contract, now: () => now });
  expect((await call(service, "POST", rules, { ...keyed("k"), body: { name: "" } })).status).toBe(422);
  expect((await call(service, "POST", rules, { ...keyed("k"), body: { name: "a" } })).status).toBe(201);
  now += 24 * 3_600_000 - 1000;
  const headers = { "idempotency-key": "k" };
  expect(
    (await call(service, "POST", rules, { headers, body: { name: "a" } })).headers.get("idempotency-replayed"),
  ).toBe("true");
  now += 2000;
  expect((await call(service, "POST", rules, { headers, body: { name: "a" } })).status).toBe(409);
  expect((await call(service, "POST", rules, { ...keyed("x".repeat(256)), body: { name: "z" } })).status).toBe(400);
});
