import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const readme = readFileSync(`${root}README.md`, "utf8");
const scripts: Record<string, string> = JSON.parse(readFileSync(`${root}package.json`, "utf8")).scripts;

describe("the README", () => {
  test("names only npm scripts that exist", () => {
    const named = [...readme.matchAll(/npm (?:run )?(test(?!:)|[a-z:]+)(?= |$|`|\n)/g)]
      .map((match) => match[1] ?? "")
      .filter((name) => name !== "registry");
    expect(named).toContain("quickstart");
    expect(named).toContain("test");
    for (const name of named) expect(Object.keys(scripts), name).toContain(name);
  });

  test("names only subcommands and flags that the command has", () => {
    for (const [, words] of readme.matchAll(/npx merchant-rules ([a-z]+(?: [a-z]+)?)/g)) {
      const { status, stdout } = spawnSync(
        process.execPath,
        ["bin/merchant-rules.js", ...(words ?? "").split(" "), "--help"],
        { cwd: root, encoding: "utf8" },
      );
      expect(status, words).toBe(0);
      expect(stdout).toContain(`Usage: merchant-rules ${words}`);
    }
  });

  test("links only to files that exist", () => {
    for (const [, link] of readme.matchAll(/\]\(([^)#]+)\)/g)) expect(existsSync(`${root}${link}`), link).toBe(true);
  });

  test("shows a program of about ten lines", () => {
    const program = /```ts\n(.*?)```/s.exec(readme)?.[1] ?? "";
    expect(program.trim().split("\n").length).toBeLessThanOrEqual(12);
  });

  test("names every command that checks or tests; continuous integration runs three of them, in this order", () => {
    for (const name of ["npm run check", "npm test", "npm run test:all", "npm run test:faults"])
      expect(readme).toContain(`\`${name}\``);
    const steps = readFileSync(`${root}.ci/run`, "utf8").match(/^npm .*?(?= \|\|)/gm);
    expect(steps).toEqual(["npm run check", "npm test", "npm run test:all"]);
  });
});

describe("npm run quickstart", () => {
  test("tells the whole story on the local engine and leaves nothing behind", () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/quickstart.ts", "--engine", "local"], {
      cwd: root,
      encoding: "utf8",
    });
    expect(status, `${stdout}\n${stderr}`).toBe(0);
    for (const step of [
      "The service",
      "Preview",
      "Up",
      "Read them back",
      "Preview again",
      "Somebody edits",
      "Drift check",
      "Up heals",
      "Destroy",
      "Done",
    ]) {
      expect(stdout).toContain(`. ${step}`);
    }
    expect(stdout).toContain("definition.priority");
    expect(existsSync(`${root}Pulumi.quickstart.yaml`)).toBe(false);
  });

  test("refuses an engine that it does not know", () => {
    const { status, stderr } = spawnSync(process.execPath, ["scripts/quickstart.ts", "--engine", "other"], {
      cwd: root,
      encoding: "utf8",
    });
    expect(status).toBe(2);
    expect(stderr).toContain("local");
  });
});
