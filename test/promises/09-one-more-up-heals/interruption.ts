import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, type TestContext } from "vitest";
import { z } from "zod";
import type { LocalService } from "../../../local/service/index.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { openCommandStack } from "../../support/stack/commands.ts";
import { wordIn } from "../../support/stack/model-stack.ts";
import type { EngineName, TestProject } from "../../support/stack/project.ts";
import { idsOf } from "../../support/stack/service.ts";

export const command = fileURLToPath(new URL("../../../bin/merchant-rules.js", import.meta.url));
export const singles = 3;
export const inSet = 2;
/** Two resources at once: when one of them is the set, all of its rules and one more rule may be under way. */
const writesUnderWay = inSet + 1;
/** What was read first (the list, or a witness), and for each of two resources its rules after their requests, and others. */
const looksUnderWay = 1 + 2 * (inSet + 5);

/** Nothing new was started after the signal; what was under way is looked at. */
export function expectOnlyUnderWay(after: RequestsAfter | undefined): void {
  expect(after?.writes).toBeLessThanOrEqual(writesUnderWay);
  expect(after?.looks).toBeLessThanOrEqual(looksUnderWay);
}

/** Requests that were served from the first signal on. */
export interface RequestsAfter {
  readonly writes: number;
  readonly looks: number;
}

interface Interrupted {
  readonly code: number | null;
  readonly output: string;
  /** Undefined where the run ended before a signal came to be sent. */
  readonly after: RequestsAfter | undefined;
}

interface Interruption {
  readonly verb: string;
  /** The signals are sent while this request of the run is carried out, but not answered. */
  readonly atRequest: number;
  /** Default: one Ctrl-C. */
  readonly signals?: readonly NodeJS.Signals[];
  /** The last signal once more, by hand; the request is then answered only when the run has ended without it. */
  readonly again?: boolean;
}

/** A run has heard the first signal. */
const heard = /what is under way is finished|\^C received; cancelling/;

/** A project over a service of its own, whose runs are interrupted as a terminal does it: the signal goes to the whole process group. */
export async function open(
  engine: EngineName,
  options: { contract?: ContractInput; onTestFinished?: TestContext["onTestFinished"] } = {},
) {
  const { project, service, run, succeeds } = await openCommandStack(engine, options);

  async function interrupted(call: Interruption): Promise<Interrupted> {
    const { verb, atRequest, signals = ["SIGINT"], again = false } = call;
    service.faults.set({ kind: "hold", at: "after", request: atRequest });
    const running = start(project, engine, verb);
    const { child, exited, output } = running;
    const held = await Promise.race([service.faults.nextHeld(), exited.then(() => undefined)]);
    if (held === undefined) {
      service.faults.clear();
      return { code: await exited, output: output(), after: undefined };
    }
    const before = requestsOf(service);
    for (const signal of signals) send(child, signal);
    await running.said(heard);
    if (again) {
      // Two that come sooner after one another are one Ctrl-C that npm passes on.
      await sleep(250);
      for (const signal of signals.slice(-1)) send(child, signal);
    } else held.release();
    const code = await exited;
    held.release();
    service.faults.clear();
    const { writes, looks } = requestsOf(service);
    return { code, output: output(), after: { writes: writes - before.writes, looks: looks - before.looks } };
  }

  /** Goes on after a run whose end nobody has seen: by the word that a refusal names, where it does. */
  async function recovered(): Promise<void> {
    const { code, output } = await run("up");
    if (code !== 0) project.set(recovering(output));
    await succeeds("up");
  }

  return { project, service, interrupted, succeeds, recovered };
}

function requestsOf(service: Pick<LocalService, "requestCount">): RequestsAfter {
  const looks = service.requestCount("list") + service.requestCount("get");
  return { writes: service.requestCount() - looks, looks };
}

/** The variable by which a refusal lets a stack take over what a lost state had. @throws Error: it names none */
export function recovering(text: string): Record<string, string> {
  return wordIn({ text }, "RECOVER");
}

export type Opened = Awaited<ReturnType<typeof open>>;

export function start(project: TestProject, engine: EngineName, verb: string) {
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
  let onOutput = (): void => {};
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      onOutput();
    });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  /** Resolves when the run has said something, or has ended. */
  const said = (what: RegExp): Promise<unknown> =>
    Promise.race([
      exited,
      new Promise<void>((resolve) => {
        onOutput = () => what.test(output) && resolve();
        onOutput();
      }),
    ]);
  return { child, exited, output: () => output, said };
}

export function send({ pid, exitCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined && exitCode === null) process.kill(-pid, signal);
}

export function declared(priority: number): { [name: string]: JsonObject } {
  const one = (k: number): JsonObject => rule(k, { priority: priority + k });
  const rules = Object.fromEntries(Array.from({ length: inSet }, (_, k) => [`k${k}`, one(singles + k)]));
  return {
    ...Object.fromEntries(Array.from({ length: singles }, (_, k) => [`r${k}`, { definition: one(k) }])),
    set: { rules },
  };
}

export function expectExactly(service: Opened["service"], priority: number): void {
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
export function expectTrueState({ project, service }: Opened): void {
  const { latest } = stateSchema.parse(JSON.parse(project.state())).checkpoint;
  const rules = latest.resources.filter(({ type }) => type.includes("MerchantRule"));
  const ids = rules.flatMap(({ outputs = {} }) => [outputs.ruleId ?? [], Object.values(outputs.ruleIds ?? {})].flat());
  expect([...ids].sort()).toEqual(idsOf(service.rules()));
  expect(latest.pending_operations).toEqual([]);
  expect(locks(project)).toEqual([]);
  expect(leftRunning(project)).toEqual([]);
}

export function locks({ backend }: TestProject): string[] {
  const folder = join(backend, ".pulumi/locks");
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".json"));
}

/** The processes that run in the project's folder; none where the system does not tell. */
export function leftRunning({ folder }: TestProject): string[] {
  if (!existsSync("/proc/self/cwd")) return [];
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && workingFolder(name) === folder);
}

/** Ends what still runs in the project's folder. */
export function endLeft(project: TestProject, signal?: NodeJS.Signals): void {
  for (const pid of leftRunning(project)) {
    try {
      process.kill(Number(pid), signal);
    } catch (error) {
      // It has ended by itself meanwhile.
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }
}

/** The test's own timeout is the limit. */
export async function untilNoProviderRuns(project: TestProject): Promise<void> {
  while (leftRunning(project).some((pid) => commandOf(pid).includes("dynamic-provider"))) await sleep(20);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

function workingFolder(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}

/** The test's own timeout is the limit. */
export async function untilNoneRuns(project: TestProject): Promise<void> {
  while (leftRunning(project).length > 0) await sleep(20);
}
