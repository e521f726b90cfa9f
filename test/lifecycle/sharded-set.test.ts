import { afterEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../sdk/rules/index.ts";
import { rule, serve } from "../support/connections.ts";
import { type CommandResult, type EngineName, hasPulumi, TestProject } from "../support/project.ts";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function open(engine: EngineName) {
  const served = await serve();
  opened.push(() => served.close());
  const project = new TestProject(served.environment, ["lifecycle:secret: hush"]);
  opened.push(() => project.remove());
  await project.init(engine);
  const succeeds = async (verb: string, ...flags: string[]): Promise<CommandResult> => {
    const result = await project.run(engine, verb, ...flags);
    expect(result.code, result.output).toBe(0);
    return result;
  };
  return { project, service: served.service, succeeds };
}

function many(count: number): Record<string, JsonObject> {
  return Object.fromEntries(Array.from({ length: count }, (_, k) => [`r${k}`, rule(k)]));
}

function life(engine: EngineName): void {
  test("every rule is made once, a change writes what changed alone, and all go away", async () => {
    const { project, service, succeeds } = await open(engine);
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
    await succeeds("destroy");
    expect(service.rules()).toEqual([]);
  });

  test("its outputs are those of all its sets", async () => {
    const { project, service, succeeds } = await open(engine);
    project.declare({ all: { rules: many(10), shards: 4 } });
    await succeeds("up");
    const byName = Object.fromEntries(service.rules().map((each) => [String(each.rule.name), each.ruleId]));
    const resources: { type: string; outputs?: { ruleIds?: { all: Record<string, string> } } }[] = JSON.parse(
      project.state(),
    ).checkpoint.latest.resources;
    const ruleIds = resources.find(({ type }) => type === "pulumi:pulumi:Stack")?.outputs?.ruleIds?.all;
    expect(ruleIds).toEqual(Object.fromEntries(Array.from({ length: 10 }, (_, k) => [`r${k}`, byName[`rule-${k}`]])));
  });

  test("rules come from a set and go on to another number of sets, and none is written", async () => {
    const { project, service, succeeds } = await open(engine);
    project.declare({ all: { rules: many(20) } });
    await succeeds("up");
    const before = service.rules();
    for (const shards of [2, 5, 1]) {
      project.declare({ all: { rules: many(20), shards } });
      service.resetRequests();
      await succeeds("up");
      expect(service.rules()).toEqual(before);
      expect(service.requests.map(({ operation }) => operation)).toEqual(["list"]);
      await succeeds("refresh", "--preview-only", "--expect-no-changes");
    }
    await succeeds("destroy");
    expect(service.rules()).toEqual([]);
  });

  test("a secret in one rule is a secret of that rule alone", async () => {
    const { project, succeeds } = await open(engine);
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
