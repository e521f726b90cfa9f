import { execFile } from "node:child_process";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  /** Both streams, as a person sees them. */
  readonly output: string;
}

/** Nothing here takes this long; what does is stuck. */
const limitMs = 600_000;

/** Runs a command to its end. A command that cannot be started, or that a signal ended, has the code -1. */
export function runCommand(
  [file = "", ...words]: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<Ran> {
  return new Promise((resolve) => {
    const all = { ...options, maxBuffer: 64 << 20, timeout: limitMs };
    const child = execFile(file, words, all, (error, stdout, stderr) => {
      const why = error === null || typeof error.code === "number" ? "" : `${error.message}\n`;
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, stdout, output: stdout + stderr + why });
    });
    child.stdin?.end();
  });
}
