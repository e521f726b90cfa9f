import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { Report } from "../../report/index.ts";
import { rule } from "../support/rules.ts";
import { openCommandStack } from "../support/stack/commands.ts";
import { type EngineName, hasPulumi } from "../support/stack/project.ts";

const pack = fileURLToPath(new URL("../../policy", import.meta.url));

function plans(engine: EngineName): void {
  test("plan --policy-pack says what policies refuse and advise of its own preview, at the lines of the rule files", async () => {
    const { project, service } = await openCommandStack(engine);
    const config = {
      "number-ranges": { ranges: { "/priority": { maximum: 1000 } } },
      "allowed-values": { enforcementLevel: "advisory", values: { "/actions/*/type": ["accept"] } },
    };
    project.write("policy-config.json", JSON.stringify(config));
    const rules = { large: rule(1, { priority: 5000 }), small: rule(2) };
    const one = rule(3, { priority: 6000 });
    mkdirSync(join(project.folder, "files"));
    for (const [key, definition] of Object.entries({ ...rules, one }))
      project.write(`files/${key}.json`, JSON.stringify(definition, null, 2));
    project.declare({ all: { rules }, one: { definition: one } });
    const words = ["plan", "--cwd", project.folder, "--stack", project.stack, "--engine", engine];
    const packs = ["--policy-pack", pack, "--policy-pack-config", "policy-config.json"];
    const flags = ["--json", "--rules", "files", "--annotations", "github"];
    const { stdout, stderr, code } = await project.merchantRules(...words, ...packs, ...flags);
    expect(code, stderr).toBe(1);
    const report: Report = JSON.parse(stdout);
    expect(
      report.violations
        .map(({ level, policy, resource, key, path, file, line }) => [level, policy, resource, key, path, file, line])
        .sort(),
    ).toEqual([
      ["advisory", "allowed-values", "MerchantRule one", "one", "actions[0].type", "files/one.json", 14],
      ["advisory", "allowed-values", "MerchantRuleSet all", "large", "actions[0].type", "files/large.json", 14],
      ["advisory", "allowed-values", "MerchantRuleSet all", "small", "actions[0].type", "files/small.json", 14],
      ["mandatory", "number-ranges", "MerchantRule one", "one", "priority", "files/one.json", 3],
      ["mandatory", "number-ranges", "MerchantRuleSet all", "large", "priority", "files/large.json", 3],
    ]);
    expect(stderr).toContain(
      "::error file=files/large.json,line=3::the mandatory policy number-ranges is violated by MerchantRuleSet all (files/large.json:3): ",
    );
    expect(stderr).toContain(
      "::warning file=files/one.json,line=14::the advisory policy allowed-values is violated by MerchantRule one (files/one.json:14): ",
    );
    expect(report.findings).toHaveLength(3);
    expect(service.requests).toEqual([]);

    const unknown = await project.merchantRules(...words, "--policy-pack", "no-such-pack");
    expect([unknown.code, unknown.output]).toEqual([1, expect.stringContaining("no-such-pack")]);
  });
}

plans("local");
if (hasPulumi) plans("pulumi");
