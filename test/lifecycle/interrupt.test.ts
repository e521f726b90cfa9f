import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, type TestContext, test } from "vitest";
import { z } from "zod";
import type { ContractInput } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/rules/index.ts";
import { rule, serve } from "../support/connections.ts";
import { type EngineName, hasPulumi, TestProject } from "../support/project.ts";

const command = fileURLToPath(new URL("../../bin/merchant-rules.js", import.meta.url));
const seed: ContractInput = { version: 1, operations: { delete: { identifyBy: { in: "query" } } } };
/** Twice by hand, not twice by npm. */
const twice: Signals = [
  ["SIGINT", 0],
  ["SIGINT", 250],
];
const singles = 3;
const inSet = 2;
/** Two resources at once: when one of them is the set, the list, all of its rules and one more may be under way. */
const mostUnderWay = 1 + inSet + 1;
/** Every other request, or every one: `npm run test:faults`. */
const stride = process.env.FAULT_MATRIX === "whole" ? 1 : 2;

interface Interrupted {
  readonly code: number | null;
  readonly output: string;
  /** How long it took to end, from the last signal on. */
  readonly endedAfterMs: number;
  /** Requests that were served from the first signal on; undefined where the run ended before it came to be sent. */
  readonly requestsAfter: number | undefined;
}

type Signals = readonly (readonly [signal: NodeJS.Signals, afterMs: number])[];

interface Interruption {
  readonly verb: string;
  /** The signals are sent while this request of the run is carried out, but not answered. */
  readonly atRequest: number;
  /** The first at once, each of the others so long after the one before. */
  readonly signals?: Signals;
  /** Whether the request is answered after the signals, or when the run has ended without it. */
  readonly answered?: boolean;
}

/** A project over a service of its own, whose runs are interrupted as a terminal does it: the signal goes to the whole process group. */
async function open(
  engine: EngineName,
  options: { contract?: ContractInput; onTestFinished?: TestContext["onTestFinished"] } = {},
) {
  const { contract, onTestFinished: onEnd = onTestFinished } = options;
  const served = await serve(contract);
  onEnd(() => served.close());
  const { service } = served;
  const project = new TestProject(served.environment);
  onEnd(() => project.remove());
  await project.init(engine);

  async function interrupted(call: Interruption): Promise<Interrupted> {
    const { verb, atRequest, signals = [["SIGINT", 0]], answered = true } = call;
    service.faults.set({ kind: "hold", at: "after", request: atRequest });
    const { child, exited, output } = start(project, engine, verb);
    const held = await Promise.race([service.faults.nextHeld(), exited.then(() => undefined)]);
    if (held === undefined) {
      service.faults.clear();
      return { code: await exited, output: output(), endedAfterMs: 0, requestsAfter: undefined };
    }
    const before = service.requestCount();
    const last = await send(child, signals);
    if (answered) {
      // Time enough for something new to begin, were there nothing to hinder it.
      await sleep(150);
      held.release();
    }
    const code = await exited;
    const endedAfterMs = performance.now() - last;
    held.release();
    service.faults.clear();
    return { code, output: output(), endedAfterMs, requestsAfter: service.requestCount() - before };
  }

  const succeeds = async (verb: string, ...flags: string[]): Promise<void> => {
    const { code, output } = await project.run(engine, verb, ...flags);
    expect(code, output).toBe(0);
  };
  return { project, service, interrupted, succeeds };
}

type Opened = Awaited<ReturnType<typeof open>>;

function start(project: TestProject, engine: EngineName, verb: string) {
  const local = [command, "local", verb, "--yes", "--stack", project.stack, "--parallel", "2"];
  const skip = verb === "up" || verb === "destroy" ? ["--skip-preview"] : [];
  const real = [verb, "--yes", ...skip, "--stack", project.stack, "--parallel", "2", "--non-interactive"];
  const [file, args] = engine === "local" ? [process.execPath, local] : ["pulumi", [...real, "--color", "never"]];
  const child = spawn(file, args, {
    cwd: project.folder,
    env: project.environment(),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, exited, output: () => output };
}

/** Gives the time of the last signal. */
async function send(child: ChildProcess, signals: Signals): Promise<number> {
  for (const [signal, afterMs] of signals) {
    if (afterMs > 0) await sleep(afterMs);
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, signal);
  }
  return performance.now();
}

function declared(priority: number): { [name: string]: JsonObject } {
  const one = (k: number): JsonObject => rule(k, { priority: priority + k });
  const rules = Object.fromEntries(Array.from({ length: inSet }, (_, k) => [`k${k}`, one(singles + k)]));
  return {
    ...Object.fromEntries(Array.from({ length: singles }, (_, k) => [`r${k}`, { definition: one(k) }])),
    set: { rules },
  };
}

