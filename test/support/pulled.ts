import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { ruleFile } from "../../cli/export/rule-file.ts";
import { rule } from "./rules.ts";
import { openCommandStack } from "./stack/commands.ts";
import type { EngineName } from "./stack/project.ts";

const program = `
import { existsSync } from "node:fs";
import { loadRules, MerchantRuleSet } from "pulumi-merchant-rules";
new MerchantRuleSet("all", { rules: loadRules("rules"), adopt: existsSync("adopt") });
`;

/**
 * Drift is taken into the files of a stack, the live values into its state: after that nothing is left to change. Of every
 * five rules one is changed by hand, one loses a condition, and one of all is deleted; one is made by hand.
 */
export async function pullsDrift(engine: EngineName, count: number): Promise<void> {
  const { project, service, succeeds } = await openCommandStack(engine);
  project.write("index.js", program);
  mkdirSync(join(project.folder, "rules"));
  const textOf = (k: number): string => `# rule ${k}\n${ruleFile(rule(k), undefined)}# the end\n`;
  for (let k = 0; k < count; k += 1) project.write(`rules/r${k}.yaml`, textOf(k));
  await succeeds("up");
  for (const { ruleId, rule: live } of service.rules()) {
    const k = Number(live.priority);
    if (k === 0) service.remove(ruleId);
    else if (k % 5 === 1) service.put(ruleId, { ...live, priority: count + k, isActive: false });
    else if (k % 5 === 2) service.put(ruleId, { ...live, conditions: [] });
  }
  const made = service.put(undefined, { name: "by hand", priority: 1 });
  const stack = ["--stack", project.stack, "--engine", engine];
  const pull = (...flags: string[]) => project.merchantRules("pull", ...stack, "--rules", "rules", ...flags);
  const taken = await pull("--yes", "--remove-missing");
  const drifted = [...Array(count).keys()].filter((k) => k % 5 === 1 || k % 5 === 2).length;
  expect(taken.stdout).toContain(`Pull of stack test: 1 removed, ${drifted} changed\n`);
  expect(taken.code, taken.output).toBe(0);
  const command = engine === "local" ? "npx --no-install merchant-rules local" : "pulumi";
  expect(taken.stdout).toContain(`\n  ${command} refresh --stack ${project.stack}     # takes`);
  await succeeds("refresh");
  await succeeds("preview", "--expect-no-changes");
  for (let k = 1; k < count; k += 1) {
    const text = readFileSync(join(project.folder, `rules/r${k}.yaml`), "utf8");
    const changed = k % 5 === 1 ? { priority: count + k, isActive: false } : k % 5 === 2 ? { conditions: [] } : {};
    expect(text).toBe(`# rule ${k}\n${ruleFile(rule(k, changed), undefined)}# the end\n`);
  }
  const added = await pull("--unmanaged", "*", "--yes");
  expect(added.stdout).toContain(`takes them over with adopt: { "by hand": "${made}" }`);
  expect(added.code, added.output).toBe(0);
  project.write("adopt", "");
  const before = service.rules();
  await succeeds("up");
  expect(service.rules()).toEqual(before);
  await succeeds("preview", "--expect-no-changes");
  await succeeds("destroy");
  const empty = await pull();
  expect(empty.stdout).toContain(
    `nothing to pull, the stack's state has no rules. ${count} rules of the files are not in the stack's state: run \`${command} up\` to make them`,
  );
  expect(empty.code, empty.output).toBe(7);
}
