import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { LocalService } from "../../../../local/service/index.ts";
import type { ContractInput } from "../../../../sdk/contract/index.ts";
import { many, marking, rule } from "../../../support/rules.ts";
import { openCommandStack } from "../../../support/stack/commands.ts";
import { hasPulumi, type TestProject } from "../../../support/stack/project.ts";
import { endLeft, recovering, start, untilNoProviderRuns } from "../interruption.ts";

/** Nothing by which a rule is found again whose id was lost. */
const withoutLookUp: ContractInput = {
  version: 1,
  operations: { delete: { identifyBy: { in: "query", name: "ruleId" } } },
};
const total = 60;
const command = fileURLToPath(new URL("../../../../bin/merchant-rules.js", import.meta.url));

/** Runs `local up` until the service holds the answer of a create, and kills it there. The service has made that rule. */
async function killUp(project: TestProject, service: LocalService, ...flags: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [command, "local", "up", "--yes", "--stack", project.stack, ...flags], {
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
}

describe("a run on the local engine that is killed while it creates", () => {
  // The last one slowly enough for a whole state to be written in between, which happens every two seconds.
  test.each([
    [1, 0],
    [17, 0],
    [40, 300],
  ])(
    "at create %i: the next run says how to recover, the one after does the rest, and none is made twice",
    async (atCreate, ms) => {
      const { project, service, run, succeeds, hasNoDrift } = await openCommandStack("local");
      project.declare(Object.fromEntries(Array.from({ length: total }, (_, k) => [`r${k}`, { definition: rule(k) }])));

      service.faults.set({ kind: "hold", at: "after", operations: ["create"], request: atCreate });
      if (ms > 0) service.faults.add({ kind: "latency", ms, times: "always" });
      await killUp(project, service, "--parallel", "4");
      expect(service.rules().length).toBeLessThan(total);

      const next = await run("up");
      expect(next.code, next.output).toBe(1);
      project.set(recovering(next.output));
      await succeeds("up");
      const names = service.rules().map((each) => String(each.rule.name));
      expect(names.length).toBe(total);
      expect(new Set(names).size).toBe(total);
      // What was looked up is open no more.
      expect(JSON.parse(project.state()).checkpoint.latest.pending_operations).toBeUndefined();
      await hasNoDrift();
      await succeeds("destroy");
      expect(service.rules()).toEqual([]);
    },
  );
});

describe("a run on the local engine that is killed in the middle of a create, by a contract without a list", () => {
  /** Up to the rule "lost", which the service has made; the engine is killed before it hears of it. */
  async function killed() {
    const opened = await openCommandStack("local", { contract: withoutLookUp });
    const { project, service } = opened;
    project.declare({ lost: { definition: rule(1) } });

    service.faults.set({ kind: "hold", at: "after", operations: ["create"] });
    await killUp(project, service);
    return opened;
  }

  test("the next run stops before that resource, and makes none again until a person has said what is so", async () => {
    const { project, service, run, succeeds, hasNoDrift } = await killed();
    project.declare({ lost: { definition: rule(1) }, other: { definition: rule(2) } });
    for (const verb of ["preview", "up"]) {
      const again = await run(verb);
      expect(again.code, again.output).toBe(1);
      expect(again.output).toContain("create lost failed: an earlier run ended while it created lost");
      expect(again.output).toContain("refresh --clear-pending-creates");
    }
    expect(service.rules()).toHaveLength(2);
    await succeeds("refresh", "--clear-pending-creates");
    for (const { ruleId, rule: made } of service.rules()) if (made.name === "rule-1") service.remove(ruleId);
    const later = await succeeds("up");
    expect(later.output).not.toContain("interrupted");
    expect(service.rules()).toHaveLength(2);
    await hasNoDrift();
  });

  test("the rule that was made is taken into the state by its id", async () => {
    const { project, service, run, succeeds, hasNoDrift } = await killed();
    const [made] = service.rules();
    const { output } = await run("up");
    const words = /refresh (--import-pending-creates) '(\S+)' (--import-pending-creates) <its id>/
      .exec(output)
      ?.slice(1);
    await succeeds("refresh", ...(words ?? []), made?.ruleId ?? "");
    expect(JSON.parse(project.state()).checkpoint.latest.pending_operations).toBeUndefined();
    service.resetRequests();
    await succeeds("up", "--expect-no-changes");
    await hasNoDrift();
    await succeeds("destroy");
    expect(service.rules()).toEqual([]);
    expect(service.requests.map(({ operation }) => operation)).not.toContain("create");
  });
});

describe.skipIf(!hasPulumi)(
  "a run on Pulumi's own engine that is killed while it creates (needs the Pulumi CLI)",
  () => {
    test.each(["rules", "a set"])("ends its provider host, and the next run makes none of %s twice", async (form) => {
      const { project, service, succeeds } = await openCommandStack("pulumi", { contract: marking });
      const rules = many(40);
      const singles = Object.fromEntries(Object.entries(rules).map(([key, definition]) => [key, { definition }]));
      project.declare(form === "rules" ? singles : { all: { rules } });
      service.faults.set({ kind: "hold", at: "after", operations: ["create"], request: 5 });
      service.faults.add({ kind: "latency", ms: 200, operations: ["create"], times: "always" });
      const { child, exited } = start(project, "pulumi", "up");
      const held = await service.faults.nextHeld();
      child.kill("SIGKILL");
      await untilNoProviderRuns(project);
      // The engine's own host of the program does not end by itself.
      endLeft(project);
      await exited;
      held.release();
      service.faults.clear();
      expect(service.rules().length).toBeLessThan(40);
      await project.pulumi("cancel", "--stack", project.stack, "--yes");
      await succeeds("up");
      expect(service.rules()).toHaveLength(40);
      expect(new Set(service.rules().map(({ rule: { name } }) => name)).size).toBe(40);
      await succeeds("destroy");
      expect(service.rules()).toEqual([]);
    });

    test("without checkpoints its state has no connection: the next run refuses what it made, and goes on by the word that it names", async () => {
      const { project, service, run, succeeds } = await openCommandStack("pulumi", { contract: marking });
      const rules = many(12);
      project.declare(Object.fromEntries(Object.entries(rules).map(([key, definition]) => [key, { definition }])));
      service.faults.set({ kind: "hold", at: "after", operations: ["create"], request: 5 });
      const { made } = await project.with({ PULUMI_SKIP_CHECKPOINTS: "true" }, async () => {
        const { child, exited } = start(project, "pulumi", "up");
        const held = await service.faults.nextHeld();
        child.kill("SIGKILL");
        await untilNoProviderRuns(project);
        endLeft(project);
        await exited;
        held.release();
        service.faults.clear();
        return { made: service.rules() };
      });
      expect(made.length).toBeGreaterThanOrEqual(5);
      await project.pulumi("cancel", "--stack", project.stack, "--yes");
      const { code, output } = await run("up");
      expect(code, output).not.toBe(0);
      await project.with(recovering(output), () => succeeds("up"));
      expect(service.rules()).toHaveLength(12);
      expect(service.rules()).toEqual(
        expect.arrayContaining(made.map(({ ruleId }) => expect.objectContaining({ ruleId }))),
      );
      await succeeds("up", "--expect-no-changes");
      await succeeds("destroy");
      expect(service.rules()).toEqual([]);
    });
  },
);