function expectExactly(service: Opened["service"], priority: number): void {
  const live = service.rules().map((each) => each.rule);
  const byName = (a: JsonObject, b: JsonObject): number => String(a.name).localeCompare(String(b.name));
  const wanted = Array.from({ length: singles + inSet }, (_, k) => rule(k, { priority: priority + k }));
  expect([...live].sort(byName)).toEqual(wanted);
}

const stateSchema = z.object({
  checkpoint: z.object({
    latest: z.object({
      resources: z
        .array(
          z.looseObject({
            type: z.string(),
            outputs: z.looseObject({ ruleId: z.unknown(), ruleIds: z.unknown() }).partial().default({}),
          }),
        )
        .default([]),
      pending_operations: z.array(z.unknown()).default([]),
    }),
  }),
});

/** The ids that the state holds are those of the rules at the service; nothing is left open, locked or running. */
function expectTrueState({ project, service }: Opened): void {
  const { latest } = stateSchema.parse(JSON.parse(project.state())).checkpoint;
  const rules = latest.resources.filter(({ type }) => type.includes("MerchantRule"));
  const ids = rules.flatMap(({ outputs = {} }) => [outputs.ruleId ?? [], Object.values(outputs.ruleIds ?? {})].flat());
  expect([...ids].sort()).toEqual(
    service
      .rules()
      .map(({ ruleId }) => ruleId)
      .sort(),
  );
  expect(latest.pending_operations).toEqual([]);
  expect(locks(project)).toEqual([]);
  expect(leftRunning(project)).toEqual([]);
}

function locks({ backend }: TestProject): string[] {
  const folder = join(backend, ".pulumi/locks");
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".json"));
}

/** The processes that run in the project's folder; none where the system does not tell. */
function leftRunning({ folder }: TestProject): string[] {
  if (!existsSync("/proc/self/cwd")) return [];
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && workingFolder(name) === folder);
}

function workingFolder(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}

async function untilNoneRuns(project: TestProject, withinMs: number): Promise<void> {
  const end = performance.now() + withinMs;
  while (leftRunning(project).length > 0 && performance.now() < end) await sleep(20);
  expect(leftRunning(project)).toEqual([]);
}

/** Interrupts a run at its first request, at a later one, and so on. Gives the number that no request had any more. */
async function atEachRequest(project: Opened, verb: string, between: (n: number) => Promise<void>): Promise<number> {
  for (let n = 1; ; n += stride) {
    await between(n);
    const { code, output, requestsAfter } = await project.interrupted({ verb, atRequest: n });
    if (requestsAfter === undefined) {
      expect(code, output).toBe(0);
      return n;
    }
    expect(code, output).toBe(8);
    expect(output).toContain("Ctrl-C: what is under way comes to its end, and nothing new begins");
    expect(output).toContain("Resources:");
    expect(output).toContain("Cancelled: the next run does the rest");
    expect(requestsAfter).toBeLessThanOrEqual(mostUnderWay);
    expectTrueState(project);
  }
}

// Side by side, so what is to be put away is put away by each test's own hook.
describe.concurrent("Ctrl-C at one request of a run after the other on the local engine ends what is under way; the next run does the rest:", {
  timeout: 600_000,
}, () => {
  test("create", async ({ onTestFinished }) => {
    const project = await open("local", { onTestFinished });
    project.project.declare(declared(0));
    const end = await atEachRequest(project, "up", async (n) => {
      if (n === 1) return;
      await project.succeeds("up");
      expectExactly(project.service, 0);
      // Everything goes away by hand, so that the next run has it all to create again.
      for (const { ruleId } of project.service.rules()) project.service.remove(ruleId);
      rmSync(project.project.backend, { recursive: true });
      mkdirSync(project.project.backend);
      // A salt without a state would be no fault, but it is not how a new stack begins.
      rmSync(join(project.project.folder, "Pulumi.test.yaml"), { force: true });
    });
    expect(end).toBeGreaterThan(singles + inSet);
    expectExactly(project.service, 0);
  });

  test("update", async ({ onTestFinished }) => {
    const project = await open("local", { onTestFinished });
    project.project.declare(declared(0));
    await project.succeeds("up");
    const end = await atEachRequest(project, "up", async (n) => {
      if (n > 1) {
        await project.succeeds("up");
        expectExactly(project.service, 100 * (n - stride));
      }
      project.project.declare(declared(100 * n));
    });
    expect(end).toBeGreaterThan(singles + inSet);
    expectExactly(project.service, 100 * end);
  });

  test("delete", async ({ onTestFinished }) => {
    const project = await open("local", { onTestFinished });
    project.project.declare(declared(0));
    const end = await atEachRequest(project, "destroy", async () => {
      await project.succeeds("up");
      expectExactly(project.service, 0);
    });
    expect(end).toBeGreaterThan(singles + inSet);
    expect(project.service.rules()).toEqual([]);
  });

  test("refresh", async ({ onTestFinished }) => {
    const project = await open("local", { contract: seed, onTestFinished });
    project.project.declare(declared(0));
    await project.succeeds("up");
    const end = await atEachRequest(project, "refresh", async () => {
      await project.succeeds("up", "--refresh");
      expectExactly(project.service, 0);
      for (const { ruleId, rule: live } of project.service.rules())
        project.service.put(ruleId, { ...live, priority: 1000 });
    });
    expect(end).toBeGreaterThan(singles + inSet);
    await project.succeeds("up");
    expectExactly(project.service, 0);
  });
});

