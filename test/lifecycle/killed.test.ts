import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { ContractInput } from "../../sdk/contract/index.ts";
import { rule } from "../support/connections.ts";
import { openStack } from "../support/stack.ts";

/** Nothing by which a rule is found again whose id was lost. */
const withoutLookUp: ContractInput = {
  version: 1,
  operations: { delete: { identifyBy: { in: "query", name: "ruleId" } } },
};
const total = 60;
const command = fileURLToPath(new URL("../../bin/merchant-rules.js", import.meta.url));

describe("a run on the local engine that is killed while it creates", () => {
  // Slowly enough for a whole state to be written in between, which happens every two seconds.
  test.each<[number, { requestsPerSecond?: number }]>([
    [1, {}],
    [17, {}],
    [40, { requestsPerSecond: 12 }],
  ])("after %i rules: the next run goes on, and makes none twice", async (after, options) => {
    const { project, service, succeeds } = await openStack("local", options);
    project.declare(Object.fromEntries(Array.from({ length: total }, (_, k) => [`r${k}`, { definition: rule(k) }])));

    const child = spawn(
      process.execPath,
      [command, "local", "up", "--yes", "--stack", project.stack, "--parallel", "4"],
      {
        cwd: project.folder,
        env: project.environment(),
        stdio: "ignore",
      },
    );
    const exited = once(child, "exit");
    while (service.rules().length < after && child.exitCode === null) await sleep(2);
    child.kill("SIGKILL");
    await exited;
    const before = service.rules().length;
    expect(before).toBeGreaterThanOrEqual(after);
    expect(before).toBeLessThan(total);

    await succeeds("up");
    const names = service.rules().map((each) => String(each.rule.name));
    expect(names.length).toBe(total);
    expect(new Set(names).size).toBe(total);
    await succeeds("refresh", "--preview-only", "--expect-no-changes");
    await succeeds("destroy");
    expect(service.rules()).toEqual([]);
  });
});

describe("a run on the local engine that is killed in the middle of a create, by a contract without a list", () => {
  test("the next run names the resource and says that it may exist, for nobody can know", async () => {
    const { project, service, succeeds } = await openStack("local", { contract: withoutLookUp });
    project.declare({ lost: { definition: rule(1) } });

    service.faults.set({ kind: "hold", at: "after", operations: ["create"] });
    const child = spawn(process.execPath, [command, "local", "up", "--yes", "--stack", project.stack], {
      cwd: project.folder,
      env: project.environment(),
      stdio: "ignore",
    });
    const exited = once(child, "exit");
    const held = await service.faults.nextHeld();
    child.kill("SIGKILL");
    await exited;
    held.release();
    service.faults.clear();

    const again = await succeeds("up");
    expect(again.output).toMatch(/MerchantRule::lost, interrupted while creating/);
    expect(again.output).toContain("may exist without being in the state");
    const later = await succeeds("up");
    expect(later.output).not.toContain("interrupted");
  });
});
