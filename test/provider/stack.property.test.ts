import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FaultInput, LocalService } from "../../local/service/index.ts";
import { type ContractInput, loadPreset } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { EngineModel } from "../support/stack/engine-model.ts";
import { type Host, hooksHere, markBy, sessionOf } from "../support/stack/hosts.ts";
import { serve } from "../support/stack/service.ts";

const preset = loadPreset("illustrative");
const { schema: _, ...rule } = preset.rule;
const base: ContractInput = {
  ...preset,
  idempotency: null,
  rule: { ...rule, owner: { at: "/metadata/managedBy" } },
  limits: { maxAttempts: 2, concurrency: 4, pageSize: 3 },
};
const list = { ...base.operations?.list, path: "/api/v1/merchants/rules", items: "/rules", lagMs: 0 };
const contracts: [string, ContractInput][] = [
  ["with a list and natural keys", { ...base, operations: { ...base.operations, list } }],
  [
    "without natural keys",
    { ...base, operations: { ...base.operations, list }, rule: { ...base.rule, naturalKey: null } },
  ],
  ["without an update", { ...base, operations: { ...base.operations, list, update: null } }],
];

const names = ["n1", "n2", "n3", "n4", "n5"];
/** Where a rule may be declared: nowhere, in a set, or as a resource of its own. */
const homes = ["nowhere", "A", "B", "one", "two"] as const;

/** A program: each rule at home in one resource, which holds at most one where it is a single rule. */
const program: fc.Arbitrary<Record<string, JsonObject>> = fc
  .array(fc.record({ home: fc.constantFrom(...homes), priority: fc.nat(1) }), {
    minLength: names.length,
    maxLength: names.length,
  })
  .map((drawn) => {
    const declared: Record<string, JsonObject> = {};
    for (const [n, { home, priority }] of drawn.entries()) {
      const definition = { name: names[n] ?? "", priority };
      if (home === "one" || home === "two") declared[home] = { definition };
      else if (home !== "nowhere") {
        const { rules } = declared[home] ?? {};
        declared[home] = { rules: { ...Object(rules), [names[n] ?? ""]: definition }, allowEmpty: true };
      }
    }
    return Object.fromEntries(
      Object.entries(declared).map(([name, inputs]) => [name, { ...inputs, __owner: { [`shop/test/${name}`]: null } }]),
    );
  });

const fates: readonly (FaultInput | null)[] = [
  null,
  null,
  { kind: "close" },
  { kind: "close", at: "after" },
  { kind: "status", status: 503 },
  { kind: "status", status: 500, at: "after" },
  { kind: "cut-body", how: "json" },
  { kind: "without-id" },
];

/** One run: its program, and the faults by the number of the request. Without any, it goes well. */
const run = fc.record({
  program,
  faults: fc
    .array(fc.constantFrom(...fates), { maxLength: 16 })
    .map((drawn) => drawn.flatMap((fate, index) => (fate === null ? [] : [{ ...fate, request: index + 1 }]))),
  refreshes: fc.boolean(),
});

const numRuns = Number(process.env.FUZZ_RUNS ?? 6);

describe.each(contracts)("a stack whose rules move between resources, by a contract %s", (_name, contract) => {
  test("is as declared after a few runs that do what is advised; others' rules are never touched", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 4 }), async (runs) => {
        const served = await serve(contract, { allowDuplicates: true });
        try {
          await holds(served, runs);
        } finally {
          await served.close();
        }
      }),
      { numRuns, endOnFailure: true },
    );
  });
});

type Run = typeof run extends fc.Arbitrary<infer T> ? T : never;

async function holds({ service, environment }: Awaited<ReturnType<typeof serve>>, runs: readonly Run[]): Promise<void> {
  // A rule of another stack of the same names, another's, and nobody's, none of which has a declared natural key.
  const others = [
    { name: "other-1", metadata: { managedBy: markBy("shop/prod/A", "n1") } },
    { name: "other-2", priority: 1 },
  ];
  for (const each of others) service.put(undefined, each);
  const engine = new EngineModel();
  const hooks = (answers: Record<string, string> = {}): Host =>
    hooksHere("merchantRule", sessionOf({ ...environment, ...answers }));
  let doubtful = 0;
  for (const { program: declared, faults, refreshes } of runs) {
    service.faults.set(faults);
    if (refreshes) await engine.refresh(hooks());
    const failures = await engine.up(hooks(), declared);
    doubtful += failures.join().split("the rule may exist").length - 1;
    service.faults.clear();
  }
  const declared = runs.at(-1)?.program ?? {};
  await settle(engine, hooks, declared, service);
  const live = service
    .rules()
    .map(({ ruleId, rule: { metadata, ...definition } }) => ({ ruleId, metadata, definition }));
  const kept = new Set(engine.state.flatMap(({ id, outputs: { ruleIds } }) => Object.values(ruleIds ?? { id })));
  const own = live.filter(({ ruleId }) => kept.has(ruleId));
  const expected = Object.values(declared).flatMap(({ definition, rules }) =>
    rules === undefined ? [definition] : Object.values(Object(rules)),
  );
  const byName = (all: unknown[]): unknown[] => all.toSorted((a, b) => (Object(a).name < Object(b).name ? -1 : 1));
  expect(byName(own.map(({ definition }) => definition))).toEqual(byName(expected));
  // A rule that a failed run may have made, and said so, stays where the program does not declare it any more.
  const left = live.filter(({ ruleId, definition }) => !kept.has(ruleId) && names.includes(String(definition.name)));
  expect(left.length).toBeLessThanOrEqual(doubtful);
  const isOther = ({ rule: { name } }: { rule: JsonObject }): boolean => String(name).startsWith("other");
  const othersNow = (): JsonObject[] =>
    service
      .rules()
      .filter(isOther)
      .map(({ rule }) => rule);
  expect(othersNow()).toEqual(others);
  // What the state says of each rule is so.
  for (const { id, outputs } of engine.state) {
    const known = outputs.ruleIds === undefined ? { "": id } : Object(outputs.ruleIds);
    for (const [key, ruleId] of Object.entries(known)) {
      const definition = key === "" ? outputs.definition : Object(outputs.rules)[key];
      expect(live.find((each) => each.ruleId === ruleId)?.definition).toEqual(definition);
    }
  }
  service.resetRequests();
  expect(await engine.up(hooks(), declared)).toEqual([]);
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  const known = () => structuredClone(engine.state.map(({ name, id, outputs }) => ({ name, id, outputs })));
  const before = known();
  expect(await engine.refresh(hooks())).toEqual([]);
  expect(known()).toEqual(before);
  // And all of it goes away.
  for (let n = 0; n < 3; n += 1) if ((await engine.up(hooks(), {})).length === 0) break;
  expect(service.rules()).toHaveLength(others.length + left.length);
  expect(othersNow()).toEqual(others);
}

