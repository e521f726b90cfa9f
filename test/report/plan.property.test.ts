import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { differences } from "../../local/engine/deploy/property-diff.ts";
import { ruleType, setType } from "../../provider/host/types.ts";
import { planOf } from "../../report/plan/plan-report.ts";
import { readPreview } from "../../report/plan/preview.ts";
import { type ContractInput, defineContract } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { contractOf } from "../support/stack/contracts.ts";
import { EngineModel } from "../support/stack/engine-model.ts";
import { type Host, hooksHere, resource, sessionOf } from "../support/stack/hosts.ts";
import { type Served, serve } from "../support/stack/service.ts";

const runs = process.env.FUZZ_RUNS === undefined ? 10 : 60;

const contracts: [string, ContractInput][] = [
  ["with immutable fields and unordered arrays", contractOf({ rule: { immutable: ["/kind"], unordered: ["/tags"] } })],
  ["without an update", contractOf({ operations: { update: null } })],
  ["without a natural key", contractOf({ rule: { naturalKey: null, immutable: ["/kind"] } })],
  ["whose rules have marks", contractOf({ rule: { owner: { at: "/metadata/by" }, immutable: ["/kind"] } })],
];

const rest = fc.record(
  {
    priority: fc.nat(2),
    kind: fc.constantFrom("x", "y"),
    tags: fc.array(fc.constantFrom("s", "t"), { maxLength: 2 }),
    note: fc.constant(null),
  },
  { requiredKeys: ["priority"], noNullPrototype: true },
);

type Home = "one" | "two" | "single";
const home = fc.constantFrom<Home>("one", "one", "two", "single");

/** A rule's fate: most stay where they are, some come or go, few move to another resource. */
const fate = fc.record({
  rule: rest,
  changed: fc.option(rest, { freq: 1 }),
  at: home,
  becomes: fc.oneof(
    { weight: 12, arbitrary: fc.constant("stays" as const) },
    { weight: 2, arbitrary: fc.constantFrom("comes" as const, "goes" as const) },
    { weight: 1, arbitrary: home.map((to) => ({ to })) },
  ),
});
const keys = fc.shuffledSubarray(["a", "b", "c", "d", "e", "f"], { minLength: 6 });

/** Two programs, of six rules at most: each rule stands in one of two sets or in a resource of its own, or nowhere. */
const programs = fc
  .record({ fates: fc.array(fate, { minLength: 6, maxLength: 6 }), keys, renamed: fc.option(keys) })
  .map((drawn) => {
    const before = drawn.fates.map(({ rule, at, becomes }) => (becomes === "comes" ? undefined : { at, rule }));
    const after = drawn.fates.map(({ rule, changed, at, becomes }) => {
      if (becomes === "goes") return undefined;
      return { at: typeof becomes === "string" ? at : becomes.to, rule: changed ?? rule };
    });
    return { before: declaredBy(before, drawn.keys), after: declaredBy(after, drawn.renamed ?? drawn.keys) };
  });

function declaredBy(
  rules: readonly ({ readonly at: Home; readonly rule: JsonObject } | undefined)[],
  keysOf: readonly string[],
): Record<string, JsonObject> {
  const sets = new Map<string, JsonObject>();
  const declared: Record<string, JsonObject> = {};
  for (const [n, each] of rules.entries()) {
    if (each === undefined) continue;
    const definition = { name: `n${n}`, ...each.rule };
    if (each.at === "single") declared[`own-${n}`] = resource(`own-${n}`, { definition });
    else sets.set(each.at, { ...sets.get(each.at), [keysOf[n] ?? ""]: definition });
  }
  for (const [name, own] of sets) declared[name] = resource(name, { rules: own, allowEmpty: true });
  return declared;
}

/** The ids of the rules that are changed and deleted, the names of those that are made. */
interface Writes {
  readonly create: string[];
  readonly update: string[];
  readonly delete: string[];
}

