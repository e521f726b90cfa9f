import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import type { FaultInput } from "../../../local/service/index.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { atEnd } from "../../support/ends.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, identifyBy } from "../../support/stack/contracts.ts";
import { type Declared, onBothEngines } from "../../support/stack/engines.ts";
import { isList, strangePage } from "../../support/stack/front.ts";
import { openHost, startHost } from "../../support/stack/hooks.ts";
import { failureOf, type Host, hooksHere, sessionOf } from "../../support/stack/hosts.ts";
import { wordIn } from "../../support/stack/model-stack.ts";
import { placed } from "../../support/stack/owners.ts";
import { openStack } from "../../support/stack/place.ts";
import { contractFileOf, serve } from "../../support/stack/service.ts";

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
  const { service } = served;
  const host = async (hooks?: "merchantRuleSet"): Promise<Host> => {
    return startHost(served.environment, hooks);
  };
  const definitions = { a: rule(1), b: rule(2), c: rule(3) };
  const [a, b, c] = Object.values(definitions).map((definition) => service.put(undefined, definition));
  const set = { rules: definitions, ruleIds: { a: a ?? "", b: b ?? "", c: c ?? "" } };
  const rules = Object.entries(definitions).map(([key, definition]) => {
    const id = set.ruleIds[key === "a" ? "a" : key === "b" ? "b" : "c"];
    return { id, outs: { definition, ruleId: id } };
  });
  // Each is a run of its own: a client that was refused sends nothing for a while.
  const run = (): { one: Host; many: Host } => ({
    one: hooksHere("merchantRule", sessionOf(served.environment)),
    many: hooksHere("merchantRuleSet", sessionOf(served.environment)),
  });
  return { service, environment: served.environment, host, run, rules, set };
}

const always = { times: "always" } as const;
type Refusal = Extract<FaultInput, { kind: "status" | "redirect" | "not-json" | "cut-body" | "close" }>;
/** `isDone`: the service does what it was asked to, and only its answer is broken. */
const refusals: [string, Refusal, RegExp, { isDone: boolean }][] = [
  ["401", { kind: "status", status: 401, ...always }, /UNAUTHENTICATED/, { isDone: false }],
  ["403", { kind: "status", status: 403, ...always }, /FORBIDDEN/, { isDone: false }],
  ["500", { kind: "status", status: 500, ...always }, /SERVICE_FAILED/, { isDone: false }],
  ["a redirect", { kind: "redirect", ...always }, /redirects are not followed/, { isDone: false }],
  ["a page of HTML", { kind: "not-json", ...always }, /RESPONSE_INVALID|FAILED/, { isDone: true }],
  ["half an answer", { kind: "cut-body", ...always }, /CONNECTION_FAILED/, { isDone: true }],
  ["a closed connection", { kind: "close", ...always }, /CONNECTION_FAILED/, { isDone: false }],
];

const emptyList: FaultInput = {
  kind: "other-shape",
  operations: ["list"],
  json: { rules: [], nextCursor: null },
  ...always,
};