describe("a run on the local engine", () => {
  test("that is interrupted in a preview ends, and has written nothing", async () => {
    const { project, service } = await open("local");
    project.declare(declared(0));
    project.write(
      "index.js",
      `${project.read("index.js")}\nconsole.log("all declared");\nsetTimeout(() => {}, 60_000);`,
    );
    const { child, exited, output } = start(project, "local", "preview");
    while (!output().includes("all declared") && child.exitCode === null) await sleep(10);
    const from = await send(child, [["SIGINT", 0]]);
    expect(await exited, output()).toBe(8);
    expect(performance.now() - from).toBeLessThan(5_000);
    expect(output()).toContain("Cancelled: this is not the whole preview");
    expect(service.requests).toEqual([]);
    expect(existsSync(join(project.backend, ".pulumi/stacks"))).toBe(false);
    expect(leftRunning(project)).toEqual([]);
  });

  test("is ended gently by SIGTERM, by the end of its terminal, and by one Ctrl-C that comes twice, as under npx", async () => {
    const project = await open("local");
    project.project.declare(declared(0));
    for (const signals of [
      [["SIGTERM", 0]],
      [["SIGHUP", 0]],
      [
        ["SIGINT", 0],
        ["SIGINT", 5],
      ],
    ] satisfies Signals[]) {
      const { code, output } = await project.interrupted({ verb: "up", atRequest: 2, signals });
      expect(code, output).toBe(8);
      expectTrueState(project);
      expect(project.service.rules().length).toBeLessThan(singles + inSet);
      await project.succeeds("destroy");
    }
    await project.succeeds("up");
    expectExactly(project.service, 0);
  });

  test.each([1, 3, 5])(
    "ends at once on a second Ctrl-C, at request %i, and the next run makes no rule twice",
    async (atRequest) => {
      const project = await open("local");
      project.project.declare(declared(0));
      const { code, output, endedAfterMs } = await project.interrupted({
        verb: "up",
        atRequest,
        signals: twice,
        answered: false,
      });
      expect(code, output).toBe(8);
      expect(endedAfterMs).toBeLessThan(1_000);
      expect(output).toContain("Ctrl-C again: ending at once");
      expect(locks(project.project)).toEqual([]);
      await untilNoneRuns(project.project, 1_000);
      await project.succeeds("up");
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
      await untilNoneRuns(project, 10_000);
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
    const { child, exited, output } = start(project, "local", "up");
    while (!output().includes("all declared") && child.exitCode === null) await sleep(10);
    child.kill("SIGKILL");
    await exited;
    await untilNoneRuns(project, 5_000);
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
    expect(shown).toContain("Ctrl-C: what is under way comes to its end");
    expect(shown).toContain("code=8");
    expect(shown).toMatch(/[^-]icanon/);
    expect(shown).toMatch(/[^-]echo /);
    expectTrueState(project);
  });
});

describe.skipIf(!hasPulumi)("a run on Pulumi's own engine (needs the Pulumi CLI)", () => {
  test.each([1, 3, 6])("is ended gently by Ctrl-C at request %i, and the next run does the rest", async (atRequest) => {
    const project = await open("pulumi");
    project.project.declare(declared(0));
    const { code, output, requestsAfter } = await project.interrupted({ verb: "up", atRequest });
    expect(code, output).toBe(1);
    expect(output).toContain("^C received; cancelling");
    expect(requestsAfter).toBeLessThanOrEqual(mostUnderWay);
    expectTrueState(project);
    await project.succeeds("up");
    expectExactly(project.service, 0);
  });

  test("ends at once on a second Ctrl-C, and the next run makes no rule twice", async () => {
    const project = await open("pulumi");
    project.project.declare(declared(0));
    const { code, output } = await project.interrupted({ verb: "up", atRequest: 3, signals: twice, answered: false });
    expect(code, output).toBe(8);
    await untilNoneRuns(project.project, 5_000);
    await project.succeeds("up");
    expectExactly(project.service, 0);
  });
});
