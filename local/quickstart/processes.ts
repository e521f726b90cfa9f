import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, lstatSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { ownEnvironment } from "../testing/settings.ts";
import type { Engine } from "./project.ts";

/** The signals for work that can be interrupted. */
export interface Interrupts {
  /** Begin nothing more; the work then tidies up. */
  readonly interrupted: AbortSignal;
  /** Wait for no child any longer. */
  readonly impatient: AbortSignal;
}

/** Shows what is run. */
interface Display {
  /** Shows a command that is about to be carried out. Throws when the story is interrupted. */
  command(line: string): void;
  /** Shows a line that the command printed. */
  output(line: string): void;
}

/** The expected end and output of a command. */
interface Expected {
  readonly code: number | "not 0";
  readonly says?: readonly RegExp[];
}

interface EngineRunOptions {
  readonly engine: Engine;
  readonly narrator: Display;
  readonly interrupts: Interrupts;
  /** The project's folder. */
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The file of the command `merchant-rules`. */
  readonly merchantRules: string;
}

/** Runs commands of the engine as a user would, and shows each with what it prints. */
export class EngineRuns {
  readonly #options: EngineRunOptions;

  constructor(options: EngineRunOptions) {
    this.#options = options;
  }

  /** Returns a command of the engine as a user types it. */
  line(...words: string[]): string {
    return [...this.#options.engine.words, ...words].join(" ");
  }

  /** Runs a command, and returns its output. Throws where it does not end as it should, or is interrupted. */
  async run({ code, says = [] }: Expected, ...words: string[]): Promise<string> {
    const { narrator, interrupts } = this.#options;
    const line = this.line(...words);
    narrator.command(line);
    const { output, exitCode } = await this.#carryOut(words);
    interrupts.interrupted.throwIfAborted();
    const asExpected = code === "not 0" ? exitCode !== 0 : exitCode === code;
    if (!asExpected) throw new Error(`\`${line}\` should exit with ${code}, and exited with ${exitCode}`);
    for (const what of says) if (!what.test(output)) throw new Error(`\`${line}\` should say ${what}`);
    return output;
  }

  #carryOut(words: readonly string[]): Promise<{ readonly output: string; readonly exitCode: number | string }> {
    const { engine, narrator, interrupts, cwd, environment, merchantRules } = this.#options;
    const [file, before] =
      engine.name === "pulumi" ? ["pulumi", []] : [process.execPath, [merchantRules, ...engine.words.slice(3)]];
    const child = spawn(file, [...before, ...words], {
      cwd,
      // Settings of a real service, or of another stack, have no business here.
      env: ownEnvironment({ ...environment, ...quietCli }),
      stdio: ["ignore", "pipe", "pipe"],
      // A group of its own: a Ctrl-C of the terminal comes to this process alone, which passes it on once.
      detached: process.platform !== "win32",
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on("line", (text) => {
        output += `${text}\n`;
        narrator.output(text);
      });
    const end = (): void => void child.kill("SIGINT");
    const endAtOnce = (): void => {
      if (child.pid === undefined || child.exitCode !== null) return;
      process.kill(process.platform === "win32" ? child.pid : -child.pid, "SIGKILL");
    };
    const ended = new AbortController();
    interrupts.interrupted.addEventListener("abort", end, { signal: ended.signal });
    interrupts.impatient.addEventListener("abort", endAtOnce, { signal: ended.signal });
    return new Promise<{ output: string; exitCode: number | string }>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (exitCode, signal) => resolve({ output, exitCode: exitCode ?? signal ?? "no code" }));
    }).finally(() => ended.abort());
  }
}

/** Turns off what the CLI prints at a terminal alone: it has no place between these lines. */
const quietCli = {
  PULUMI_SKIP_UPDATE_CHECK: "true",
  PULUMI_OPTION_NON_INTERACTIVE: "true",
  PULUMI_OPTION_SUPPRESS_PROGRESS: "true",
};

const startMs = 60_000;

interface StartOptions {
  readonly narrator: Display;
  readonly interrupted: AbortSignal;
  /** The quickstart's folder, for the rules and the log. */
  readonly folder: string;
  /** The file of the command `merchant-rules`. */
  readonly merchantRules: string;
  /** Hears of the process as soon as there is one. */
  readonly onProcess: (service: ChildProcess) => void;
}

/** Starts the local rules service in a process of its own, which outlives this one. Returns its address. */
export async function startService(options: StartOptions): Promise<string> {
  const { narrator, interrupted, folder, merchantRules, onProcess } = options;
  const words = ["serve", "--contract", "illustrative", "--port", "0", "--data", join(folder, "rules.sqlite")];
  narrator.command(["npx", "--no-install", "merchant-rules", ...words].join(" "));
  // Its output goes to a file: with --keep it outlives this process, and a pipe would not.
  const log = join(folder, "service.log");
  const output = openSync(log, "w");
  const child = spawn(process.execPath, [merchantRules, ...words], {
    cwd: folder,
    detached: true,
    stdio: ["ignore", output, output],
  });
  child.unref();
  let failure: Error | undefined;
  child.on("error", (error) => {
    failure = error;
  });
  onProcess(child);
  for (const until = performance.now() + startMs; performance.now() < until; await sleep(50)) {
    interrupted.throwIfAborted();
    if (failure !== undefined) throw failure;
    const text = readFileSync(log, "utf8");
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
    if (url !== undefined) {
      for (const line of text.split("\n").slice(0, 2)) narrator.output(line);
      return url;
    }
    if (child.exitCode !== null) throw new Error(`the service did not start:\n${text}`);
  }
  throw new Error(
    `the service did not print its address within ${startMs / 1000} seconds; it printed:\n${readFileSync(log, "utf8")}`,
  );
}

