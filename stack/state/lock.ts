import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { EngineError, systemCode } from "../errors.ts";
import type { Backend, StackName } from "./backend.ts";
import { readIfThere, tryJson } from "./files.ts";

const contentSchema = z.looseObject({
  pid: z.int().positive(),
  username: z.string(),
  hostname: z.string(),
  timestamp: z.string(),
});

/** The locks of this process, told from those of an earlier process that had the same pid. */
const held = new Set<string>();

/** A lock that this process holds on a stack. */
export interface Lock {
  release(): void;
}

/**
 * Takes the CLI's lock on a stack. A lock whose process is gone from this host is removed, and `onStale` told; any other
 * one is an error that names its holder and file.
 */
export async function takeLock(backend: Backend, stack: StackName, onStale: (message: string) => void): Promise<Lock> {
  const folder = backend.lockFolder(stack);
  const file = join(folder, `${randomUUID()}.json`);
  mkdirSync(folder, { recursive: true });
  await clearOrFail(folder, file, onStale);
  const content = {
    pid: process.pid,
    username: userInfo().username,
    hostname: hostname(),
    timestamp: new Date().toISOString(),
  };
  const release = (): void => {
    process.off("exit", release);
    held.delete(file);
    rmSync(file, { force: true });
  };
  // A run that is ended at once leaves no lock that somebody would have to look into.
  process.on("exit", release);
  writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
  held.add(file);
  try {
    // Whoever came at the same moment sees this lock, as this look sees theirs.
    await clearOrFail(folder, file, onStale);
  } catch (error) {
    release();
    throw error;
  }
  return { release };
}

async function clearOrFail(folder: string, own: string, onStale: (message: string) => void): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    if (!name.endsWith(".json") || file === own) continue;
    const text = await readIfThere(file);
    if (text === undefined) continue;
    const content = contentSchema.safeParse(tryJson(text));
    if (!content.success) {
      throw new EngineError(
        "LOCKED",
        `the stack is locked, and the lock file ${file} cannot be read; if no run is going on, delete that file`,
      );
    }
    const { pid, username, hostname: host, timestamp } = content.data;
    if (host === hostname() && !isAlive(pid, file)) {
      rmSync(file, { force: true });
      rmSync(`${file}.attrs`, { force: true });
      onStale(`took over the lock of a run that ended without releasing it (pid ${pid}, ${timestamp})`);
      continue;
    }
    throw new EngineError(
      "LOCKED",
      `the stack is locked by ${username}@${host} (pid ${pid}) since ${timestamp}: wait for that run to end, or, if it is gone, delete ${file}`,
    );
  }
}

function isAlive(pid: number, file: string): boolean {
  if (pid === process.pid) return held.has(file);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}
