import { setTimeout as sleep } from "node:timers/promises";
import { defined } from "../../../sdk/json/index.ts";
import type { Project } from "../../../stack/project/project.ts";
import { type Config, secretKeysOf, textsOf } from "../../../stack/project/stack-config.ts";
import { Child, resolveSdkModule } from "./child.ts";
import { messageOfLine } from "./program-output.ts";
import type { Severity } from "./registration.ts";

/** The run, as a program is told of it. */
export interface ProgramRun {
  readonly project: Project;
  readonly stack: string;
  readonly config: Config;
  readonly preview: boolean;
  readonly parallel: number;
}

interface ProgramOptions extends ProgramRun {
  readonly monitorAddress: string;
  readonly env: NodeJS.ProcessEnv;
  /** Gets what the program logs and prints, line by line. */
  readonly onOutput: (severity: Severity, message: string) => void;
}

/** The end of a program. `reported`: it has told the user itself what went wrong. */
export interface ProgramEnd {
  readonly ok: boolean;
  readonly reported: boolean;
  /** As in "the program ended with exit code 1". */
  readonly description: string;
  /** The error that the program threw, where it is known. */
  readonly cause?: unknown;
}

/** A program that has been started. */
export interface RunningProgram {
  readonly ended: Promise<ProgramEnd>;
  /** Waits a little for the program to end by itself, which it does when the engine is gone; then ends it. */
  stop(graceMs: number): Promise<void>;
  kill(): void;
}

/** The exit code by which the SDK says that the user has seen the error already. */
const reportedExitCode = 32;

/** A running Pulumi program: the SDK's own `cmd/run`, started as the CLI's language host starts it. */
export class ProgramHost implements RunningProgram {
  readonly #child: Child;
  readonly ended: Promise<ProgramEnd>;

  constructor(options: ProgramOptions) {
    const { project, stack, config, monitorAddress, preview, parallel, env, onOutput } = options;
    const onLines = (lines: readonly string[]): void => {
      for (const line of lines) onOutput(...messageOfLine(line));
    };
    // No --engine: with one, the SDK sends several debug messages a resource there, each by a call of its own. Without
    // it, what the program logs comes out on its streams.
    const flags = {
      "--monitor": monitorAddress,
      "--organization": "organization",
      "--project": project.name,
      "--root-directory": project.root,
      "--stack": stack,
      "--pwd": project.programFolder,
      "--parallel": String(parallel),
    };
    const args = [...Object.entries(flags).flat(), ...(preview ? ["--dry-run"] : []), project.entryPoint];
    this.#child = new Child(resolveSdkModule("cmd/run", project.programFolder), args, {
      cwd: project.programFolder,
      env: { ...env, ...configEnvironment(config), ...typescriptEnvironment(project) },
      nodeArguments: project.nodeArguments,
      onStdout: onLines,
      onStderr: onLines,
    });
    this.ended = this.#child.exited.then(({ code, signal }) => {
      const description = `ended with ${signal === null ? `exit code ${code}` : `signal ${signal}`}`;
      return { ok: code === 0, reported: code === reportedExitCode, description };
    });
    this.ended.catch(() => {});
  }

  async stop(graceMs: number): Promise<void> {
    await Promise.race([this.ended.catch(() => {}), sleep(graceMs, undefined, { ref: false })]);
    await this.#child.end(1_000);
  }

  kill(): void {
    this.#child.kill();
  }
}

/** Returns the variables by which the SDK reads the stack's configuration. */
export function configEnvironment(config: Config): NodeJS.ProcessEnv {
  const values = Object.entries(textsOf(config)).map(([key, text]) => [key.replace(":", ":config:"), text]);
  return {
    PULUMI_CONFIG: JSON.stringify(Object.fromEntries(values)),
    PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(secretKeysOf(config)),
  };
}

function typescriptEnvironment({ typescript, tsconfig }: Project): NodeJS.ProcessEnv {
  return defined({
    PULUMI_NODEJS_TYPESCRIPT: typescript ? "true" : undefined,
    PULUMI_NODEJS_TSCONFIG_PATH: tsconfig,
  });
}
