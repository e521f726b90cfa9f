import { describe, expect, test } from "vitest";
import { type FaultInput, localCredentials } from "../../local/service/index.ts";
import { ruleType, setType } from "../../provider/host/types.ts";
import { type Drift, type DriftOptions, readStateDrift } from "../../report/drift/drift.ts";
import type { StateResource } from "../../report/state/state-resource.ts";
import type { ContractInput } from "../../sdk/contract/index.ts";
import { blindMask, type JsonObject, type Path, pathOf, pointerOf } from "../../sdk/json/index.ts";
import { many, marking, rule } from "../support/rules.ts";
import { contractOf, list, merchants } from "../support/stack/contracts.ts";
import { openWorld } from "../support/stack/hooks.ts";
import { markBy, ownerIdOf, sessionOf } from "../support/stack/hosts.ts";
import { filledOutputs } from "../support/stack/owners.ts";
import { serve } from "../support/stack/service.ts";
import { applied, stateOf, withSecretsAt } from "../support/stack/states.ts";

/** A service whose rules were made by resources, and the state that knows them. */
async function made(declared: Record<string, JsonObject>, contract?: ContractInput) {
  const served = await serve(contract);
  const state = await applied(sessionOf(served.environment), declared);
  served.service.resetRequests();
  return {
    ...served,
    state,
    drift(of: readonly StateResource[] = state, options?: DriftOptions) {
      const session = sessionOf(served.environment);
      const placed = of.map((each) => ({ ...each, outputs: filledOutputs(each.outputs, session) }));
      return readStateDrift(placed, session, options);
    },
  };
}

/** Each rule with its paths, as a report shows them. */
function seen({ changed, missing, unmanaged }: Drift) {
  return {
    changed: changed.map(({ naturalKey, differences }) => [naturalKey, ...differences.map(({ path }) => pathOf(path))]),
    missing: missing.map(({ naturalKey }) => naturalKey),
    unmanaged: unmanaged.map(({ naturalKey }) => naturalKey),
  };
}

const none = { changed: [], missing: [], unmanaged: [] };
const some = { all: { rules: { a: rule(1), b: rule(2), c: rule(3) } }, one: { definition: rule(4) } };