describe.each(refusals)("%s never makes a rule gone", (_, fault, reason, { isDone }) => {
  const changed = { a: rule(1, { priority: 9 }), b: rule(2, { priority: 9 }) };

  test.each<[string, FaultInput[]]>([
    ["all fails", [fault]],
    ["the list fails", [{ ...fault, operations: ["list"] }]],
    ["the list is empty and each look fails", [emptyList, { ...fault, operations: ["get"] }]],
  ])("by a refresh, when %s", async (_when, faults) => {
    const { service, run, rules, set } = await open();
    for (const { id, outs } of rules) {
      service.faults.set(faults);
      await expect(run().one.read(id, outs)).rejects.toThrow(reason);
      expect(service.faults.injected.filter((hit) => hit.fault.kind === fault.kind)).toHaveLength(1);
    }
    await expect(run().many.read("set-1", set)).rejects.toThrow(reason);
    service.faults.clear();
    for (const { id, outs } of rules) expect((await run().one.read(id, outs)).id).toBe(id);
  });

  test("by an update or a delete, when all fails: nothing is written", async () => {
    const { service, run, rules, set } = await open();
    const before = service.rules();
    const [{ id, outs } = { id: "", outs: {} }] = rules;
    service.faults.set(fault);
    for (const write of [
      () => run().many.update("set-1", set, { rules: changed }),
      () => run().many.delete("set-1", set),
      () => run().one.update(id, outs, { definition: changed.a }),
      () => run().one.delete(id, outs),
    ]) {
      const failure = await failureOf(write());
      expect(failure.message).toMatch(reason);
      expect(failure.partial).toBe(undefined);
    }
    for (const { operation } of service.faults.injected) expect(["list", "get"]).toContain(operation);
    expect(service.faults.injected.length).toBeGreaterThanOrEqual(4);
    expect(service.rules()).toEqual(before);
  });

  test("by an update or a delete, when each write fails: what may be done is not taken for done unless it is seen", async () => {
    const { service, run, rules, set } = await open();
    const priorities = (): unknown[] => service.rules().map(({ rule: { priority } }) => priority);
    const [{ id, outs } = { id: "", outs: {} }] = rules;
    service.faults.set({ ...fault, operations: ["update", "delete"] });

    const { message, partial } = await failureOf(run().many.update("set-1", set, { rules: changed }));
    expect(message).toMatch(reason);
    expect(priorities()).toEqual(isDone ? [9, 9] : [1, 2, 3]);
    // A delete without an answer of the service is believed by a look alone. Where that shows the rule, the state has the doubt.
    const isDoubtful = isDone || fault.kind === "close" || (fault.kind === "status" && fault.status === 500);
    if (isDone) expect(Object.keys(Object(partial?.properties.ruleIds))).toEqual(["a", "b"]);
    else expect(Object.keys(Object(partial?.properties.doubtful))).toEqual(isDoubtful ? ["a", "b", "c"] : []);

    for (const write of [() => run().one.update(id, outs, { definition: changed.a }), () => run().one.delete(id, outs)])
      if (isDone) await write();
      else await expect(write()).rejects.toThrow(reason);
    expect(priorities()).toEqual(isDone ? [9] : [1, 2, 3]);

    service.faults.clear();
    expect((await run().one.read(id, outs)).id).toBe(isDone ? "" : id);
  });
});

/** The connection leads elsewhere than when the state was written. */
const before = { address: "https://rules.example" };

describe("a rule is gone only when the service itself says so", () => {
  test("an address where nobody knows of rules makes even a single rule no deletion", async () => {
    const elsewhere = createServer((_, response) => response.writeHead(404).end("<h1>Not Found</h1>"));
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    atEnd(() => void elsewhere.close());
    const address = elsewhere.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const wrong = await startHost({
      MERCHANT_RULES_BASE_URL: `http://127.0.0.1:${port}`,
      MERCHANT_RULES_TOKEN: "local-token",
    });
    const outs = placed({ definition: rule(1), ruleId: "1" }, before);
    await expect(wrong.read("1", outs)).rejects.toThrow(/no known rule is seen there/);
  });

  test("a delete or an update at a path that the service does not have is an error, not a success", async () => {
    const contract: ContractInput = {
      version: 1,
      operations: {
        delete: { path: "/api/v1/merchants/nowhere", identifyBy },
        update: { path: "/api/v1/merchants/rulez/{ruleId}" },
      },
    };
    const { service } = (await openHost()).served;
    const host = (): Promise<Host> =>
      startHost({
        MERCHANT_RULES_BASE_URL: service.url,
        MERCHANT_RULES_CONTRACT: contractFileOf(contract),
        MERCHANT_RULES_TOKEN: "local-token",
      });
    const { id, outs } = await (await host()).create({ definition: rule(1) });
    await expect((await host()).delete(id, outs)).rejects.toThrow(/operations\.delete/);
    await expect((await host()).update(id, outs, { definition: rule(1, { priority: 2 }) })).rejects.toThrow(
      /operations\.update/,
    );
    expect(service.rules()).toHaveLength(1);
  });

  test("a rule that is gone is gone, at the place of its row: a read says so, and an update makes it anew", async () => {
    const { host, served, another } = await openHost();
    const { id, outs } = await host.create({ definition: rule(1) });
    served.service.remove(id);
    expect(await (await another()).read(id, outs)).toEqual({ id: "", props: {}, inputs: {} });
    const { ruleId } = await (await another()).update(id, outs, { definition: rule(1, { priority: 2 }) });
    expect(served.service.rules()).toEqual([{ ruleId, rule: rule(1, { priority: 2 }) }]);
  });
});

