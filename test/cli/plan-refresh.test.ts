import { describe, expect, test } from "vitest";
import { formats } from "../../report/formats/formats.ts";
import { type Report, render } from "../../report/index.ts";
import { othersMarkBy, rule } from "../support/rules.ts";
import { openCommandStack } from "../support/stack/commands.ts";
import { contractOf, update } from "../support/stack/contracts.ts";
import { type EngineName, hasPulumi } from "../support/stack/project.ts";

const contract = contractOf({
  operations: { update: { ...update, body: "declared" } },
  rule: { owner: { at: "/metadata/managedBy" }, secret: ["/token"] },
});

function plans(engine: EngineName): void {
  test("plan --refresh shows the service: edits by hand, what is gone, taken over, unmanaged and another's", async () => {
    const { project, service, run, succeeds, edit, idOf } = await openCommandStack(engine, {
      contract,
      config: engine === "local" ? ["lifecycle:secret: s3cret-config"] : [],
    });
    const rules = { a: rule(1), b: rule(2), c: rule(3), d: rule(4, { token: "s3cret-1" }), e: rule(5), f: rule(6) };
    project.declare({ all: { rules }, one: { definition: rule(7) } });
    await succeeds("up");
    edit("rule-1", { priority: 91 });
    edit("rule-2", { priority: 92 });
    edit("rule-4", { token: "s3cret-2", priority: 94 });
    edit("rule-7", { isActive: false });
    // By hand as the program is to say it: nothing is lost.
    edit("rule-6", { priority: 96 });
    service.remove(idOf("rule-5"));
    service.put(undefined, rule(20, { priority: 1, actions: [{ type: "accept" }] }));
    service.put(undefined, rule(21, { metadata: { managedBy: othersMarkBy("other/prod/all") } }));
    service.put(undefined, rule(22, { token: "s3cret-3" }));
    service.put(undefined, rule(23));
    const annotated = service.put(undefined, rule(24, { note: "by hand" }));
    project.declare({
      all: {
        rules: {
          ...rules,
          b: rule(2, { isActive: false }),
          c: rule(3, { priority: 33 }),
          f: rule(6, { priority: 96 }),
          g: rule(22),
          h: rule(23),
          i: rule(24, { priority: 1 }),
        },
        adopt: { i: annotated, g: idOf("rule-22") },
      },
      one: { definition: rule(7) },
    });
    service.resetRequests();
    const words = ["plan", "--refresh", "--cwd", project.folder, "--stack", project.stack, "--engine", engine];
    const { stdout, code, stderr } = await project.merchantRules(...words, "--format", "json");
    expect([code, stderr]).toEqual([0, ""]);
    const report: Report = JSON.parse(stdout);
    expect(
      report.findings.map(({ change, name, paths, owner, reason }) => [
        change,
        name,
        paths.map(
          ({ path, before, after, secret }) => `${path}: ${before} → ${after}${secret === true ? " (secret)" : ""}`,
        ),
        owner ?? reason,
      ]),
    ).toEqual([
      ["reset", "rule-1", ["priority: 91 → 1"], undefined],
      ["reset", "rule-2", ["isActive: true → false", "priority: 92 → 2"], "the program changes isActive"],
      ["reset", "rule-4", ["priority: 94 → 4", "token: [secret] → [another secret] (secret)"], undefined],
      ["reset", "rule-7", ["isActive: false → true"], undefined],
      ["update", "rule-3", ["priority: 3 → 33"], undefined],
      ["create", "rule-23", [], undefined],
      ["create", "rule-5", [], "it is gone at the service"],
      ["adopt", "rule-22", [], "keeps token, which the program does not declare"],
      ["adopt", "rule-24", ["priority: 24 → 1"], undefined],
      ["unmanaged", "rule-20", [], undefined],
      ["unmanaged", "rule-23", [], undefined],
      ["anothers", "rule-21", [], "other/prod/all"],
    ]);
    expect(report.unchanged).toBe(1);
    expect(report.warnings).toContainEqual(expect.stringMatching(/^rule-23 is to be created .* will refuse it/));
    expect(report.warnings).toContain(
      `rule-24 takes over rule ${annotated}, and the run will refuse it: the rule would lose note, which the program does not declare. What to do: declare these fields as they are`,
    );
    expect(report.findings.find(({ name }) => name === "rule-20")?.rule?.after).toMatchObject({ priority: 1 });
    // One pass, and one look that shows whether the list has whole rules.
    const asked = service.requests.map(({ operation }) => operation);
    expect(asked.filter((operation) => operation === "list")).toHaveLength(1);
    for (const format of formats) {
      const page = render(report, format);
      for (const { name } of report.findings) expect(page, format).toContain(name);
      expect(page, format).toContain(format === "json" ? '"reset"' : "edited by hand");
    }
    expect(stdout).not.toContain("s3cret");
    const command = engine === "local" ? "npx --no-install merchant-rules local" : "pulumi";
    expect(report.about).toEqual([expect.stringContaining(`as of \`${command} up --refresh\``)]);
    const without = await project.merchantRules(...words.filter((word) => word !== "--refresh"), "--format", "json");
    const blind: Report = JSON.parse(without.stdout);
    expect(blind.about[0]).toMatch(/^now is the stack's state, .* edits by hand are not seen/);
    expect(blind.findings.map(({ change }) => change)).not.toContain("reset");
    const { output } = await run("up");
    expect(output).toContain("that the program does not declare, and the rule was taken over: note");
    expect(output).toMatch(/rule \S+ has the same natural key/);
  }, 300_000);
}

describe("with the local engine", () => plans("local"));
describe.skipIf(!hasPulumi)("with Pulumi's CLI", () => plans("pulumi"));