describe("drift of a state", () => {
  test("is none where the rules are as declared, and what the service adds is no drift", async () => {
    const { edit, drift } = await made(some);
    edit("rule-1", { addedByOthers: true });
    const found = await drift();
    expect(seen(found)).toEqual(none);
    expect(found).toMatchObject({ rules: 4, withoutList: [], unreadable: 0, unfinished: [], stillInForce: [] });
  });

  test("is told of rules that are texts as of objects, and no option can ignore a path inside a text", async () => {
    const texts = {
      all: { rules: { a: JSON.stringify(rule(1)), b: JSON.stringify(rule(2), null, 1) } },
      one: { definition: JSON.stringify(rule(4)) },
    };
    const { state, edit, drift } = await made(texts);
    expect(seen(await drift())).toEqual(none);
    for (const name of ["rule-1", "rule-4"]) edit(name, { priority: 99 });
    const changed = [
      ["rule-1", "priority"],
      ["rule-4", "priority"],
    ];
    expect(seen(await drift())).toEqual({ ...none, changed });
    const ignoring = (pattern: string) => drift(state.map((each) => ({ ...each, ignoreChanges: [pattern] })));
    expect(seen(await ignoring("/rules/a/priority")).changed).toEqual(changed);
    expect(seen(await ignoring("/rules/a")).changed).toEqual(changed.slice(1));
    expect(seen(await ignoring("/definition/priority")).changed).toEqual(changed);
  });

  test("passes over what the program ignores: a path of one rule, of every rule, or all below a path", async () => {
    const { state, edit, drift } = await made(some);
    for (const name of ["rule-1", "rule-2", "rule-4"]) edit(name, { priority: 99, conditions: [] });
    const ignoring = (...paths: Path[]) =>
      drift(state.map((each) => ({ ...each, ignoreChanges: paths.map(pointerOf) })));
    const rest = (found: Drift) => seen(found).changed;
    expect(rest(await ignoring(["rules", "a", "priority"], ["definition", "conditions"]))).toEqual([
      ["rule-1", "conditions[0]"],
      ["rule-2", "priority", "conditions[0]"],
      ["rule-4", "priority"],
    ]);
    expect(rest(await ignoring(["rules", "*", "priority"], ["definition"]))).toEqual([
      ["rule-1", "conditions[0]"],
      ["rule-2", "conditions[0]"],
    ]);
    expect(rest(await ignoring(["rules"], ["definition", "*"]))).toEqual([]);
  });

  test("names what changed by path with both values, what is missing, and what nobody declares", async () => {
    const { service, state, edit, idOf, drift } = await made(some);
    edit("rule-2", { priority: 99, conditions: [] });
    const gone = idOf("rule-3");
    service.remove(gone);
    service.remove(idOf("rule-4"));
    const other = service.put(undefined, { name: "by-hand" });
    const { changed, missing, unmanaged } = await drift();
    expect(changed).toMatchObject([
      {
        naturalKey: "rule-2",
        key: "b",
        ruleId: idOf("rule-2"),
        resource: "MerchantRuleSet all",
        connection: "default",
        differences: [
          { path: ["priority"], before: 2, after: 99 },
          { path: ["conditions", 0], before: { field: "amount", operator: "gt", value: 20 } },
        ],
      },
    ]);
    expect(changed[0]).toMatchObject({ declared: rule(2), live: rule(2, { priority: 99, conditions: [] }) });
    expect(missing).toMatchObject([
      { naturalKey: "rule-3", key: "c", ruleId: gone, resource: "MerchantRuleSet all", declared: rule(3) },
      { naturalKey: "rule-4", key: undefined, ruleId: state[1]?.id, resource: "MerchantRule one" },
    ]);
    const named = { naturalKey: "by-hand", ruleId: other, connection: "default", owner: undefined };
    expect(unmanaged).toEqual([{ ...named, isAnothers: false, isLeftOver: false, live: { name: "by-hand" } }]);
  });

  test("takes one pass over the list, and a look at each rule that is not in it", async () => {
    const rules = many(25);
    const contract = contractOf({
      operations: { list: { ...list, pagination: { type: "cursor", limit: "limit", next: "/nextCursor" } } },
      limits: { pageSize: 10 },
    });
    const { service, idOf, drift } = await made({ all: { rules }, one: { definition: rule(100) } }, contract);
    await drift();
    expect(service.requests.map(({ operation }) => operation)).toEqual(["list", "list", "list"]);
    service.remove(idOf("rule-3"));
    service.remove(idOf("rule-7"));
    service.resetRequests();
    expect((await drift()).missing).toHaveLength(2);
    expect([service.requestCount("list"), service.requestCount("get"), service.requestCount()]).toEqual([3, 2, 5]);
  });

  test("is found without a list by one GET a rule, and says that others cannot be told", async () => {
    const { service, edit, idOf, drift } = await made(some, contractOf({ operations: { list: null } }));
    edit("rule-2", { priority: 9 });
    service.put(undefined, { name: "by-hand" });
    const found = await drift();
    expect(seen(found)).toEqual({ ...none, changed: [["rule-2", "priority"]] });
    expect(found.withoutList).toEqual(["default"]);
    expect(service.requests.map(({ operation }) => operation)).toEqual(["get", "get", "get", "get"]);
    service.remove(idOf("rule-3"));
    expect(seen(await drift()).missing).toEqual(["rule-3"]);
  });

  test("leaves out dead rules and the service's own, and says whose an unmanaged rule is", async () => {
    const spoken: ContractInput = {
      ...marking,
      rule: {
        ...marking.rule,
        gone: [{ at: "/status", is: ["deleted"] }],
        foreign: [{ at: "/managed", is: [true] }],
      },
    };
    const { service, state, edit, drift } = await made(
      { all: { rules: { a: rule(1), b: rule(2), c: rule(3) } } },
      spoken,
    );
    service.put(undefined, rule(7, { managed: true }));
    service.put(undefined, rule(8, { status: "deleted" }));
    service.put(undefined, rule(9, { metadata: { managedBy: markBy("shop/test/limits", "nine") } }));
    edit("rule-1", { status: "deleted" });
    const found = await drift();
    expect(seen(found)).toEqual({ changed: [], missing: ["rule-1"], unmanaged: ["rule-9"] });
    expect(found.unmanaged[0]?.owner).toBe("shop/test/limits");
    edit("rule-2", { priority: 5, metadata: { managedBy: markBy("other/prod/all", "b") } });
    const { changed, notOurs } = await drift(state);
    expect(changed).toMatchObject([
      { naturalKey: "rule-2", owner: "other/prod/all", isNotOurs: true, differences: [{ path: ["priority"] }] },
    ]);
    expect(notOurs).toMatchObject([
      { rule: { naturalKey: "rule-2" }, why: 'is managed by "other/prod/all" now, as its mark says' },
    ]);
  });

  test("calls a rule with this stack's mark left over only where no row of the whole state has its id", async () => {
    const { service, state, drift, edit, markOf, putMarked } = await made(some, marking);
    const own = ownerIdOf("shop/prod");
    const of = ({ unmanaged }: Drift) =>
      unmanaged.map(({ naturalKey, isAnothers, isLeftOver }) => [naturalKey, isAnothers, isLeftOver]);
    putMarked(rule(7), markBy("shop/prod/all", "old"));
    // A copy of a rule that is there still, its mark included.
    putMarked(rule(8), markOf("rule-1"));
    expect(of(await drift())).toEqual([
      ["rule-7", false, true],
      ["rule-8", false, false],
    ]);
    // A killed first run left its Owner, and no row.
    expect(of(await drift([], { ownerIds: [own] }))).toContainEqual(["rule-2", false, true]);
    expect(of(await drift([]))).toContainEqual(["rule-2", true, false]);
    // Restored under a new id, it is the one that the state knows.
    const { ruleId, rule: live } = service.rules().find((each) => each.rule.name === "rule-2") ?? {};
    service.remove(ruleId ?? "");
    service.put(undefined, live ?? {});
    edit("rule-3", { priority: 9 });
    const found = await drift(state);
    expect(of(found).map(([name]) => name)).toEqual(["rule-7", "rule-8"]);
    expect(seen(found)).toMatchObject({ changed: [["rule-3", "priority"]], missing: [] });
  });

  test("says which rules that the next run deletes are still in force, and does not call them unmanaged", async () => {
    const { service, state, edit, drift } = await made(some);
    edit("rule-4", { priority: 77 });
    const [all, one] = state;
    if (all === undefined || one === undefined) throw new Error("two resources were made");
    const found = await drift([all, { ...one, isLeaving: true }]);
    expect(seen(found)).toEqual(none);
    expect(found).toMatchObject({
      rules: 3,
      stillInForce: [{ naturalKey: "rule-4", ruleId: one.id, resource: expect.stringContaining("MerchantRule ") }],
    });
    // One that another resource has by now is not deleted, and one that is gone is not in force.
    expect(await drift([...state, { ...one, isLeaving: true }])).toMatchObject({ rules: 4, stillInForce: [] });
    service.remove(one.id);
    expect(await drift([all, { ...one, isLeaving: true }])).toMatchObject({ rules: 3, stillInForce: [], missing: [] });
    service.put(one.id, rule(4));
    // Resources of other kinds hold no rules.
    expect(await drift([...state.slice(0, 1), { ...one, type: "aws:s3/bucket:Bucket" }])).toMatchObject({ rules: 3 });
    expect(service.rules()).toHaveLength(4);
  });

  test("holds what the last run could not do: rules never made are missing, those left over are still in force", async () => {
    const { service, state, drift } = await made({ all: { rules: { a: rule(1), b: rule(2), old: rule(3) } } });
    const [all] = state;
    if (all === undefined) throw new Error("a set was made");
    const declared = { rules: { a: rule(1, { priority: 50 }), b: rule(2), next: rule(9) } };
    const sealed = {
      ...all,
      inputs: { ...all.inputs, ...declared },
      outputs: { ...all.outputs, sealed: ["a"] },
    };
    const found = await drift([sealed]);
    expect(found.missing).toMatchObject([{ naturalKey: "rule-9", key: "next", ruleId: undefined }]);
    expect(found.changed).toMatchObject([{ key: "a", differences: [{ path: ["priority"], isSecret: true }] }]);
    expect(found).toMatchObject({
      rules: 3,
      stillInForce: [{ key: "old" }],
      unfinished: ["MerchantRuleSet all"],
      unmanaged: [],
    });
    expect(service.rules()).toHaveLength(3);
  });
});

