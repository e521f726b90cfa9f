import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { ownEnvironment } from "../testing/settings.ts";
import type { Interrupts } from "./interrupt.ts";
import type { Narrator } from "./narrator.ts";

export type EngineName = "pulumi" | "local";

export interface Engine {
  readonly name: EngineName;
  /** The reason for this one, in a sentence for the user. */
  readonly why: string;
  /** The words before the verb, as a user types them. */
  readonly words: readonly string[];
}

/** The engine that is wanted, else Pulumi's own where its CLI is on the PATH. Undefined: the CLI is wanted, and is not there. */
export function chosenEngine(wanted: EngineName | undefined): Engine | undefined {
  if (wanted === "local") return localEngine("The local engine, because --engine local says so.");
  const hasCli = spawnSync("pulumi", ["version"], { stdio: "ignore" }).status === 0;
  if (hasCli) {
    const reason =
      wanted === "pulumi"
        ? "because --engine pulumi says so"
        : "because the CLI is on the PATH; --engine local takes the local one";
    return { name: "pulumi", why: `Pulumi's own, ${reason}.`, words: ["pulumi"] };
  }
  if (wanted === "pulumi") return undefined;
  return localEngine("The local engine, because the Pulumi CLI is not on the PATH; where it is, it is used.");
}

function localEngine(why: string): Engine {
  return { name: "local", why, words: ["npx", "--no-install", "merchant-rules", "local"] };
}

/** The expected end and output of a command. */
interface Expected {
  readonly code: number | "not 0";
  readonly says?: readonly RegExp[];
}

interface EngineRunOptions {
  readonly engine: Engine;
  readonly narrator: Narrator;
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

  line(...words: string[]): string {
    return [...this.#options.engine.words, ...words].join(" ");
  }

  /** Gives what the command printed. Throws where it does not end as it should, or is interrupted. */
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
    interrupts.interrupted.addEventListener("abort", end);
    interrupts.impatient.addEventListener("abort", endAtOnce);
    return new Promise<{ output: string; exitCode: number | string }>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (exitCode, signal) => resolve({ output, exitCode: exitCode ?? signal ?? "no code" }));
    }).finally(() => {
      interrupts.interrupted.removeEventListener("abort", end);
      interrupts.impatient.removeEventListener("abort", endAtOnce);
    });
  }
}

/** Turns off what the CLI prints at a terminal alone: it has no place between these lines. */
const quietCli = {
  PULUMI_SKIP_UPDATE_CHECK: "true",
  PULUMI_OPTION_NON_INTERACTIVE: "true",
  PULUMI_OPTION_SUPPRESS_PROGRESS: "true",
};
