import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { differences as engineDifferences } from "../../local/engine/deploy/property-diff.ts";
import { ruleType, setType } from "../../provider/host/types.ts";
import { readStateDrift } from "../../report/drift/drift.ts";
import type { StateResource } from "../../report/state/state-resource.ts";
import type { ContractInput } from "../../sdk/contract/index.ts";
import type { Json, JsonObject } from "../../sdk/json/index.ts";
import { contractOf } from "../support/stack/contracts.ts";
import { hooksHere, resource, sessionOf } from "../support/stack/hosts.ts";
import { filled } from "../support/stack/owners.ts";
import { type Served, serve } from "../support/stack/service.ts";
import { stateOf, withSecretsAt } from "../support/stack/states.ts";

const runs = process.env.FUZZ_RUNS === undefined ? 12 : 150;

const unordered: ContractInput["rule"] = { unordered: ["/tags", "/conditions"], secret: ["/vault"] };
const contracts: [string, ContractInput][] = [
  ["with unordered arrays and secrets", contractOf({ rule: unordered })],
  ["without a natural key", contractOf({ rule: { naturalKey: null } })],
  ["whose rules have marks", contractOf({ rule: { ...unordered, owner: { at: "/metadata/by" } } })],
];

const text = fc.constantFrom("x", "y", "z");
const condition = fc.record({ field: text, value: fc.nat(2) }, { requiredKeys: ["field"], noNullPrototype: true });
/** The fields of a rule beside its name. */
const fields = fc.record(
  {
    priority: fc.nat(3),
    note: fc.oneof(fc.constant(null), text),
    tags: fc.array(text, { maxLength: 3 }),
    conditions: fc.array(condition, { maxLength: 3 }),
    steps: fc.array(fc.oneof(text, fc.constant(null), condition), { maxLength: 2 }),
    limits: fc.record({ low: fc.oneof(fc.nat(1), fc.constant(null)), high: fc.nat(1) }, { noNullPrototype: true }),
    vault: fc.constantFrom("hush-1", "hush-2"),
  },
  { requiredKeys: ["priority"], noNullPrototype: true },
);

const edit = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ is: "none" } as const) },
  { weight: 1, arbitrary: fc.constant({ is: "deleted" } as const) },
  { weight: 3, arbitrary: fc.record({ is: fc.constant("edited" as const), to: fields, drop: fc.array(text) }) },
);

const world = fc.record({
  set: fc.array(fields, { maxLength: 4 }),
  single: fc.array(fields, { maxLength: 3 }),
  edits: fc.array(edit, { minLength: 8, maxLength: 8 }),
  added: fc.nat(2),
  renames: fc.boolean(),
});

/** One run's findings: paths of the rules that changed, and rules that are missing. */
type Told = { changed: string[]; missing: string[] } | "cannot be told";