describe("whether a rule is gone", () => {
  const always = { times: "always" } as const;
  test.each<[string, FaultInput, RegExp]>([
    ["401", { kind: "status", status: 401, ...always }, /UNAUTHENTICATED/],
    ["500", { kind: "status", status: 500, ...always }, /SERVICE_FAILED/],
    ["half a list", { kind: "cut-body", how: "json", operations: ["list"], ...always }, /RESPONSE_INVALID|FAILED/],
  ])("cannot be told by %s: that is an error, never drift", async (_what, fault, reason) => {
    const { service, drift } = await made(some, { ...contractOf(), limits: { maxAttempts: 1 } });
    service.faults.set(fault);
    await expect(drift()).rejects.toThrow(reason);
  });

  test("cannot be told at another service: none of the rules is called missing", async () => {
    const { state } = await made(some);
    const other = await serve();
    other.service.put(undefined, rule(900));
    await expect(readStateDrift(state, sessionOf(other.environment))).rejects.toThrow(
      /nothing shows that connection "default" \(http:.*\) is the merchant of this stack's rules:.*What to do:/s,
    );
  });
});

describe("with a key of its own, under short ids and without marks", () => {
  test("drift tells what is whole, and says of the rest that it cannot be told, with the word that helps", async () => {
    const { environment, edit, idOf, service } = await openWorld({ contract: "illustrative", ruleIds: "sequential" });
    const state = await applied(sessionOf(environment), { all: { rules: many(5) } });
    const { MERCHANT_RULES_TOKEN: _, ...others } = environment;
    const { clientId, clientSecret } = localCredentials;
    const reading = { ...others, MERCHANT_RULES_CLIENT_ID: clientId, MERCHANT_RULES_CLIENT_SECRET: clientSecret };
    const drift = (words: Record<string, string> = {}) => readStateDrift(state, sessionOf({ ...reading, ...words }));
    expect(seen(await drift())).toEqual(none);
    edit("rule-2", { priority: 9 });
    const refusal = new RegExp(
      `read rule r2 failed: rule ${idOf("rule-2")} is not as the state knows it.* credentials .*are others than before.*(MERCHANT_RULES_SAME)=(\\w{4})`,
    );
    const refused = await drift().catch(String);
    expect(refused).toMatch(refusal);
    const [, name = "", id = ""] = refusal.exec(String(refused)) ?? [];
    expect(seen(await drift({ [name]: id }))).toEqual({ ...none, changed: [["rule-2", "priority"]] });
    service.remove(idOf("rule-3"));
    await expect(drift()).rejects.toThrow(/is not there|is not as the state knows it/);
    expect(seen(await drift({ [name]: id })).missing).toEqual(["rule-3"]);
  });
});

