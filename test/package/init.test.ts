import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { presets } from "../../sdk/contract/index.ts";
import { newProject, packInto } from "./packed.ts";

const installed = newProject();
beforeAll(() => {
  packInto(installed.project);
  packInto(installed.project, "local");
});
afterAll(() => installed.remove());

/** Runs Node as a user's shell would, without what this test runner has set. */
function node(cwd: string, ...words: string[]): string {
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:VITEST|NODE_|MERCHANT_RULES_|PULUMI_)/.test(name));
  const own = {
    MERCHANT_RULES_BASE_URL: "https://payments.example.com",
    PULUMI_CONFIG_PASSPHRASE: "p",
  };
  return execFileSync(process.execPath, words, { cwd, encoding: "utf8", env: { ...Object.fromEntries(kept), ...own } });
}

describe("a project that the packed command writes", () => {
  test.each(presets)(
    "by the preset %s passes its own test",
    (preset) => {
      const command = join(installed.project, "node_modules/pulumi-merchant-rules/bin/merchant-rules.js");
      const folder = join(installed.project, preset);
      node(installed.project, command, "init", folder, "--preset", preset);
      symlinkSync(join(installed.project, "node_modules"), join(folder, "node_modules"));
      expect(node(folder, "--test", "test/rules.test.ts")).toMatch(/pass 1\b/);
    },
    120_000,
  );

  test("is previewed as its CI job does it", () => {
    const command = join(installed.project, "node_modules/pulumi-merchant-rules/bin/merchant-rules.js");
    const folder = join(installed.project, "previewed");
    node(installed.project, command, "init", folder, "--preset", "illustrative");
    symlinkSync(join(installed.project, "node_modules"), join(folder, "node_modules"));
    expect(node(folder, command, "local", "preview", "--stack", "check")).toContain("3 to create");
  }, 120_000);
});