describe.each(contracts)("under a contract %s", (_name, contract) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(contract);
  });

  test("the rules of a plan are those for which the next up sends requests", async () => {
    let carriedOut = 0;
    await fc.assert(
      fc.asyncProperty(programs, async ({ before, after }) => {
        const { service, environment } = served;
        for (const { ruleId } of service.rules()) service.remove(ruleId);
        const engine = new EngineModel({ connects: false });
        expect(await engine.up(hooksHere("merchantRule", sessionOf(environment)), before)).toEqual([]);
        const preview = await previewOf(engine, hooksHere("merchantRule", sessionOf(environment)), after);
        const { report, hasChanges } = planOf(readPreview(preview, "the preview"), () => defineContract(contract));
        const deployed = service.rules();
        service.resetRequests();
        const failures = await engine.up(hooksHere("merchantRule", sessionOf(environment)), after);
        const mayFail = report.warnings.some((warning) => /the run (?:will|may) refuse/.test(warning));
        if (!mayFail) expect(failures).toEqual([]);
        if (mayFail) return;
        carriedOut += 1;
        const expected: Writes = { create: [], update: [], delete: [] };
        for (const { change, key, resource: owner = "", ruleId = "" } of report.findings) {
          if (change === "create" || change === "replace") expected.create.push(nameIn(after, owner, key));
          if (change === "delete" || change === "replace") expected.delete.push(ruleId);
          if (change === "update") expected.update.push(ruleId);
        }
        const sent = writesTo(service, deployed);
        // Whether a rule that moves is found before its delete begins, or made again after it, is a matter of time.
        const moved = report.findings.filter(({ reason }) => reason?.startsWith("from ") === true);
        expect(without(sent, moved)).toEqual(without(expected, moved));
        expect(report.unchanged + report.findings.filter(isOfBefore).length).toBe(deployed.length);
        expect(hasChanges || sent.create.length + sent.update.length + sent.delete.length === 0).toBe(true);
        expect(new Set(service.rules().map(({ rule }) => rule.name)).size).toBe(service.rules().length);
      }),
      { numRuns: runs },
    );
    expect(carriedOut).toBeGreaterThan(runs / 4);
  });
});

/** The natural key of what a resource declares. */
function nameIn(declared: Record<string, JsonObject>, title: string, key: string | undefined): string {
  const { rules, definition } = declared[title.replace(/^\S+ /, "")] ?? {};
  return String(Object(key === undefined ? definition : Object(rules)[key]).name);
}

function isOfBefore({ change }: { change: string }): boolean {
  return change !== "create";
}

function without(writes: Writes, rules: readonly { name: string; ruleId?: string | undefined }[]): Writes {
  const ids = new Set(rules.map(({ ruleId }) => ruleId));
  const moved = new Set(rules.map(({ name }) => name));
  return {
    create: writes.create.filter((name) => !moved.has(name)).sort(),
    update: writes.update.filter((id) => !ids.has(id)).sort(),
    delete: writes.delete.filter((id) => !ids.has(id)).sort(),
  };
}

/** The effect of the requests since the last reset, rule by rule. */
function writesTo({ requests, rules }: Served["service"], deployed: readonly { readonly ruleId: string }[]): Writes {
  const known = new Set(deployed.map(({ ruleId }) => ruleId));
  const made = rules().filter(({ ruleId }) => !known.has(ruleId));
  const of = (operation: string) => requests.filter((request) => request.operation === operation);
  expect(of("create")).toHaveLength(made.length);
  return {
    create: made.map(({ rule }) => String(rule.name)),
    update: of("update").map(({ path }) => path.split("/").at(-1) ?? ""),
    delete: of("delete").map(({ query }) => query.ruleId ?? ""),
  };
}

/** A preview as the engine prints it. */
async function previewOf({ state }: EngineModel, host: Host, program: Record<string, JsonObject>): Promise<string> {
  const stateOf = (type: string, id: string, inputs: JsonObject, outputs: JsonObject) => ({
    type,
    id,
    inputs,
    outputs,
  });
  const steps = [];
  for (const [name, declared] of Object.entries(program)) {
    const old = state.find((kept) => kept.name === name);
    const hooks = host.as("rules" in declared ? "merchantRuleSet" : "merchantRule");
    const { inputs } = await hooks.check(declared, old?.inputs ?? {});
    const type = "rules" in inputs ? setType : ruleType;
    const urn = `urn:pulumi:prod::shop::${type}::${name}`;
    const newState = stateOf(type, old?.id ?? "", inputs, {});
    if (old === undefined) {
      steps.push({ op: "create", urn, newState });
      continue;
    }
    const { changes, replaces } = await hooks.diff(old.id, old.outputs, inputs);
    const isChanged = changes === "unknown" ? differences(old.inputs, inputs).length > 0 : changes === "some";
    const op = replaces.length > 0 ? "replace" : isChanged ? "update" : "same";
    steps.push({ op, urn, oldState: stateOf(type, old.id, old.inputs, old.outputs), newState });
  }
  for (const { name, id, inputs, outputs } of state) {
    if (name in program) continue;
    const type = "rules" in inputs ? setType : ruleType;
    steps.push({
      op: "delete",
      urn: `urn:pulumi:prod::shop::${type}::${name}`,
      oldState: stateOf(type, id, inputs, outputs),
    });
  }
  return JSON.stringify({ steps, changeSummary: {} });
}
