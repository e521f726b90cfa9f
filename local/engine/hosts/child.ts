import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import type { Readable } from "node:stream";
import { EngineError, systemCode } from "../../../stack/errors.ts";

// The sources run as they are in tests, and compiled from dist.
const preload = `--import=${new URL(`./child-preload${extname(import.meta.url)}`, import.meta.url).href}`;

interface ChildOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly nodeArguments?: readonly string[];
  readonly onStdout: OnLines;
  readonly onStderr: OnLines;
}

/** Hears what is printed, by the line. `isWhole` is whether nothing of a next line has come yet. */
export type OnLines = (lines: readonly string[], isWhole: boolean) => void;

/** The end of a child. */
export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** One Node process of a run, with the Node that runs this one. It never outlives this process. */
export class Child {
  readonly #process: ChildProcess;
  readonly exited: Promise<ChildExit>;

  constructor(script: string, args: readonly string[], options: ChildOptions) {
    const { cwd, env, nodeArguments = [], onStdout, onStderr } = options;
    this.#process = spawn(process.execPath, [preload, ...nodeArguments, script, ...args], {
      cwd,
      env: { ...compileCache(cwd), ...env, MERCHANT_RULES_ENGINE_CHILD: "1" },
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      // A group of its own: Ctrl-C is for this process, which then lets the child finish what it is doing.
      detached: process.platform !== "win32",
    });
    readLines(this.#process.stdout, onStdout);
    readLines(this.#process.stderr, onStderr);
    this.exited = new Promise((resolve, reject) => {
      this.#process.on("error", (cause) =>
        reject(new EngineError("FAILED", `${script} cannot be started: ${cause.message}`, { cause })),
      );
      this.#process.on("close", (code, signal) => resolve({ code, signal }));
    });
    // The run awaits it where it matters; an early failure must not count as unhandled until then.
    this.exited.catch(() => {});
  }

  get running(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null && this.#process.pid !== undefined;
  }

  /** Ends the process and what it started: politely, and after `graceMs` for good. */
  async end(graceMs: number): Promise<void> {
    if (!this.running) return;
    this.#signal("SIGTERM");
    const timer = setTimeout(() => this.#signal("SIGKILL"), graceMs);
    await this.exited.catch(() => {});
    clearTimeout(timer);
  }

  kill(): void {
    if (this.running) this.#signal("SIGKILL");
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#process;
    try {
      if (pid !== undefined && process.platform !== "win32") process.kill(-pid, signal);
      else this.#process.kill(signal);
    } catch (error) {
      // It may have ended a moment ago.
      if (systemCode(error) !== "ESRCH") throw error;
    }
  }
}

/** Reads a stream by the line. Not by node:readline, which breaks lines at more than line feeds. */
function readLines(stream: Readable | null, onLines: OnLines): void {
  let rest = "";
  stream?.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    onLines(lines, rest === "");
  });
  stream?.on("end", () => rest !== "" && onLines([rest], true));
}

/** Returns where compiled modules are kept: to compile the SDK anew takes half of the time of a small program. A policy pack may be part of a package. */
function compileCache(folder: string): NodeJS.ProcessEnv {
  const modules = join(folder, "node_modules");
  if (existsSync(modules)) return { NODE_COMPILE_CACHE: join(modules, ".cache/merchant-rules/compiled") };
  return dirname(folder) === folder ? {} : compileCache(dirname(folder));
}

/** Finds a module of the Pulumi SDK as the program itself would. */
export function resolveSdkModule(module: string, folder: string): string {
  try {
    return createRequire(join(folder, "package.json")).resolve(`@pulumi/pulumi/${module}`);
  } catch (cause) {
    const isBroken = systemCode(cause) === "ERR_INVALID_PACKAGE_CONFIG";
    const reason = isBroken
      ? `package.json cannot be read: correct it in ${folder}`
      : `@pulumi/pulumi is not installed for the program: run npm install in ${folder}`;
    throw new EngineError("PROJECT_INVALID", reason, { cause });
  }
}
