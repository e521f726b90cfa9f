import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectPaths } from "../../cli/init/project-files.ts";
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

  test("has the packages from the files that the command came from, and nothing that is not published yet", () => {
    const command = join(installed.project, "node_modules/pulumi-merchant-rules/bin/merchant-rules.js");
    const manifest = join(installed.project, "package.json");
    writeFileSync(manifest, JSON.stringify({ dependencies: { "pulumi-merchant-rules": "file:packed/rules.tgz" } }));
    const folder = join(installed.project, "deeper/from-files");
    node(installed.project, command, "init", folder, "--preset", "seed");
    rmSync(manifest);
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    expect(dependencies["pulumi-merchant-rules"]).toBe("file:../../packed/rules.tgz");
    expect(devDependencies["pulumi-merchant-rules-local"]).toMatch(/^\d+\.\d+\.\d+/);
  });

  test("is there as a whole or not at all, whenever Ctrl-C comes", async () => {
    const command = join(installed.project, "node_modules/pulumi-merchant-rules/bin/merchant-rules.js");
    const counts = new Set<number>();
    // The last one ends by itself.
    for (const delayMs of [...Array.from({ length: 12 }, (_, k) => 50 + 100 * k), 60_000]) {
      const folder = join(installed.project, `ended-${delayMs}`);
      const child = spawn(process.execPath, [command, "init", folder, "--preset", "seed"], { stdio: "ignore" });
      const ended = once(child, "exit");
      await Promise.race([setTimeout(delayMs, undefined, { ref: false }), ended]);
      child.kill("SIGINT");
      await ended;
      const files = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
      counts.add(files.filter((entry) => entry.isFile()).length);
      expect(existsSync(folder)).toBe(files.length > 0);
    }
    expect([...counts].sort()).toEqual([0, projectPaths.length]);
  }, 120_000);

  test("is previewed as its CI job does it", () => {
    const command = join(installed.project, "node_modules/pulumi-merchant-rules/bin/merchant-rules.js");
    const folder = join(installed.project, "previewed");
    node(installed.project, command, "init", folder, "--preset", "illustrative");
    symlinkSync(join(installed.project, "node_modules"), join(folder, "node_modules"));
    expect(node(folder, command, "local", "preview", "--stack", "check")).toContain("4 to create");
  }, 120_000);
});
