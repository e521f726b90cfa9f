import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { hasPulumi, type TestProject } from "../../support/stack/project.ts";
import {
  command,
  declared,
  expectExactly,
  expectOnlyUnderWay,
  expectTrueState,
  inSet,
  leftRunning,
  locks,
  open,
  send,
  singles,
  start,
  untilNoneRuns,
} from "./interruption.ts";

describe("a run on the local engine", () => {
  test("that is interrupted in a preview ends, and has written nothing", async () => {
    const { project, service } = await open("local");
    project.declare(declared(0));
    project.write(
      "index.js",
      `${project.read("index.js")}\nconsole.log("all declared");\nsetTimeout(() => console.log("the program has ended by itself"), 60_000);`,
    );
    const { child, exited, output, said } = start(project, "local", "preview");
    await said(/all declared/);
    send(child, "SIGINT");
    expect(await exited, output()).toBe(1);
    expect(output()).not.toContain("the program has ended by itself");
    expect(output()).toContain("Cancelled: this is not the whole preview");
    expect(service.requests).toEqual([]);
    expect(existsSync(join(project.backend, ".pulumi/stacks"))).toBe(false);
    expect(leftRunning(project)).toEqual([]);
  });

  test("is ended gently by SIGTERM, by the end of its terminal, and by one Ctrl-C that comes twice, as under npx", async () => {
    const project = await open("local");
    project.project.declare(declared(0));
    for (const signals of [["SIGTERM"], ["SIGHUP"], ["SIGINT", "SIGINT"]] satisfies NodeJS.Signals[][]) {
      const { code, output } = await project.interrupted({ verb: "up", atRequest: 2, signals });
      expect(code, output).toBe(1);
      expectTrueState(project);
      expect(project.service.rules().length).toBeLessThan(singles + inSet);
      await project.succeeds("destroy");
    }
    await project.succeeds("up");
    expectExactly(project.service, 0);
  });

  test.each([1, 3, 5])(
    "ends at once on a second Ctrl-C, at request %i, and the next run, told to recover, makes no rule twice",
    async (atRequest) => {
      const project = await open("local");
      project.project.declare(declared(0));
      const { code, output } = await project.interrupted({ verb: "up", atRequest, again: true });
      expect(code, output).toBe(8);
      // It did not wait for the end of what was under way.
      expect(output).not.toContain("Cancelled: the next run does the rest");
      expect(output).toContain("Ctrl-C again: stopping at once");
      expect(locks(project.project)).toEqual([]);
      await untilNoneRuns(project.project);
      await project.recovered();
      expectExactly(project.service, 0);
      expectTrueState(project);
    },
  );

  test.skipIf(!existsSync("/proc/self/cwd")).each([0, 20, 200])(
    "that is killed %i ms after its first child process has started leaves none behind",
    async (afterMs) => {
      const { project, service } = await open("local");
      // A resource in state, so that the provider host is started at once.
      project.declare({ first: { definition: rule(100) } });
      expect((await project.run("local", "up")).code).toBe(0);
      project.declare(declared(0));
      service.faults.set({ kind: "hold", times: "always" });
      const { child, exited } = start(project, "local", "up");
      while (leftRunning(project).length < 2 && child.exitCode === null) await sleep(1);
      await sleep(afterMs);
      child.kill("SIGKILL");
      await exited;
      await untilNoneRuns(project);
    },
  );

  test("that is killed takes along what its program started", async () => {
    const { project, service } = await open("local");
    service.faults.set({ kind: "hold", times: "always" });
    project.declare(declared(0));
    project.write(
      "index.js",
      `import { spawn } from "node:child_process";\nspawn("sleep", ["60"], { stdio: "ignore" });\n${project.read("index.js")}\nconsole.log("all declared");`,
    );
    const { child, exited, said } = start(project, "local", "up");
    await said(/all declared/);
    child.kill("SIGKILL");
    await exited;
    await untilNoneRuns(project);
  });

  test("goes on to its end when nobody reads its output any more", async () => {
    const project = await open("local");
    project.project.declare(declared(0));
    const { child, exited } = start(project.project, "local", "up");
    child.stdout.destroy();
    child.stderr.destroy();
    expect(await exited).toBe(0);
    expectExactly(project.service, 0);
  });
});

const script = "/usr/bin/script";

describe.skipIf(process.platform !== "linux" || !existsSync(script))("at a terminal (needs the command script)", () => {
  /** Types `keys` when the text has come, and gives what the terminal showed, with the exit code and its settings. */
  async function atTerminal(project: TestProject, verb: string, text: string, keys: string): Promise<string> {
    const line = `trap : INT; "${process.execPath}" "${command}" local ${verb}; echo "code=$?"; stty -a`;
    const child = spawn(script, ["-qec", line, "/dev/null"], {
      cwd: project.folder,
      env: { ...project.environment(), SHELL: "/bin/sh" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill());
    let shown = "";
    let typed = false;
    child.stdout.setEncoding("utf8").on("data", (more: string) => {
      shown += more;
      if (typed || !shown.includes(text)) return;
      typed = true;
      child.stdin.write(keys);
    });
    await new Promise((resolve) => child.once("close", resolve));
    return shown;
  }

  test("Ctrl-C and Ctrl-D at the question, or no for an answer, change nothing and leave the terminal as it was", async () => {
    const { project, service } = await open("local");
    project.declare(declared(0));
    for (const [keys, code, said] of [
      ["\u0003", 8, "confirmation cancelled"],
      ["\u0004", 8, "confirmation cancelled"],
      ["no\r", 1, "confirmation declined"],
    ] as const) {
      const shown = await atTerminal(project, "up --stack test", "(yes/no)", keys);
      expect(shown).toContain(`${said}, not proceeding with the update`);
      expect(shown).toContain(`code=${code}`);
      expect(shown).toMatch(/[^-]icanon/);
      expect(shown).toMatch(/[^-]echo /);
    }
    expect(service.requests).toEqual([]);
  });

  test("Ctrl-C while it runs ends it gently and leaves the terminal as it was", async () => {
    const project = await open("local");
    project.service.faults.set({ kind: "latency", ms: 300, times: "always" });
    project.project.declare(declared(0));
    const shown = await atTerminal(project.project, "up --yes --stack test --parallel 1", "create  merchant", "\u0003");
    expect(shown).toContain("Ctrl-C: what is under way is finished");
    expect(shown).toContain("code=1");
    expect(shown).toMatch(/[^-]icanon/);
    expect(shown).toMatch(/[^-]echo /);
    expectTrueState(project);
  });
});

describe.skipIf(!hasPulumi)("a run on Pulumi's own engine (needs the Pulumi CLI)", () => {
  test.each([1, 3, 6])("is ended gently by Ctrl-C at request %i, and the next run does the rest", async (atRequest) => {
    const project = await open("pulumi");
    project.project.declare(declared(0));
    const { code, output, after } = await project.interrupted({ verb: "up", atRequest });
    expect(code, output).toBe(1);
    expect(output).toContain("^C received; cancelling");
    expectOnlyUnderWay(after);
    expectTrueState(project);
    await project.succeeds("up");
    expectExactly(project.service, 0);
  });

  test("ends at once on a second Ctrl-C, and the next run, told to recover, makes no rule twice", async () => {
    const project = await open("pulumi");
    project.project.declare(declared(0));
    const { code, output } = await project.interrupted({ verb: "up", atRequest: 3, again: true });
    expect(code, output).toBe(8);
    await untilNoneRuns(project.project);
    await project.recovered();
    expectExactly(project.service, 0);
  });
});
