import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { FaultInput } from "../../local/service/index.ts";
import { parsePath } from "../../stack/values/path.ts";
import { rule } from "../support/rules.ts";
import { openCommandStack } from "../support/stack/commands.ts";
import { contractOf, owner } from "../support/stack/contracts.ts";
import { type EngineName, hasPulumi } from "../support/stack/project.ts";
import { anotherSecret } from "../support/stack/states.ts";
import { run } from "./command.ts";
import { driftFolder } from "./drift-command.ts";

const previewed = z.object({
  steps: z.array(
    z.object({ op: z.string(), urn: z.string(), detailedDiff: z.record(z.string(), z.unknown()).nullish() }),
  ),
});

/** Where a refresh sees drift: the resource, then the path in it, as far as a rule that is missing. */
function pathsIn(json: string): string[] {
  return previewed.parse(JSON.parse(json)).steps.flatMap(({ op, urn, detailedDiff }) => {
    const [, , type = "", name = ""] = urn.split("::");
    const resource = `${type.split(":").at(-1)} ${name}`;
    if (op === "delete") return [JSON.stringify([resource])];
    const paths = Object.keys(detailedDiff ?? {}).map((path) => parsePath(path) ?? []);
    return paths.map(([, ...below]) => JSON.stringify([resource, ...below]));
  });
}

const definition = { ...rule(4), tags: ["x", "y"], note: null, vault: { pin: "hush-1" } };

const actions = [{ type: "decline", apiKey: "hush-6" }, { type: "notify" }];

