import { describe, expect, test } from "vitest";
import { many, marking, rule } from "../../support/rules.ts";
import { openCommandStack } from "../../support/stack/commands.ts";
import { unmarked } from "../../support/stack/place.ts";
import { type EngineName, hasPulumi } from "../../support/stack/project.ts";

function life(engine: EngineName): void {
  test("its rules are created, shown by key and path when they change or drift, and go away", async () => {
    const { project, service, run, succeeds } = await openCommandStack(engine);
    project.declare({ all: { rules: many(20) } });
    await succeeds("up");
    expect(service.rules()).toHaveLength(20);
    await succeeds("preview", "--expect-no-changes");
    project.declare({ all: { rules: { ...many(20), r7: rule(7, { priority: 70 }), extra: rule(99) } } });
    const preview = await succeeds("preview", "--diff");
    expect(preview.output).toMatch(/r7.*priority.*7 => 70/s);
    expect(preview.output).toContain("extra");
    expect(preview.output).not.toContain("r8");
    service.resetRequests();
    await succeeds("up");
    // The list is read before the first write, and once more after the first update and the first create.
    const asked = service.requests.map(({ operation }) => operation);
    expect(asked.sort()).toEqual(["create", "get", "list", "list", "list", "update"]);
    const drifted = service.rules().find((each) => each.rule.name === "rule-3");
    service.put(drifted?.ruleId, rule(3, { priority: 33 }));
    const drift = await run("refresh", "--preview-only", "--expect-no-changes", "--diff");
    expect(drift.code).not.toBe(0);
    expect(drift.output).toMatch(/r3.*priority.*3 => 33/s);
    await succeeds("up", "--refresh");
    expect(service.rules().find(({ ruleId }) => ruleId === drifted?.ruleId)?.rule.priority).toBe(3);
    await succeeds("destroy");
    expect(service.rules()).toEqual([]);
  });

  test("what succeeded of a thousand is kept when one fails, and the next run does the rest", async () => {
    const { project, service, run, succeeds, hasNoDrift } = await openCommandStack(engine);
    const stray = service.put(undefined, rule(7, { priority: 777 }));
    project.declare({ all: { rules: many(1000) } });
    const failed = await run("up");
    expect(failed.code).not.toBe(0);
    expect(failed.output).toMatch(/1 of 1000 rules failed/);
    expect(failed.output).toContain("r7");
    expect(failed.output).toContain(stray);
    expect(service.rules()).toHaveLength(1000);
    service.remove(stray);
    service.resetRequests();
    await succeeds("up");
    expect(service.requestCount("create")).toBe(1);
    expect(service.requestCount("update")).toBe(0);
    await succeeds("preview", "--expect-no-changes");
    await hasNoDrift();
    await succeeds("destroy");
    expect(service.rules()).toEqual([]);
  });

  test("rules move from resources of their own into a set where they have marks, and these alone are written", async () => {
    const { project, service, succeeds, hasNoDrift, counted } = await openCommandStack(engine, { contract: marking });
    project.declare({ a: { definition: rule(1) }, b: { definition: rule(2) } });
    await succeeds("up");
    const before = service.rules();
    project.declare({ all: { rules: { a: rule(1), b: rule(2) } } });
    counted();
    await succeeds("up");
    expect(unmarked(service.rules())).toEqual(unmarked(before));
    expect(counted()).toEqual({ list: expect.any(Number), get: 1, update: 2 });
    await hasNoDrift();
    await succeeds("destroy");
    expect(service.rules()).toEqual([]);
  });

  test("rules move from resources of their own into a set that adopts them, where they have no marks, and none is written", async () => {
    const { project, service, run, succeeds, takesOver } = await openCommandStack(engine);
    project.declare({ a: { definition: rule(1) }, b: { definition: rule(2) } });
    await succeeds("up");
    const before = service.rules();
    project.declare({ all: { rules: { a: rule(1), b: rule(2) } } });
    const { code, output } = await run("up");
    expect(code).not.toBe(0);
    for (const {
      ruleId,
      rule: { priority },
    } of before)
      expect(output).toContain(`adopt: { "${priority === 1 ? "a" : "b"}": "${ruleId}" }`);
    expect(service.rules()).toEqual(before);
    await takesOver({ all: { rules: { a: rule(1), b: rule(2) }, adopt: true } });
    await succeeds("destroy");
    expect(service.rules()).toEqual([]);
  });
}

describe("a set on the local engine", () => life("local"));
describe.skipIf(!hasPulumi)("a set on Pulumi's own engine (needs the Pulumi CLI)", () => life("pulumi"));
