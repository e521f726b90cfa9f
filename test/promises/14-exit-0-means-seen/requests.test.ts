import { expect, test } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { many, rule } from "../../support/rules.ts";
import { contractOf, owner, withoutList } from "../../support/stack/contracts.ts";
import { openWorld } from "../../support/stack/hooks.ts";
import { good, ModelStack } from "../../support/stack/model-stack.ts";

type Step = "create" | "update 1" | "update all" | "delete all";
type Reads = { list?: number; get?: number };

const changed = (rules: Record<string, JsonObject>, some: number) =>
  Object.fromEntries(
    Object.entries(rules).map(([key, each], at) => [key, at < some ? { ...each, isActive: false } : each]),
  );
const set = (rules: Record<string, JsonObject>): Record<string, JsonObject> => ({ all: { rules } });
const singles = (rules: Record<string, JsonObject>): Record<string, JsonObject> =>
  Object.fromEntries(Object.entries(rules).map(([key, definition]) => [key, { definition }]));

// One GET shows that the list has whole rules, which an update sends back.
const setReads = {
  create: { list: 3 },
  "update 1": { list: 2, get: 1 },
  "update all": { list: 3, get: 1 },
  "delete all": { list: 3 },
};

test.each<[string, ContractInput, Parameters<typeof openWorld>[0], typeof set, number, Record<Step, Reads>]>([
  ["a set", contractOf(), {}, set, 60, setReads],
  ["a set, where responses have the id alone,", contractOf(), { answers: "id" }, set, 60, setReads],
  [
    "a set whose ids the client chooses, and the service refuses when they are taken,",
    contractOf({
      operations: { create: { identifyBy: { in: "body", name: "id" } } },
      rule: { id: ["/id"] },
      errors: { exists: [{ status: 409 }] },
    }),
    {},
    set,
    60,
    setReads,
  ],
  // The connection looks whether rules with a mark are left.
  ["a set with marks", contractOf({ rule: { owner } }), {}, set, 60, { ...setReads, "delete all": { list: 4 } }],
  [
    "a set without a list",
    withoutList,
    {},
    set,
    60,
    { create: { get: 61 }, "update 1": { get: 12 }, "update all": { get: 130 }, "delete all": { get: 70 } },
  ],
  // At most: resources that end together share a reading.
  [
    "10 rules",
    contractOf(),
    {},
    singles,
    10,
    {
      create: { list: 12 },
      "update 1": { list: 2, get: 1 },
      "update all": { list: 12, get: 1 },
      "delete all": { list: 12 },
    },
  ],
  [
    "10 rules without a list",
    withoutList,
    {},
    singles,
    10,
    { create: { get: 60 }, "update 1": { get: 12 }, "update all": { get: 80 }, "delete all": { get: 70 } },
  ],
])("%s is read no more often than docs/performance.md says", async (_, contract, options, shape, size, expected) => {
  const world = await openWorld({ contract, ...options });
  for (const k of [991, 992]) world.service.put(undefined, rule(k));
  const stack = new ModelStack(world);
  const rules = Object.fromEntries(Object.entries(many(60)).slice(0, size));
  const steps: [Step, Record<string, JsonObject>][] = [
    ["create", shape(rules)],
    ["update 1", shape(changed(rules, 1))],
    ["update all", shape(changed(rules, size))],
    ["delete all", {}],
  ];
  for (const [step, program] of steps) {
    world.counted();
    await good(stack.up(program));
    const { list, get } = world.counted();
    const most = expected[step];
    const reads = { list, get };
    if (shape === set) expect(reads, step).toEqual({ list: undefined, get: undefined, ...most });
    for (const kind of ["list", "get"] as const)
      expect(reads[kind] ?? 0, `${step}: ${kind}`).toBeLessThanOrEqual(most[kind] ?? 0);
  }
});