describe("several connections", () => {
  test("are each looked through, and their findings say over which", async () => {
    const near = await openWorld({ merchants, ruleIds: "sequential" });
    const sandbox = {
      MERCHANT_RULES_SANDBOX__BASE_URL: near.service.url,
      MERCHANT_RULES_SANDBOX__TOKEN: "token-globex",
    };
    const environment = { ...near.environment, ...sandbox };
    const state = await applied(sessionOf(environment), {
      one: { rules: { a: rule(1), b: rule(2) } },
      two: { rules: { a: rule(1), b: rule(2) }, connection: "sandbox" },
    });
    const globex = near.service.of("globex");
    // Both merchants have rules 1 and 2.
    globex.put("2", rule(2, { priority: 9 }));
    globex.put(undefined, { name: "by-hand" });
    const found = await readStateDrift(state, sessionOf(environment));
    expect(found.changed).toMatchObject([{ naturalKey: "rule-2", connection: "sandbox" }]);
    expect(found.missing).toEqual([]);
    expect(found.unmanaged).toMatchObject([{ naturalKey: "by-hand", connection: "sandbox" }]);
  });

  test("with credentials of their own may be one merchant: each rule is reported once, and a managed one never", async () => {
    const { service, environment: own } = await made({});
    const environment = {
      ...own,
      MERCHANT_RULES_OTHER__BASE_URL: service.url,
      MERCHANT_RULES_OTHER__CLIENT_ID: localCredentials.clientId,
      MERCHANT_RULES_OTHER__CLIENT_SECRET: localCredentials.clientSecret,
    };
    const state = await applied(sessionOf(environment), {
      one: { rules: { a: rule(1) } },
      two: { rules: { b: rule(2) }, connection: "other" },
    });
    service.put(undefined, { name: "by-hand" });
    const found = await readStateDrift(state, sessionOf(environment));
    expect(seen(found)).toEqual({ ...none, unmanaged: ["by-hand"] });
  });

  test("of which the stack uses none: the default one is looked through", async () => {
    const { service, environment } = await made({});
    service.put(undefined, { name: "by-hand" });
    expect(seen(await readStateDrift([], sessionOf(environment))).unmanaged).toEqual(["by-hand"]);
    await expect(readStateDrift([], sessionOf({}))).rejects.toThrow(/connection "default" lacks/);
    expect(await readStateDrift([], sessionOf({}), { looksForUnmanaged: false })).toMatchObject({ rules: 0 });
  });
});

