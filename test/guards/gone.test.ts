import { afterEach, describe, expect, test } from "vitest";
import type { FaultInput } from "../../local/service/index.ts";
import type { ContractInput } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/rules/index.ts";
import { rule, serve } from "../support/connections.ts";
import { ProviderHost } from "../support/provider-host.ts";

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

const path = "/api/v1/merchants/rules";
const contract: ContractInput = {
  version: 1,
  operations: {
    update: { path: `${path}/{ruleId}` },
    delete: { identifyBy: { in: "query" } },
    list: { path, items: "/rules", pagination: { type: "cursor", limit: "limit", next: "/nextCursor" } },
  },
  rule: { id: ["/id"], naturalKey: "/name" },
  limits: { maxAttempts: 1 },
};

/** Three rules at a service, and hosts that know of them by the state alone, as a later run does. */
async function open() {
  const served = await serve(contract);
  opened.push(served);
  const { service } = served;
  const host = async (hooks?: "merchantRuleSet"): Promise<ProviderHost> => {
    const started = await ProviderHost.start({}, served.environment, hooks);
    opened.push(started);
    return started;
  };
  const definitions = { a: rule(1), b: rule(2), c: rule(3) };
  const [a, b, c] = Object.values(definitions).map((definition) => service.put(undefined, definition));
  const set = { rules: definitions, ruleIds: { a: a ?? "", b: b ?? "", c: c ?? "" } };
  const rules = Object.entries(definitions).map(([key, definition]) => {
    const id = set.ruleIds[key === "a" ? "a" : key === "b" ? "b" : "c"];
    return { id, outs: { definition, ruleId: id } };
  });
  return { service, host, rules, set };
}

const always = { times: "always" } as const;
type Refusal = Extract<FaultInput, { kind: "status" | "redirect" | "not-json" | "cut-body" | "close" }>;
const refusals: [string, Refusal, RegExp][] = [
  ["401", { kind: "status", status: 401, ...always }, /UNAUTHENTICATED/],
  ["403", { kind: "status", status: 403, ...always }, /FORBIDDEN/],
  ["500", { kind: "status", status: 500, ...always }, /SERVICE_FAILED/],
  ["a redirect", { kind: "redirect", ...always }, /redirects are not followed/],
  ["a page of HTML", { kind: "not-json", ...always }, /RESPONSE_INVALID|FAILED/],
  ["half an answer", { kind: "cut-body", ...always }, /CONNECTION_FAILED/],
  ["a closed connection", { kind: "close", ...always }, /CONNECTION_FAILED/],
];

describe.each(refusals)("%s never makes a rule gone", (_, fault, reason) => {
  test("by a refresh, an update or a delete, of resources of their own or of a set", async () => {
    const { service, host, rules, set } = await open();
    const [one, many] = [await host(), await host("merchantRuleSet")];
    const [first] = rules;
    const { id = "", outs = {} } = first ?? {};

    for (const faults of [
      [fault],
      [{ ...fault, operations: ["list" as const] }],
      [emptyList, { ...fault, operations: ["get" as const] }],
    ]) {
      service.faults.set(faults);
      await expect(one.read(id, outs)).rejects.toThrow(reason);
      await expect(many.read("set-1", set)).rejects.toThrow(reason);
      expect(service.faults.injected.some((hit) => hit.fault.kind === fault.kind)).toBe(true);
    }

    service.faults.set(fault);
    const changed = { a: rule(1, { priority: 9 }), b: rule(2, { priority: 9 }) };
    const failure = await many.update("set-1", set, { rules: changed }).catch((error: unknown) => error);
    // A delete with a page for an answer is believed by a read alone, which here says that it is done.
    const isDone = fault.kind === "not-json";
    const left = Object.keys(Object(Object(failure).partial?.properties.ruleIds));
    expect(left).toEqual(isDone ? ["a", "b"] : ["a", "b", "c"]);
    await expect(one.update(id, outs, { definition: rule(1, { priority: 9 }) })).rejects.toThrow(reason);
    if (!isDone) {
      await expect(one.delete(id, outs)).rejects.toThrow(reason);
      // The answer alone is cut: what was asked for is done.
      if (fault.kind === "cut-body") service.put(id, rule(1));
      else await expect(many.delete("set-1", set)).rejects.toThrow(reason);
      expect(service.rules().length).toBeGreaterThanOrEqual(fault.kind === "cut-body" ? 2 : 3);
    }

    service.faults.clear();
    expect((await one.read(id, outs)).id).toBe(id);
  });
});

const emptyList: FaultInput = {
  kind: "other-shape",
  operations: ["list"],
  json: { rules: [], nextCursor: null },
  ...always,
};

describe("a list that is suddenly empty", () => {
  test("is believed by nobody: each rule is read by itself, and found", async () => {
    const { service, host, rules, set } = await open();
    service.faults.set(emptyList);
    const one = await host();
    for (const { id, outs } of rules) expect((await one.read(id, outs)).id).toBe(id);
    expect((await (await host("merchantRuleSet")).read("set-1", set)).props).toEqual(set);
    expect(service.requestCount("get")).toBe(6);
    expect(service.faults.injected).toHaveLength(2);
  });

  test("where the rules cannot be found either, is an error about the connection", async () => {
    const { service, host, rules, set } = await open();
    service.faults.set([emptyList, { kind: "status", status: 404, operations: ["get"], ...always }]);
    const one = await host();
    const reads = await Promise.allSettled(rules.map(({ id, outs }) => one.read(id, outs)));
    expect(reads.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    await expect((await host("merchantRuleSet")).read("set-1", set)).rejects.toThrow(/none of the 3 rules/);
    expect(service.rules()).toHaveLength(3);
  });
});

describe("a connection that shows none of the declared rules", () => {
  test("a delete that finds nothing there counts as done, and says that the rule may be in force elsewhere", async () => {
    const { rules } = await open();
    const elsewhere = await serve(contract);
    opened.push(elsewhere);
    elsewhere.service.put(undefined, rule(900));
    const wrong = await ProviderHost.start({}, elsewhere.environment);
    opened.push(wrong);
    await Promise.all(rules.map(({ id, outs }) => wrong.delete(id, outs)));
    for (const { id } of rules) expect(wrong.stderr).toContain(`rule ${id} was not there and counts as deleted`);
    expect(elsewhere.service.rules()).toHaveLength(1);
  });

  test("does not make a set forget those that it was to change", async () => {
    const { host, service, set } = await open();
    const elsewhere = await serve(contract);
    opened.push(elsewhere);
    const wrong = await ProviderHost.start({}, elsewhere.environment, "merchantRuleSet");
    opened.push(wrong);
    const changed = { a: rule(1, { priority: 9 }), b: rule(2, { priority: 9 }), c: rule(3) };
    const failure = await wrong.update("set-1", set, { rules: changed }).catch((error: unknown) => error);
    expect(String(failure)).toMatch(/none of the 2 rules .* can be seen over connection/);
    const left: JsonObject = Object(failure).partial.properties;
    expect(left.ruleIds).toEqual(set.ruleIds);
    await (await host("merchantRuleSet")).update("set-1", left, { rules: changed });
    expect(service.rules().map((each) => each.rule.priority)).toEqual([9, 9, 3]);
    expect(service.requestCount("create")).toBe(0);
  });
});