function agrees(engine: EngineName): void {
  test("drift and refresh --preview-only see the same, and drift runs no program", async () => {
    const contract = contractOf({ rule: { unordered: ["/tags"], secret: ["/vault/pin", "/actions/*/apiKey"] } });
    const { project, service, succeeds, run, edit, idOf } = await openCommandStack(engine, { contract });
    project.write("index.js", project.read("index.js").replace(/new pulumi.Config.*;/, 'pulumi.secret("hush-5");'));
    project.declare({
      all: { rules: { a: rule(1), b: rule(2, { vault: { pin: "hush-2" } }), "odd key": rule(3) } },
      one: { definition },
      two: { definition: rule(5, { hook: { key: "(secret)" } }) },
      three: { definition: rule(7, { actions, steps: [{ type: "decline", apiKey: "(secret)" }] }) },
      gone: { definition: rule(6) },
    });
    await succeeds("up");
    // A program that cannot run must not matter.
    project.write("index.js", "throw new Error('the program ran')");
    const { drift } = driftFolder(project.variables());
    const stack = ["--cwd", project.folder, "--stack", project.stack, "--engine", engine];
    service.resetRequests();
    expect(await drift(...stack)).toMatchObject({
      code: 0,
      report: { rules: 7, unchanged: 7, notes: [expect.stringContaining(", read ")] },
    });
    expect(service.requests.map(({ operation }) => operation)).toEqual(["list"]);

    edit("rule-1", { priority: 9 });
    edit("rule-2", { vault: { pin: "hush-3" } });
    edit("rule-4", {
      tags: ["y", "x"],
      note: "now",
      conditions: [{ field: "amount", operator: "lt", value: 1 }, null],
    });
    edit("rule-7", {
      actions: [{ type: "accept", apiKey: "hush-8" }, { type: "notify" }],
      steps: [{ type: "accept", apiKey: "hush-5" }],
    });
    for (const name of ["rule-3", "rule-6"]) service.remove(idOf(name));
    service.put(undefined, { name: "by-hand" });
    const { code, report, text } = await drift(...stack);
    expect(code).toBe(7);
    expect(report?.counts).toEqual({ missing: 2, changed: 4, unmanaged: 1 });
    expect(text).not.toContain("hush");
    // The state has the contract's secret at its place, and the whole array as a secret of the program.
    expect(report?.findings.find(({ name }) => name === "rule-7")?.paths).toEqual([
      { path: "actions[0].apiKey", ...anotherSecret },
      { path: "actions[0].type", before: "decline", after: "accept" },
      { path: "steps[0].type", ...anotherSecret },
    ]);
    const found = (report?.findings ?? [])
      .filter(({ change }) => change !== "unmanaged")
      .flatMap(({ resource = "", key, paths }) => {
        const rulePath = key === undefined ? [resource] : [resource, key];
        if (paths.length === 0) return [JSON.stringify(rulePath)];
        return paths.map(({ path }) => JSON.stringify([...rulePath, ...(parsePath(path) ?? [])]));
      });
    const refreshed = await run("refresh", "--preview-only", "--json");
    expect(found.sort()).toEqual(pathsIn(refreshed.stdout).sort());
    expect(found).toContain('["MerchantRuleSet all","odd key"]');
  });

  test("after a run that failed in part, a rule that it changed, renamed or deleted is no drift, and the command ends with 7", async () => {
    const contract = contractOf({ rule: { owner } });
    const { project, service, succeeds, run, edit, idOf } = await openCommandStack(engine, { contract });
    const cheap = { a: rule(1), b: rule(2), c: rule(3), d: rule(4), e: rule(5) };
    project.declare({ all: { rules: cheap }, one: { definition: rule(6) } });
    await succeeds("up");
    const { drift } = driftFolder(project.variables());
    const look = () => drift("--cwd", project.folder, "--stack", project.stack, "--engine", engine);
    const upFails = async (fault: FaultInput, resource: string): Promise<void> => {
      service.faults.set(fault);
      expect((await run("up")).code).not.toBe(0);
      service.faults.clear();
      const { report, code } = await look();
      expect([report?.findings, report?.warnings, code]).toEqual([[], [expect.stringContaining(resource)], 7]);
    };
    // b is deleted, c has another key, d is changed; the update of a fails.
    const rules = { a: rule(1, { priority: 9 }), z: rule(3), d: rule(4, { priority: 9 }), e: rule(5) };
    project.declare({ all: { rules }, one: { definition: rule(6) } });
    await upFails({ kind: "status", status: 422, operations: ["update"] }, "did not finish MerchantRuleSet all");
    edit("rule-4", { priority: 1 });
    service.remove(idOf("rule-3"));
    const { report } = await look();
    expect(report?.findings.map(({ change, name }) => [change, name])).toEqual([
      ["missing", "rule-3"],
      ["changed", "rule-4"],
    ]);
    await succeeds("up", "--refresh");
    project.declare({ all: { rules }, one: { definition: rule(6, { priority: 9 }) } });
    await upFails(
      { kind: "store-otherwise", at: "/priority", value: 7, answer: "id" },
      "did not finish MerchantRule one",
    );
    await succeeds("up");
    expect(await look()).toMatchObject({ code: 0, report: { warnings: [] } });
  });
}

describe("on the local engine", () => agrees("local"));
describe.skipIf(!hasPulumi)("on the Pulumi CLI", () => {
  agrees("pulumi");

  test("a stack that is not there is named with those that are", async () => {
    const { project } = await openCommandStack("pulumi");
    const { drift } = driftFolder(project.variables());
    const { code, errors } = await drift("--cwd", project.folder, "--engine", "pulumi", "--stack", "nope");
    expect(code).toBe(1);
    expect(errors).toMatch(/no stack named 'nope' found\. What to do: name one .* with --stack \(there are: test\)/);
    for (const [name, ...options] of [["plan"], ["export"], ["diff", "--from", "a", "--to", "b"]]) {
      const other = await run(
        [name ?? "", ...options, "--cwd", project.folder, "--stack", "nope"],
        project.variables(),
      );
      expect(other.code).toBe(1);
      expect(other.stderr).toMatch(
        /no stack named 'nope' found\. What to do: name one .* with --stack \(there are: test\)/,
      );
    }
  });
});
