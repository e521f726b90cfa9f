import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { newProject, packageIn, packInto, root } from "./packed.ts";

const { project, remove } = newProject();
afterAll(remove);
const { folder } = packInto(project);
const version = String(packageIn(folder).version);
const state = join(project, "state.json");
writeFileSync(state, JSON.stringify({ version: 3, deployment: { resources: [] } }));

/** Runs the installed command in the project's folder. */
function command(...words: string[]) {
  const bin = join(folder, "bin/merchant-rules.js");
  const env = { ...process.env, PATH: join(project, "no-pulumi-here"), PULUMI_CONFIG_PASSPHRASE: "x" };
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...words], {
    cwd: project,
    encoding: "utf8",
    env,
  });
  return { status, stdout, stderr };
}

// In this order: the second block follows the first one's advice.
describe("where only pulumi-merchant-rules is installed", () => {
  const advice = `install it: npm install --save-dev pulumi-merchant-rules-local@${version}`;

  test.each([["serve"], ["local", "preview"], ["local", "import", "--file", "import.json", "--yes"]])(
    "merchant-rules %s %s says how to install the rest",
    (...words) => {
      const { status, stderr, stdout } = command(...words);
      expect(stderr).toContain("the package pulumi-merchant-rules-local is not installed");
      expect(stderr).toContain(advice);
      expect(stderr.trim().split("\n")).toHaveLength(1);
      expect([status, stdout]).toEqual([1, ""]);
    },
  );

  test("plan, which would run the local engine, says so, and that the Pulumi CLI would do", () => {
    writeFileSync(join(project, "Pulumi.yaml"), "name: shop\nruntime: nodejs\n");
    const { status, stderr } = command("plan");
    expect(stderr).toContain(advice);
    expect(stderr).toContain("or use the Pulumi CLI");
    expect(status).toBe(1);
  });

  test("help and version say what there is, and drift reads a state", () => {
    expect(command("local", "--help")).toMatchObject({ status: 0, stderr: "" });
    expect(command("--version").stdout.trim()).toBe(version);
    expect(command("drift", "--state", state).stderr).not.toContain("pulumi-merchant-rules-local");
  });

  test("a local package of another version is refused", () => {
    const other = join(project, "node_modules/pulumi-merchant-rules-local");
    mkdirSync(other, { recursive: true });
    const described = JSON.parse(readFileSync(join(root, "local/package.json"), "utf8"));
    writeFileSync(
      join(other, "package.json"),
      JSON.stringify({
        ...described,
        version: "0.0.1",
        exports: { "./engine": "./e.js", "./package.json": "./package.json" },
      }),
    );
    writeFileSync(join(other, "e.js"), "");
    const { status, stderr } = command("local", "preview");
    expect(stderr).toContain(`pulumi-merchant-rules-local has version 0.0.1, and pulumi-merchant-rules ${version}`);
    expect(stderr).toContain(advice);
    expect(status).toBe(1);
  });
});

describe("where pulumi-merchant-rules-local is installed beside it", () => {
  test("the local engine runs", () => {
    packInto(project, "local");
    writeFileSync(join(project, "Pulumi.yaml"), "name: shop\nruntime: nodejs\nmain: index.mjs\n");
    writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
    writeFileSync(join(project, "index.mjs"), "export const answer = 42;\n");
    const { stderr, stdout, status } = command("local", "up", "--yes", "--backend", `file://${project}`);
    expect(stderr).toBe("");
    expect(stdout).toContain("answer");
    expect(status).toBe(0);
  });
});
