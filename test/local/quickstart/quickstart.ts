import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export const root = fileURLToPath(new URL("../../..", import.meta.url));

/** A folder for temporary files, of one test alone: so the quickstart there sees no other one. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "quickstart-test-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The files that quickstarts have left there. */
export function leftIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name !== "node-compile-cache");
}

interface StartOptions {
  readonly temporary: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts `npm run quickstart` as it is after the installation, in a process group of its own, as a terminal does. */
export function startQuickstart({ temporary, environment = {} }: StartOptions, ...words: string[]) {
  const child = spawn(process.execPath, ["scripts/quickstart.ts", ...words], {
    cwd: root,
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache"),
      NO_COLOR: "1",
      ...environment,
      TMPDIR: temporary,
    },
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
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(() => void (child.exitCode === null && child.kill("SIGTERM")));
  /** Resolves when that has been said; the test's own timeout is the limit. */
  const said = (what: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      onOutput = () => what.test(output) && resolve();
      onOutput();
      void ended.then(() => reject(new Error(`it ended without saying ${what}:\n${output}`)));
    });
  /** A signal as a terminal sends it, to the whole group; or as kill does, to the process alone. */
  const send = (signal: NodeJS.Signals, to: "group" | "process"): void => {
    if (child.pid !== undefined) process.kill(to === "group" ? -child.pid : child.pid, signal);
  };
  return { ended, said, send, output: () => output };
}

/** Runs it to its end. */
export async function quickstart(
  options: StartOptions,
  ...words: string[]
): Promise<{ readonly code: number | null; readonly output: string }> {
  const { ended, output } = startQuickstart(options, ...words);
  return { code: await ended, output: output() };
}

/** The processes that work in a folder, or have it in their command line; none where the system does not tell. */
export function processesOf(folder: string): string[] {
  if (process.platform !== "linux") return [];
  const told = (pid: string): string => {
    try {
      return `${readlinkSync(`/proc/${pid}/cwd`)} ${readFileSync(`/proc/${pid}/cmdline`, "utf8")}`;
    } catch {
      // It has ended meanwhile.
      return "";
    }
  };
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && told(name).includes(folder));
}