describe("secrets", () => {
  const definition = rule(1, {
    vault: { pin: "hush-1" },
    hook: { url: "https://a.test", key: "hush-2" },
    tags: ["hush-3"],
  });
  const live = {
    vault: { pin: "loud-1" },
    hook: { url: "https://b.test", key: "loud-2" },
    tags: ["loud-3"],
    priority: 7,
  };
  const spoken: ContractInput = contractOf({ rule: { secret: ["/vault/*"] } });
  const anotherSecret = { before: blindMask, after: blindMask, isSecret: true };

  function known(id: string, wrap: (definition: JsonObject) => JsonObject, outputs: JsonObject = {}): StateResource {
    const fields = wrap({ definition });
    return stateOf("one", ruleType, id, fields, { ...fields, ruleId: id, ...outputs });
  }

  test("are compared, and their values are nowhere in what is found", async () => {
    const { service, drift } = await made({}, spoken);
    const id = service.put(undefined, { ...definition, ...live });
    const found = await drift([
      known(id, (all) => withSecretsAt(all, ["definition", "hook", "key"], ["definition", "tags"])),
    ]);
    expect(found.changed[0]?.differences).toEqual([
      { path: ["priority"], before: 1, after: 7 },
      { path: ["vault", "pin"], ...anotherSecret },
      { path: ["hook", "url"], before: "https://a.test", after: "https://b.test" },
      { path: ["hook", "key"], ...anotherSecret },
      { path: ["tags", 0], ...anotherSecret },
    ]);
    expect(JSON.stringify(found)).not.toMatch(/hush|loud/);
  });

  test("hide what lies around them, where all of it is gone", async () => {
    const { service, drift } = await made({}, spoken);
    const { hook: _, vault: __, ...rest } = definition;
    const id = service.put(undefined, rest);
    const found = await drift([known(id, (all) => withSecretsAt(all, ["definition", "hook", "key"]))]);
    expect(found.changed[0]?.differences).toEqual([
      { path: ["vault"], before: blindMask, isSecret: true },
      { path: ["hook"], before: blindMask, isSecret: true },
    ]);
  });

  test("that nothing can decrypt are left out and counted; the rest is compared", async () => {
    const { service, drift } = await made({}, spoken);
    const id = service.put(undefined, { ...definition, ...live });
    const unreadable = (all: JsonObject): JsonObject => {
      const marked = withSecretsAt(
        all,
        ["definition", "vault", "pin"],
        ["definition", "hook", "key"],
        ["definition", "tags"],
      );
      return JSON.parse(
        JSON.stringify(marked).replace(/"value":("hush[^"]*"|\["hush[^\]]*\])/g, `"value":"${unknown}"`),
      );
    };
    const found = await drift([known(id, unreadable)]);
    expect(found.unreadable).toBe(3);
    expect(found.changed[0]?.differences.map(({ path }) => pathOf(path))).toEqual(["priority", "hook.url"]);
    // One that is secret as a whole is there or not, and no more can be told.
    const whole = await drift([known(id, () => withSecretsAt({ definition: unknown }, ["definition"]))]);
    expect(whole).toMatchObject({ rules: 1, changed: [], missing: [], unreadable: 1 });
    service.remove(id);
    expect((await drift([known(id, unreadable)])).missing).toMatchObject([{ ruleId: id, naturalKey: "rule-1" }]);
  });

  test("in a field that is called * say nothing of other fields", async () => {
    const { service, drift } = await made({}, spoken);
    const odd = { ...definition, "*": "hush-4" };
    const id = service.put(undefined, { ...odd, priority: 7 });
    const sealed = withSecretsAt({ "*": unknown }, ["*"]);
    const found = await drift([known(id, () => ({ definition: { ...odd, ...sealed } }))]);
    expect(found.changed[0]?.differences.map(({ path }) => pathOf(path))).toEqual(["priority"]);
  });

  test("in place of ids are an error, which says how to have them", async () => {
    const { drift } = await made({});
    const outputs = { rules: {}, ruleIds: withSecretsAt({ a: unknown }, ["a"]) };
    const set = stateOf("all", setType, "set-1", { rules: {} }, outputs);
    await expect(drift([set])).rejects.toThrow(
      /read MerchantRuleSet all in the state failed: .*ruleIds.*--show-secrets/,
    );
  });
});

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