describe("a list that is suddenly empty", () => {
  test("is believed by nobody: each rule is read by itself, and found", async () => {
    const { service, host, rules, set } = await open();
    service.faults.set(emptyList);
    const one = await host();
    for (const { id, outs } of rules) expect((await one.read(id, outs)).id).toBe(id);
    expect((await (await host("merchantRuleSet")).read("set-1", set)).props).toMatchObject(set);
    expect(service.requestCount("get")).toBe(6);
    expect(service.faults.injected).toHaveLength(2);
  });

  test("where the rules cannot be found either, is an error about the connection, unless it leads where it led", async () => {
    const { service, host, rules, set } = await open();
    service.faults.set([emptyList, { kind: "status", status: 404, operations: ["get"], ...always }]);
    const one = await host();
    const reads = await Promise.allSettled(rules.map(({ id, outs }) => one.read(id, placed(outs, before))));
    expect(reads.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    const many = await host("merchantRuleSet");
    await expect(many.read("set-1", placed(set, before))).rejects.toThrow(/no known rule is seen there/);
    expect((await (await host("merchantRuleSet")).read("set-1", set)).props.rules).toEqual({});
    expect(service.rules()).toHaveLength(3);
  });
});

describe("a connection that leads elsewhere, where none of the known rules is", () => {
  async function elsewhere() {
    const { service: right, host, rules, set } = await open();
    const other = await serve(contract);
    other.service.put(undefined, rule(900));
    const run = (environment = {}): Promise<Host> => startHost({ ...other.environment, ...environment });
    const placedRules = rules.map(({ id, outs }) => ({ id, outs: placed(outs, before) }));
    return { right, host, run, rules: placedRules, set: placed(set, before), service: other.service };
  }

  /** The refusal's word for one run. */
  const same = (text: string): Record<string, string> => wordIn({ text }, "SAME");

  test("deletes nothing: a destroy there fails, and the state keeps its rules", async () => {
    const { run, rules, set, service } = await elsewhere();
    const [wrong, reading] = [await run(), await run()];
    const asSet = wrong.as("merchantRuleSet");
    const deletes = [...rules.map(({ id, outs }) => wrong.delete(id, outs)), asSet.delete("set-1", set)];
    const reads = rules.map(({ id, outs }) => reading.read(id, outs));
    for (const { message } of await Promise.all([...deletes, ...reads].map(failureOf)))
      expect(message).toMatch(/no known rule is seen there .*MERCHANT_RULES_SAME=/s);
    expect(service.requestCount("delete")).toBe(0);
  });

  test("is not believed for a single rule either, until the user says for one run that it is the same merchant", async () => {
    const { run, rules, service } = await elsewhere();
    const [{ id, outs } = { id: "", outs: {} }] = rules;
    const wrong = await run();
    const { message } = await failureOf(wrong.read(id, outs));
    expect((await failureOf(wrong.delete(id, outs))).message).toContain("no known rule is seen there");
    expect((await (await run(same(message))).read(id, outs)).id).toBe("");
    await (await run(same(message))).delete(id, outs);
    expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  });

  test("never makes a rule gone by refusing the credentials", async () => {
    const { host } = await openHost(undefined, { MERCHANT_RULES_TOKEN: "wrong-token" });
    await expect(host.read("gone-1", { definition: rule(1), ruleId: "gone-1" })).rejects.toThrow(/UNAUTHENTICATED/);
    expect(host.stderr).not.toContain("wrong-token");
  });

  test("does not make a set forget those that it was to change", async () => {
    const { right, host, run, set, service } = await elsewhere();
    const changed = { a: rule(1, { priority: 9 }), b: rule(2, { priority: 9 }), c: rule(3) };
    const failure = await failureOf((await run()).as("merchantRuleSet").update("set-1", set, { rules: changed }));
    expect(failure.message).toContain("no known rule is seen there");
    // Nothing has changed, so the engine keeps the state that it has.
    expect(failure.partial).toBe(undefined);
    expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
    const { at: _, ...unplaced } = set;
    await (await host("merchantRuleSet")).update("set-1", unplaced, { rules: changed });
    expect(right.rules().map((each) => each.rule.priority)).toEqual([9, 9, 3]);
    expect(right.requestCount("create")).toBe(0);
  });
});

const single: Declared = { a: { definition: rule(1) }, b: { definition: rule(2) } };
const changedSingle: Declared = { a: { definition: rule(1, { priority: 7 }) }, b: { definition: rule(2) } };
const set: Declared = { all: { rules: { a: rule(1), b: rule(2) } } };
const changedSet: Declared = { all: { rules: { a: rule(1, { priority: 7 }), b: rule(2) } } };

onBothEngines((engine) => {
  test.each([
    ["rules", single, changedSingle],
    ["a set", set, changedSet],
  ])(
    "after all was deleted at the service, an up of %s makes anew what it changes, and an up --refresh all of it, once",
    async (_, declared, changed) => {
      const { place, stack } = await openStack(engine);
      await stack.up(declared);
      for (const { ruleId } of place.service.rules()) place.service.remove(ruleId);
      place.writes();
      await stack.up(changed);
      expect(place.writes()).toEqual(["create"]);
      await stack.succeeds("up", { refresh: true });
      expect(place.service.rules().map((each) => each.rule)).toEqual([rule(1, { priority: 7 }), rule(2)]);
      expect(place.writes()).toEqual(["create"]);
      await stack.isUnchanged();
      await stack.succeeds("destroy");
      expect(place.service.rules()).toEqual([]);
    },
  );
});

const impatient = contractOf({ limits: { maxAttempts: 2 } });
const [a, b] = [rule(1), rule(2)];

onBothEngines((engine) => {
  test("a delete that was answered 502 is not done because a proxy's page answers the GET 404, while the list, which does not lag, still shows the rule", async () => {
    const { place, stack } = await openStack(engine, { contract: impatient });
    await stack.up({ all: { rules: { a, b } } });
    place.front.behave((request, pass) => {
      if (request.method === "DELETE") return { status: 502, body: {} };
      return request.method === "GET" && !isList(request) ? strangePage : pass();
    });
    stack.declare({ all: { rules: { a } } });
    await stack.run("up");
    place.front.behave();
    await stack.succeeds("up");
    expect(place.names()).toEqual([a.name]);
  });

  test("a delete that was answered 502 is not done because every other request is answered 404 by a proxy's page", async () => {
    const { place, stack } = await openStack(engine, { contract: impatient });
    await stack.up({ all: { rules: { a, b } } });
    let isOut = false;
    place.front.behave(({ method }, pass) => {
      if (method === "DELETE") isOut = true;
      if (!isOut) return pass();
      return method === "DELETE" ? { status: 502, body: {} } : strangePage;
    });
    stack.declare({ all: { rules: { a } } });
    await stack.run("up");
    place.front.behave();
    await stack.succeeds("up");
    expect(place.names()).toEqual([a.name]);
  });
});

onBothEngines((engine) => {
  test("a write that is answered 200 with a body that says error was not done: exit 1, and the state is as before", async () => {
    const failing = contractOf({
      errors: { failure: [{ at: "/status", is: ["error"] }], notFound: [{ code: "GONE" }] },
    });
    const { place, stack } = await openStack(engine, { contract: failing });
    const declared = (priority: number): Declared => ({
      one: { definition: rule(1, { priority }) },
      many: { rules: { two: rule(2, { priority }), three: rule(3) } },
    });
    await stack.up(declared(1));
    const [known, before] = [stack.knownIds(), place.service.rules()];
    place.service.faults.set({ kind: "status", status: 200, operations: ["create", "update", "delete"], ...always });
    const said = /answered 200, and its body says that it failed \(errors\.failure\) \(code FAULT; a fault/;
    await stack.upFails(declared(2), {}, said);
    await stack.upFails({ ...declared(1), four: { definition: rule(4) } }, {}, said);
    await stack.upFails({}, {}, said);
    expect([stack.knownIds(), place.service.rules()]).toEqual([known, before]);
    place.service.faults.clear();
    await stack.succeeds("destroy");
    expect(place.service.rules()).toEqual([]);
  });
});