/** Runs until nothing fails; each run does what the failures of the one before advise. */
async function settle(
  engine: EngineModel,
  hooks: (answers: Record<string, string>) => Host,
  program: Record<string, JsonObject>,
  service: LocalService,
): Promise<void> {
  let declared = program;
  const answers: Record<string, string> = {};
  const said: string[] = [];
  for (let n = 1; n <= 6; n += 1) {
    const failures = await engine.up(hooks(answers), declared);
    if (failures.length === 0 && declared === program) return;
    // What was taken over as it is, or by its id, is in the state, or has gone meanwhile: the program has its say again.
    if (failures.length === 0 || failures.join().includes("remove adopt, and")) declared = program;
    said.push(`run ${n}: ${failures.join("\n")}`);
    for (const failure of failures) {
      const [, recover] = /MERCHANT_RULES_RECOVER=(\w+)/.exec(failure) ?? [];
      if (recover !== undefined) answers.MERCHANT_RULES_RECOVER = recover;
      // What a lost create left under the mark of a resource that is to be another rule now: at the service.
      const [, left] = /rule (\w+) has the mark or the id of this resource/.exec(failure) ?? [];
      if (left !== undefined) service.remove(left);
      else if (failure.includes("add adopt:")) declared = adopting(declared, failure, service, engine);
      // A rule that no state knows, no run deletes: then at the service.
      for (const [, ruleId = "", name = ""] of failure.matchAll(marked))
        if (n > 1) service.remove(ruleId);
        else declared = without(declared, name);
      if (failure.includes("--refresh")) said.push(...(await engine.refresh(hooks(answers))));
    }
  }
  throw new Error(`the runs do not come to an end:\n${said.join("\n")}`);
}

/** A rule in the way that a contract without an update can only have deleted, and its natural key. */
const marked =
  /rule (\w+) has the same natural key \(\/name: "(\w+)"\).* as its mark says.*by a run without this declaration/g;

/** The program without a rule. */
function without(declared: Record<string, JsonObject>, name: string): Record<string, JsonObject> {
  const others = Object.entries(declared).filter(([, { definition }]) => Object(definition).name !== name);
  return Object.fromEntries(
    others.map(([resource, inputs]) => {
      const { [name]: _, ...rules } = Object(inputs.rules);
      return [resource, inputs.rules === undefined ? inputs : { ...inputs, rules }];
    }),
  );
}

/** The program with `adopt` as a refusal advises, and with the live definition where a rule is taken as it is. */
function adopting(
  declared: Record<string, JsonObject>,
  failure: string,
  service: LocalService,
  { state }: EngineModel,
): Record<string, JsonObject> {
  const changed = { ...declared };
  const advised = /What to do: ([^"]*)add adopt: (?:\{ "(\w+)": )?"(\w+)"/g;
  for (const [, how = "", key, ruleId = ""] of failure.matchAll(advised)) {
    const { metadata, ...live } = service.rules().find((each) => each.ruleId === ruleId)?.rule ?? {};
    const asItIs = how.includes("declare it as it is at the service");
    const find = (isMeant: (name: string, inputs: JsonObject) => boolean): string | undefined =>
      Object.entries(declared).find(
        ([name, inputs]) => (key === undefined) === "definition" in inputs && isMeant(name, inputs),
      )?.[0];
    if (key !== undefined) {
      const name = find((_, { rules }) => Object.hasOwn(Object(rules), key)) ?? "";
      const { rules, adopt } = changed[name] ?? {};
      const all = asItIs ? { ...Object(rules), [key]: live } : rules;
      changed[name] = { ...changed[name], rules: all ?? {}, adopt: { ...Object(adopt), [key]: ruleId } };
      continue;
    }
    const name =
      find((each) => state.some(({ name, id }) => name === each && id === ruleId)) ??
      find((_, { definition }) => Object(definition).name === live.name) ??
      find((each) => String(Object(metadata).managedBy).endsWith(`/${each}`));
    if (name !== undefined)
      changed[name] = { ...changed[name], adopt: ruleId, ...(asItIs ? { definition: live } : {}) };
  }
  return changed;
}
