import { describe, expect, test } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/rules/index.ts";
import { marking, rule } from "../../support/connections.ts";
import { type EngineName, hasPulumi } from "../../support/project.ts";
import { many, openStack } from "../../support/stack.ts";

function life(engine: EngineName): void {
  test("every rule is made once, a change writes what changed alone, and all go away", async () => {
    const { project, service, succeeds } = await openStack(engine);
    project.declare({ all: { rules: many(30), shards: 3 } });
    await succeeds("up");
    expect(service.rules().map(({ rule: { name } }) => name)).toHaveLength(30);
    expect(new Set(service.rules().map(({ rule: { name } }) => name)).size).toBe(30);
    await succeeds("preview", "--expect-no-changes");
    await succeeds("refresh", "--preview-only", "--expect-no-changes");
    const { r4: _, ...fewer } = many(31);
    project.declare({ all: { rules: { ...fewer, r7: rule(7, { priority: 70 }) }, shards: 3 } });
    service.resetRequests();
    await succeeds("up");
    const operations = service.requests.map(({ operation }) => operation);
    expect(operations.filter((name) => name !== "list").sort()).toEqual(["create", "delete", "update"]);
    // Before the first write, and after the first update and the first delete. Both may share a reading.
    expect(operations.filter((name) => name === "list").length).toBeLessThanOrEqual(3);
    await succeeds("destroy");
    expect(service.rules()).toEqual([]);
  });

  test("its outputs are those of all its sets", async () => {
    const { project, service, succeeds } = await openStack(engine);
    project.declare({ all: { rules: many(10), shards: 4 } });
    await succeeds("up");
    const byName = Object.fromEntries(service.rules().map((each) => [String(each.rule.name), each.ruleId]));
    const resources: { type: string; outputs?: { ruleIds?: { all: Record<string, string> } } }[] = JSON.parse(
      project.state(),
    ).checkpoint.latest.resources;
    const ruleIds = resources.find(({ type }) => type === "pulumi:pulumi:Stack")?.outputs?.ruleIds?.all;
    expect(ruleIds).toEqual(Object.fromEntries(Array.from({ length: 10 }, (_, k) => [`r${k}`, byName[`rule-${k}`]])));
  });

  test.each<[string, ContractInput | undefined, JsonObject]>([
    ["where they have marks, and nothing is written", marking, {}],
    ["by adopt where they have none, and nothing is written", undefined, { adopt: true }],
  ])("rules come from a set and go on to another number of sets %s", async (_, contract, adopting) => {
    const { project, service, succeeds, takesOver } = await openStack(engine, contract && { contract });
    project.declare({ all: { rules: many(20) } });
    await succeeds("up");
    for (const shards of [2, 5, 1]) await takesOver({ all: { rules: many(20), shards, ...adopting } });
    await succeeds("destroy");
    expect(service.rules()).toEqual([]);
  });

  test("a secret in one rule is a secret of that rule alone", async () => {
    const { project, succeeds } = await openStack(engine, { config: ["lifecycle:secret: hush"] });
    project.declare({ all: { rules: { ...many(6), r9: rule(9, { note: "(secret)" }) }, shards: 2 } });
    await succeeds("up");
    expect(project.state()).toMatch(/"note":\{[^}]*"ciphertext"/);
    expect(project.state()).not.toContain('"note":"hush"');
    expect(project.state().match(/"rule-3"/g)?.length).toBeGreaterThan(1);
    await succeeds("preview", "--expect-no-changes");
    await succeeds("destroy");
  });
}

describe("a sharded set on the local engine", () => life("local"));
describe.skipIf(!hasPulumi)("a sharded set on Pulumi's own engine (needs the Pulumi CLI)", () => life("pulumi"));