/** A process that another one can find again: an id alone may belong to somebody else by then. */
const processSchema = z.object({ pid: z.int().positive(), command: z.string().min(1) });
export type KnownProcess = z.infer<typeof processSchema>;

const patienceMs = 10_000;

/** Describes the process of an id; undefined where it has ended, or where the system does not tell. */
export function knownProcess(pid: number): KnownProcess | undefined {
  const command = commandOf(pid);
  return command === undefined ? undefined : { pid, command };
}

function isRunning({ pid, command }: KnownProcess): boolean {
  return commandOf(pid) === command;
}

/** Ends the process, politely first. Returns whether it ran. Touches no other process that has its id now. */
async function stop(known: KnownProcess): Promise<boolean> {
  if (!isRunning(known)) return false;
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    process.kill(known.pid, signal);
    for (const until = performance.now() + patienceMs; performance.now() < until; await sleep(20))
      if (!isRunning(known)) return true;
  }
  throw new Error(`process ${known.pid} does not end, even by SIGKILL`);
}

/** Returns the command line of a process. One that has ended, but is still listed, has none. */
function commandOf(pid: number): string | undefined {
  const text = existsSync("/proc/self/cmdline") ? fromProc(pid) : fromPs(pid);
  return text === undefined || text.trim() === "" ? undefined : text.trim();
}

function fromProc(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    // It has ended, perhaps while it was read.
    return undefined;
  }
}

function fromPs(pid: number): string | undefined {
  const { status, stdout } = spawnSync("ps", ["-ww", "-p", String(pid), "-o", "command="], { encoding: "utf8" });
  return status === 0 ? stdout : undefined;
}

/** The beginning of the name of each quickstart's folder, in the folder for temporary files. */
export const folderPrefix = "merchant-rules-quickstart-";

const recordFile = "quickstart.json";

const recordSchema = z.object({
  /** True where the user wanted it to stay. */
  kept: z.boolean(),
  runner: processSchema.optional(),
  service: processSchema.extend({ url: z.string().optional() }).optional(),
});

/** The notes of a quickstart in its folder, by which another process can clean up after it. */
type QuickstartRecord = z.infer<typeof recordSchema>;

/** A quickstart's folder with what is noted there. */
export interface NotedFolder {
  readonly folder: string;
  readonly record: QuickstartRecord;
}

export function writeRecord(folder: string, record: QuickstartRecord): void {
  const file = join(folder, recordFile);
  writeFileSync(`${file}.new`, JSON.stringify(record, null, 2));
  renameSync(`${file}.new`, file);
}

/** Finds the quickstarts of this user: those that still run, and those that have left something behind. */
export function findQuickstarts(): { readonly running: NotedFolder[]; readonly left: NotedFolder[] } {
  const parent = tmpdir();
  const found = readdirSync(parent)
    .filter((name) => name.startsWith(folderPrefix))
    .map((name) => join(parent, name))
    .filter(isOwn)
    .flatMap((folder): NotedFolder[] => {
      const record = readRecord(folder);
      return record === undefined ? [] : [{ folder, record }];
    });
  const runs = ({ record: { kept, runner } }: NotedFolder): boolean =>
    !kept && runner !== undefined && isRunning(runner);
  return { running: found.filter(runs), left: found.filter((each) => !runs(each)) };
}

/** Stops the service of a quickstart and removes its folder. Returns what was done, a sentence each. */
export async function cleanUp({ folder, record: { service } }: NotedFolder): Promise<string[]> {
  const done: string[] = [];
  if (service !== undefined) {
    const name = serviceName(service);
    done.push((await stop(service)) ? `Stopped ${name}.` : `Not running any more: ${name}.`);
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  return [...done, `Removed ${folder}: the program, the stack with its state and settings, the service's rules.`];
}

export function serviceName({ pid, url }: NonNullable<QuickstartRecord["service"]>): string {
  return `the service${url === undefined ? "" : ` at ${url}`} (process ${pid})`;
}

/** Decides whether a folder is this user's: in one that everybody may write to, another's could name any process and path. */
function isOwn(folder: string): boolean {
  const status = lstatSync(folder, { throwIfNoEntry: false });
  return status?.isDirectory() === true && (process.getuid === undefined || status.uid === process.getuid());
}

function readRecord(folder: string): QuickstartRecord | undefined {
  const file = join(folder, recordFile);
  // Without a record the quickstart has only begun, or is being removed.
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  return recordSchema.parse(JSON.parse(readFileSync(file, "utf8")));
}
