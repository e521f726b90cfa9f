import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type EngineName, hasPulumi } from "../../support/stack/project.ts";
import { leftIn, processesOf, quickstart, root, startQuickstart, temporaryFolder } from "./quickstart.ts";

// The whole story once more for each engine, which takes many runs.
function keeps(engine: EngineName): void {
  test("leaves a project in which its commands work, and one command removes everything", async () => {
    const temporary = temporaryFolder();
    onTestFinished(async () => void (await startQuickstart({ temporary }, "--clean").ended));
    const { code, output } = await quickstart({ temporary }, "--engine", engine, "--keep");
    expect(code, output).toBe(0);
    expect(output).toContain("npm run quickstart -- --clean    # stops the service and removes everything");

    const [, folder = ""] = /\$ cd (\S+)\/project &&/.exec(output) ?? [];
    const program = join(folder, "project/index.ts");
    writeFileSync(program, readFileSync(program, "utf8").replace("priority: 100", "priority: 101"));
    const [, part = ""] = /\d+\. Yours to try\n(.*?)\n\n/s.exec(output) ?? [];
    const [enter, preview, up, list] = [...part.matchAll(/\$ (.*)/g)].map(([, line]) => line);
    const shown = await shell(`${enter}\n${preview}\n${up} --yes\n${list}`);
    expect(shown).toMatch(/priority\s*: 100 => 101/);
    expect(shown).toContain('"priority":101');

    const again = await quickstart({ temporary }, "--engine", engine);
    expect(again.code).toBe(1);
    expect(again.output).toContain("What to do: npm run quickstart -- --clean");

    const cleaned = await quickstart({ temporary }, "--clean");
    expect(cleaned.code).toBe(0);
    expect(cleaned.output).toMatch(/^Stopped the service at http:\S+ \(process \d+\)\.\nRemoved /);
    expect(leftIn(temporary)).toEqual([]);
    expect(processesOf(temporary)).toEqual([]);
    expect((await quickstart({ temporary }, "--clean")).output).toContain("Nothing is kept");
  });
}

function shell(script: string): Promise<string> {
  return new Promise((resolve) => {
    execFile("/bin/sh", ["-c", script], { cwd: root, env: process.env }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
}

describe("--keep on the local engine", () => keeps("local"));
describe.skipIf(!hasPulumi)("--keep on Pulumi's own engine (needs the Pulumi CLI)", () => keeps("pulumi"));

test.skipIf(!hasPulumi)("the whole story on Pulumi's own engine (needs the Pulumi CLI)", async () => {
  const temporary = temporaryFolder();
  const { code, output } = await quickstart({ temporary }, "--engine", "pulumi");
  expect(code, output).toBe(0);
  expect(output).toMatch(/name {6}: "large-amounts"/);
  expect(leftIn(temporary)).toEqual([]);
});
