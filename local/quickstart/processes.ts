import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";

/** A process that another one can find again: an id alone may belong to somebody else by then. */
export const processSchema = z.object({ pid: z.int().positive(), command: z.string().min(1) });
export type KnownProcess = z.infer<typeof processSchema>;

const patienceMs = 10_000;

/** The process as it is now; undefined where it has ended, or where the system does not tell. */
export function knownProcess(pid: number): KnownProcess | undefined {
  const command = commandOf(pid);
  return command === undefined ? undefined : { pid, command };
}

export function isRunning({ pid, command }: KnownProcess): boolean {
  return commandOf(pid) === command;
}

/** Ends the process, politely first. Gives whether it ran. Touches no other process that has its id now. */
export async function stop(known: KnownProcess): Promise<boolean> {
  if (!isRunning(known)) return false;
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    process.kill(known.pid, signal);
    for (const until = performance.now() + patienceMs; performance.now() < until; await sleep(20))
      if (!isRunning(known)) return true;
  }
  throw new Error(`process ${known.pid} does not end, even by SIGKILL`);
}

/** The command line of a process. One that has ended, but is still listed, has none. */
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
