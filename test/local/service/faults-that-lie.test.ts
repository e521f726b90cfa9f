import { describe, expect, test } from "vitest";
import type { FaultInput, LocalService } from "../../../local/service/index.ts";
import { type ContractInput, defineContract } from "../../../sdk/contract/index.ts";
import { contractOf, update } from "../../support/stack/contracts.ts";
import { call, type Received, serve } from "./under-test.ts";

const rules = "/api/v1/merchants/rules";
const input = contractOf({ operations: { update: { ...update, body: "changes" } }, idempotency: {} });
const transitions = [{ at: "/status", to: "active", path: `${rules}/{ruleId}/activate` }];
const stored = { a: { name: "a", n: 1 }, b: { name: "b", n: 1 }, c: { name: "c" } };

/** Starts a service with three rules, and a fault if one is given. */
async function lying(fault: FaultInput | undefined, rule: ContractInput["rule"] = {}): Promise<LocalService> {
  const service = await serve({ contract: defineContract({ ...input, rule: { ...input.rule, ...rule } }) });
  for (const [ruleId, definition] of Object.entries(stored)) service.put(ruleId, definition);
  service.faults.set(fault ?? []);
  return service;
}

const create = (service: LocalService, name = "new") =>
  call(service, "POST", rules, { body: { name, n: 2, on: true } });
const change = (service: LocalService, n = 2) => call(service, "PUT", `${rules}/a`, { body: { n } });
const remove = (service: LocalService, ruleId = "a") => call(service, "DELETE", `${rules}?ruleId=${ruleId}`);
const activate = (service: LocalService) => call(service, "POST", `${rules}/a/activate`);
const success = [200, 201];

/** Returns the stored rules by id; a rule that a create has made is under its name. */
function kept(service: LocalService) {
  return Object.fromEntries(
    service.rows().map(({ ruleId, rule }) => [ruleId.length === 1 ? ruleId : String(rule.name), rule]),
  );
}

describe("a service that does nothing", () => {
  test.each([
    ["create", create, { name: "new", n: 2, on: true }],
    ["update", change, { id: "a", name: "a", n: 2 }],
    ["delete", remove, { id: "a", deleted: true }],
    ["transition", activate, { id: "a", name: "a", n: 1, status: "active" }],
  ])("answers a %s as if it had been done, and tells the truth to who reads", async (_operation, write, expected) => {
    const service = await lying({ kind: "write-nothing" }, { transitions });
    const { status, text } = await write(service);
    expect(success).toContain(status);
    expect(JSON.parse(text)).toMatchObject(expected);
    expect(kept(service)).toEqual(stored);
    expect((await call(service, "GET", `${rules}/a`)).at("/n")).toBe(1);
    await write(service);
    expect(kept(service)).not.toEqual(stored);
  });

  test.each([
    ["usual", { id: "a", name: "a", n: 2, createdAt: expect.any(String), updatedAt: expect.any(String) }],
    ["id", { id: "a" }],
    ["echo", { n: 2 }],
    ["empty-object", {}],
    ["empty", undefined],
    ["error", { status: "error" }],
  ] as const)("may answer an update with the body %s", async (answer, body) => {
    const service = await lying({ kind: "write-nothing", answer });
    const { status, text } = await change(service);
    expect([status, text === "" ? undefined : JSON.parse(text)]).toEqual([200, body]);
    expect(kept(service)).toEqual(stored);
  });

  test("does so from the request on that is named, and refuses what it refuses", async () => {
    const service = await lying({ kind: "write-nothing", operations: ["delete"], request: 2, times: 2 });
    for (const ruleId of ["a", "gone", "b", "c"]) await remove(service, ruleId);
    expect(kept(service)).toEqual({ b: stored.b, c: stored.c });
    expect(service.faults.injected.map(({ request }) => request)).toEqual([3, 4]);
  });

  test("keeps no idempotency key either", async () => {
    const service = await lying({ kind: "write-nothing" });
    const keyed = { headers: { "idempotency-key": "k" }, body: { name: "new" } };
    const ids = [await call(service, "POST", rules, keyed), await call(service, "POST", rules, keyed)];
    expect(new Set(ids.map(({ text }) => text)).size).toBe(2);
    expect(Object.keys(kept(service))).toEqual(["a", "b", "c", "new"]);
  });
});

describe("a service that does another thing than it was told", () => {
  const gone = { gone: [{ at: "/status", is: ["deleted"] }] };
  const on = { name: "new", n: 2, on: true };
  type Case = [string, FaultInput, (service: LocalService) => Promise<Received>, object, ContractInput["rule"]?];

  test.each<Case>([
    [
      "updates all",
      { kind: "write-others", others: "all" },
      change,
      { a: { name: "a", n: 2 }, b: { name: "b", n: 2 }, c: { name: "c", n: 2 } },
    ],
    [
      "updates one more",
      { kind: "write-others" },
      change,
      { ...stored, a: { name: "a", n: 2 }, b: { name: "b", n: 2 } },
    ],
    ["deletes one more", { kind: "write-others" }, remove, { c: stored.c }],
    ["deletes all", { kind: "write-others", others: "all" }, remove, {}],
    [
      "deletes one more, and keeps the rows",
      { kind: "write-others" },
      remove,
      { ...stored, a: { ...stored.a, status: "deleted" }, b: { ...stored.b, status: "deleted" } },
      gone,
    ],
    ["drops a field of an update", { kind: "drop-fields", at: "/name" }, change, { ...stored, a: { n: 2 } }],
    ["drops all that an update does not send", { kind: "drop-fields" }, change, { ...stored, a: { n: 2 } }],
    [
      "drops a field of a create",
      { kind: "drop-fields", at: "/on" },
      create,
      { ...stored, new: { name: "new", n: 2 } },
    ],
    [
      "stores another value",
      { kind: "store-otherwise", at: "/on", value: [false] },
      create,
      { ...stored, new: { ...on, on: [false] } },
    ],
  ])("%s, and answers as if it had not", async (_name, fault, write, expected, rule) => {
    const [liar, honest] = [await lying(fault, rule), await lying(undefined, rule)];
    const [lie, truth] = [await write(liar), await write(honest)];
    const fields = ({ text }: Received) => ({ ...JSON.parse(text), id: "", createdAt: "", updatedAt: "" });
    expect([lie.status, fields(lie)]).toEqual([truth.status, fields(truth)]);
    expect(kept(liar)).toEqual(expected);
    expect(liar.faults.injected).toHaveLength(1);
  });

  test("creates two, of which it names one", async () => {
    const service = await lying({ kind: "create-twice", answer: "id" });
    const made = await create(service);
    const twins = service.rules().filter(({ rule }) => rule.name === "new");
    expect([JSON.parse(made.text), twins.map(({ rule }) => rule)]).toEqual([{ id: twins[0]?.ruleId }, [on, on]]);
  });

  test("names the rule that it creates at another place", async () => {
    const service = await lying({ kind: "without-id", movedTo: "/data/key" });
    const made = await create(service);
    expect([made.at("/id"), made.at("/data/key")]).toEqual([undefined, service.rules().at(-1)?.ruleId]);
  });

  test("counts only what it did: not a refusal, nor a write that changes nothing", async () => {
    const service = await lying({ kind: "write-others" });
    await change(service, 1);
    expect((await remove(service, "none")).status).toBe(404);
    expect([kept(service), service.faults.injected]).toEqual([stored, []]);
  });
});