describe.each(contracts)("under a contract %s", (_name, contract) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(contract, { allowDuplicates: true });
  });

  /** The resources of a stack after an `up`. Half of the keys have been renamed since. */
  async function stack(set: readonly JsonObject[], single: readonly JsonObject[], renames: boolean) {
    const session = sessionOf(served.environment);
    const state: StateResource[] = [];
    const rules = Object.fromEntries(set.map((rest, k): [string, Json] => [`k${k}`, { name: `set-${k}`, ...rest }]));
    const many = hooksHere("merchantRuleSet", session);
    const inputs = filled(resource("all", { rules }), session);
    const { id, outs } = await many.create(inputs);
    if (renames) {
      const renamed = Object.fromEntries(
        Object.entries(rules).map(([key, each], k) => [k % 2 === 0 ? `${key}-b` : key, each]),
      );
      const now = filled(resource("all", { rules: renamed }), session);
      // The next run is a process of its own.
      const later = hooksHere("merchantRuleSet", sessionOf(served.environment));
      state.push(marked(stateOf("all", setType, id, now, await later.update(id, outs, now))));
    } else state.push(marked(stateOf("all", setType, id, inputs, outs)));
    for (const [k, rest] of single.entries()) {
      const own = filled(resource(`one-${k}`, { definition: { name: `one-${k}`, ...rest } }), session);
      const made = await hooksHere("merchantRule", session).create(own);
      state.push(marked(stateOf(`one-${k}`, ruleType, made.id, own, made.outs)));
    }
    return state;
  }

  test("drift tells what a refresh tells, rule by rule and path by path", async () => {
    await fc.assert(
      fc.asyncProperty(world, async ({ set, single, edits, added, renames }) => {
        const { service, environment } = served;
        for (const { ruleId } of service.rules()) service.remove(ruleId);
        const state = await stack(set, single, renames);
        for (const [k, { ruleId, rule }] of service.rules().entries()) {
          const { is, ...by } = edits[k] ?? { is: "none" as const };
          if (is === "deleted") service.remove(ruleId);
          if ("to" in by)
            service.put(
              ruleId,
              Object.fromEntries(Object.entries({ ...rule, ...by.to }).filter(([key]) => key !== by.drop[0])),
            );
        }
        for (let k = 0; k < added; k++) service.put(undefined, { name: `by-hand-${k}` });
        const refreshed = await refresh(state, environment);
        const drift = await readStateDrift(state, sessionOf(environment)).catch(() => undefined);
        if (drift === undefined) {
          expect(refreshed).toBe("cannot be told");
          return;
        }
        const told: Told = {
          changed: drift.changed
            .flatMap(({ resource: name, key, differences }) => differences.map(({ path }) => at(name, key, path)))
            .sort(),
          missing: drift.missing.map(({ resource: name, key }) => at(name, key)).sort(),
        };
        expect(told).toEqual(refreshed);
        expect(drift.unmanaged).toHaveLength(added);
        expect(JSON.stringify(drift)).not.toContain(contract.rule?.secret === undefined ? "(none)" : "hush");
        expect(drift.rules - drift.changed.length - drift.missing.length).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: runs },
    );
  });
});

function at(resourceName: string, key: string | undefined, path: readonly (string | number)[] = []): string {
  return JSON.stringify([resourceName, ...(key === undefined ? [] : [key]), ...path]);
}

/** A state keeps what the contract calls secret as such. */
function marked({ inputs, outputs, ...others }: StateResource): StateResource {
  const paths = [
    ["definition", "vault"],
    ["rules", "*", "vault"],
  ];
  return { ...others, inputs: withSecretsAt(inputs, ...paths), outputs: withSecretsAt(outputs, ...paths) };
}

/** A refresh as the engine makes it: it compares the inputs before with those that the read hook answers. */
async function refresh(state: readonly StateResource[], environment: Record<string, string>): Promise<Told> {
  const session = sessionOf(environment);
  const told = { changed: [] as string[], missing: [] as string[] };
  const answers = await Promise.allSettled(
    state.map(({ type, id, outputs }) =>
      hooksHere(type === setType ? "merchantRuleSet" : "merchantRule", session).read(id, plain(outputs)),
    ),
  );
  for (const [index, answer] of answers.entries()) {
    if (answer.status === "rejected") return "cannot be told";
    const { type, urn, inputs } = state[index] ?? { type: "", urn: "", inputs: {} };
    const name = `${type.split(":").at(-1)} ${urn.split("::").at(-1)}`;
    if (answer.value.id === "") {
      told.missing.push(at(name, undefined));
      continue;
    }
    for (const { path } of engineDifferences(plain(inputs), answer.value.inputs)) {
      const [, ...below] = path;
      if (type === setType && below.length === 1) told.missing.push(at(name, String(below[0])));
      else told.changed.push(JSON.stringify([name, ...below]));
    }
  }
  return { changed: told.changed.sort(), missing: told.missing.sort() };
}

/** The engine hands secrets to hooks in plain. */
function plain(properties: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(properties), (_, each: Json) =>
    typeof each === "object" && each !== null && "value" in each && Object.keys(each).length === 2 && signature in each
      ? each.value
      : each,
  );
}

const signature = "4dabf18193072939515e22adb298388d";
