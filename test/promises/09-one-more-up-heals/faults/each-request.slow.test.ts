import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ContractInput } from "../../../../sdk/contract/index.ts";
import {
  declared,
  expectExactly,
  expectOnlyUnderWay,
  expectTrueState,
  inSet,
  type Opened,
  open,
  singles,
} from "../interruption.ts";

const seed: ContractInput = { version: 1, operations: { delete: { identifyBy: { in: "query" } } } };
/** Every other request, or every one: `npm run test:faults`. */
const stride = process.env.FAULT_MATRIX === "whole" ? 1 : 2;

/** Interrupts a run at its first request, at a later one, and so on. Gives the number that no request had any more. */
async function atEachRequest(project: Opened, verb: string, between: (n: number) => Promise<void>): Promise<number> {
  for (let n = 1; ; n += stride) {
    await between(n);
    const { code, output, after } = await project.interrupted({ verb, atRequest: n });
    if (after === undefined) {
      expect(code, output).toBe(0);
      return n;
    }
    expect(code, output).toBe(1);
    expect(output).toContain("Ctrl-C: what is under way is finished, and nothing new is started");
    expect(output).toContain("Resources:");
    expect(output).toContain("Cancelled: the next run does the rest");
    expectOnlyUnderWay(after);
    expectTrueState(project);
  }
}

// Side by side, so what is to be put away is put away by each test's own hook.
describe.concurrent("Ctrl-C at one request of a run after the other on the local engine ends what is under way; the next run does the rest:", {
  timeout: 600_000,
}, () => {
  test("create", async () => {
    const project = await open("local");
    project.project.declare(declared(0));
    const end = await atEachRequest(project, "up", async (n) => {
      if (n === 1) return;
      await project.succeeds("up");
      expectExactly(project.service, 0);
      // Everything goes away by hand, so that the next run has it all to create again.
      for (const { ruleId } of project.service.rules()) project.service.remove(ruleId);
      rmSync(project.project.backend, { recursive: true });
      mkdirSync(project.project.backend);
      // A salt without a state would be no fault, but it is not how a new stack begins.
      rmSync(join(project.project.folder, "Pulumi.test.yaml"), { force: true });
    });
    expect(end).toBeGreaterThan(singles + inSet);
    expectExactly(project.service, 0);
  });

  test("update", async () => {
    const project = await open("local");
    project.project.declare(declared(0));
    await project.succeeds("up");
    const end = await atEachRequest(project, "up", async (n) => {
      if (n > 1) {
        await project.succeeds("up");
        expectExactly(project.service, 100 * (n - stride));
      }
      project.project.declare(declared(100 * n));
    });
    expect(end).toBeGreaterThan(singles + inSet);
    expectExactly(project.service, 100 * end);
  });

  test("delete", async () => {
    const project = await open("local");
    project.project.declare(declared(0));
    const end = await atEachRequest(project, "destroy", async () => {
      await project.succeeds("up");
      expectExactly(project.service, 0);
    });
    expect(end).toBeGreaterThan(singles + inSet);
    expect(project.service.rules()).toEqual([]);
  });

  test("refresh", async () => {
    const project = await open("local", { contract: seed });
    project.project.declare(declared(0));
    await project.succeeds("up");
    const end = await atEachRequest(project, "refresh", async () => {
      await project.succeeds("up", "--refresh");
      expectExactly(project.service, 0);
      for (const { ruleId, rule: live } of project.service.rules())
        project.service.put(ruleId, { ...live, priority: 1000 });
    });
    expect(end).toBeGreaterThan(singles + inSet);
    await project.succeeds("up");
    expectExactly(project.service, 0);
  });
});
