import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { runCommandLine } from "../../../cli/exit-code.ts";
import { localQuickstartCommand } from "../../../cli/local-quickstart.ts";
import { type KnownProcess, knownProcess, writeRecord } from "../../../local/quickstart/processes.ts";
import { leftIn, temporaryFolder } from "./quickstart.ts";

const url = "http://127.0.0.1:4010";

/** A folder for temporary files in which this process's quickstarts are. */
function openFolder(): string {
  const temporary = temporaryFolder();
  vi.stubEnv("TMPDIR", temporary);
  return temporary;
}

/** A process that goes on until somebody ends it. */
function startProcess(): { readonly child: ChildProcess; readonly known: KnownProcess } {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", "quickstart's service"], {
    stdio: "ignore",
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const known = knownProcess(child.pid ?? 0);
  if (known === undefined) throw new Error("the process is not known");
  return { child, known };
}

function quickstartFolder(temporary: string): string {
  const folder = mkdtempSync(join(temporary, "merchant-rules-quickstart-"));
  mkdirSync(join(folder, "project"));
  return folder;
}

async function run(...words: string[]): Promise<{ readonly code: number; readonly output: string }> {
  const said: string[] = [];
  const spies = [console, console].map((each, at) =>
    vi.spyOn(each, at === 0 ? "log" : "error").mockImplementation((...parts) => void said.push(parts.join(" "))),
  );
  try {
    const code = await runCommandLine(
      localQuickstartCommand(new Command("quickstart"), "npm run quickstart --"),
      words,
    );
    return { code, output: said.join("\n") };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

describe("npm run quickstart -- --clean", () => {
  test("stops the kept service, removes its folder, and says so; the second time there is nothing to do", async () => {
    const temporary = openFolder();
    const folder = quickstartFolder(temporary);
    const { child, known } = startProcess();
    const ended = new Promise((resolve) => child.once("exit", resolve));
    writeRecord(folder, { kept: true, service: { ...known, url } });
    expect(await run("--clean")).toEqual({
      code: 0,
      output: `Stopped the service at ${url} (process ${child.pid}).\nRemoved ${folder}: the program, the stack with its state and settings, the service's rules.`,
    });
    await ended;
    expect(leftIn(temporary)).toEqual([]);
    expect(await run("--clean")).toEqual({ code: 0, output: "Nothing is kept, so there is nothing to clean up." });
  });

  test("leaves a process alone that is not the service, but has its id by now", async () => {
    const temporary = openFolder();
    const { child, known } = startProcess();
    writeRecord(quickstartFolder(temporary), { kept: true, service: { ...known, command: "node serve", url } });
    const { code, output } = await run("--clean");
    expect(code).toBe(0);
    expect(output).toContain(`Not running any more: the service at ${url} (process ${child.pid}).`);
    expect(child.exitCode).toBeNull();
    expect(knownProcess(known.pid)).toEqual(known);
    expect(leftIn(temporary)).toEqual([]);
  });

  test("leaves a quickstart alone that still runs, and folders that no quickstart has made", async () => {
    const temporary = openFolder();
    const { known } = startProcess();
    const folder = quickstartFolder(temporary);
    writeRecord(folder, { kept: false, runner: known });
    const other = quickstartFolder(temporary);
    const { code, output } = await run("--clean");
    expect(code).toBe(0);
    expect(output).toContain(`Not removed: the quickstart in ${folder} still runs (process ${known.pid})`);
    expect([folder, other].map((each) => existsSync(each))).toEqual([true, true]);
  });

  test("cleans up after a quickstart that was killed", async () => {
    const temporary = openFolder();
    const { known } = startProcess();
    writeRecord(quickstartFolder(temporary), {
      kept: false,
      runner: { ...known, command: "node scripts/quickstart.ts" },
      service: { ...known, url },
    });
    expect((await run("--engine", "local")).output).toContain("an earlier quickstart was killed, and is still there");
    expect((await run("--clean")).output).toContain("Stopped the service");
    expect(leftIn(temporary)).toEqual([]);
  });

  test("goes with no other option", async () => {
    openFolder();
    const errors = vi.spyOn(process.stderr, "write").mockImplementation(() => true);
    expect((await run("--clean", "--keep")).code).toBe(2);
    expect(errors.mock.calls.join("")).toContain("cannot be used with option '--keep'");
    errors.mockRestore();
  });
});

test("a quickstart while another one is kept begins nothing, and names the command that cleans up", async () => {
  const temporary = openFolder();
  const folder = quickstartFolder(temporary);
  const { child, known } = startProcess();
  writeRecord(folder, { kept: true, service: { ...known, url } });
  const before = leftIn(temporary);
  for (const words of [[], ["--keep"], ["--engine", "local"]])
    expect(await run(...words)).toEqual({
      code: 1,
      output: `error: an earlier quickstart is kept: the service at ${url} (process ${child.pid}), and the folder ${folder}.\nWhat to do: npm run quickstart -- --clean`,
    });
  expect(leftIn(temporary)).toEqual(before);
  expect(child.exitCode).toBeNull();
});
