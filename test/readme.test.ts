import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { entryPointFault } from "../stack/project/entry-point.ts";
import { newFolder } from "./support/folder.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const readme = readFileSync(`${root}README.md`, "utf8");
const contributing = readFileSync(`${root}CONTRIBUTING.md`, "utf8");
const scripts: Record<string, string> = JSON.parse(readFileSync(`${root}package.json`, "utf8")).scripts;

describe("the README", () => {
  test("names only npm scripts that exist, as CONTRIBUTING.md does", () => {
    for (const page of [readme, contributing]) {
      // The script `rules` is that of the user's project.
      const named = [...page.matchAll(/\bnpm (?:run (?!rules )([a-z:]+)|(test)\b)/g)].map(
        ([, script, own]) => script ?? own ?? "",
      );
      expect(named).toContain("quickstart");
      expect(named).toContain("test");
      for (const name of named) expect(Object.keys(scripts), name).toContain(name);
    }
  });

  test("names only subcommands and flags that the command has", () => {
    const named = [...readme.matchAll(/npm run rules -- ([a-z]+(?: [a-z]+)?)/g)];
    expect(named.map(([, words]) => words)).toEqual(["local quickstart", "drift", "local preview", "help"]);
    for (const [, words] of named) {
      const { status, stdout } = spawnSync(
        process.execPath,
        ["bin/merchant-rules.js", ...(words ?? "").split(" "), "--help"],
        { cwd: root, encoding: "utf8" },
      );
      expect(status, words).toBe(0);
      expect(stdout).toContain(`Usage: merchant-rules ${words}`);
    }
  });

  test("makes of an empty folder a project whose program is found, as its lines about a clone say", () => {
    const [, block = ""] =
      /## Install from a clone.*?```sh\n(cd \.\.\/payment-rules.*?|mkdir.*?)```/s.exec(readme) ?? [];
    const lines = block.split("\n").filter((line) => /^npm (init|pkg) /.test(line));
    expect(lines).toHaveLength(2);
    const programFolder = newFolder();
    writeFileSync(join(programFolder, "index.ts"), "");
    const project = { programFolder, entryPoint: ".", typescript: false };
    expect(entryPointFault(project)?.advice).toContain(
      'write "type": "module" and "main": "index.ts" into package.json',
    );
    const { status, stderr } = spawnSync("sh", ["-e"], {
      cwd: programFolder,
      input: lines.join("\n"),
      encoding: "utf8",
    });
    expect(status, stderr).toBe(0);
    expect(entryPointFault(project)).toBeUndefined();
    expect(JSON.parse(readFileSync(join(programFolder, "package.json"), "utf8"))).toMatchObject({ type: "module" });
  });

  test("shows the plan, the drift report and how to begin on its first screens, and a program of about ten lines", () => {
    const [first = "", rest] = readme.split("## What you get");
    expect(rest).toBeDefined();
    expect(first.split("\n").length).toBeLessThanOrEqual(65);
    for (const shown of [
      "plan-comment.webp",
      "drift-report.webp",
      "npm install pulumi-merchant-rules",
      "docs/getting-started.md",
    ])
      expect(first).toContain(shown);
    const program = /```ts\n(.*?)```/s.exec(first)?.[1] ?? "";
    expect(program.trim().split("\n").length).toBeLessThanOrEqual(12);
    expect(program).toContain("new MerchantRule(");
  });

  test("has pictures that say in words what they show, and are small enough to be shipped", () => {
    const pictures = [...readme.matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)];
    expect(pictures.length).toBe(2);
    for (const [, words = "", file = ""] of pictures) {
      expect(words.length, file).toBeGreaterThan(80);
      const { size } = statSync(`${root}${file}`);
      expect(size, file).toBeGreaterThan(10_000);
      expect(size, file).toBeLessThan(150_000);
    }
  });
});

describe("CONTRIBUTING.md", () => {
  test("names every command that checks or tests; continuous integration runs three of them, in this order", () => {
    for (const name of ["npm run check", "npm test", "npm run test:all", "npm run test:faults"])
      expect(contributing).toContain(`\`${name}\``);
    const steps = readFileSync(`${root}.ci/run`, "utf8").match(/^npm .*?(?= \|\|)/gm);
    expect(steps).toEqual(["npm run check", "npm test", "npm run test:all"]);
  });
});
