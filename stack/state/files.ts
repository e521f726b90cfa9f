import { isUtf8 } from "node:buffer";
import { randomBytes } from "node:crypto";
import {
  closeSync,
  fchmodSync,
  fsync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { EngineError, messageOf, systemCode } from "../errors.ts";

const sync = promisify(fsync);

/** Replaces a file as a whole, also in a crash. @param mode of the new file. Default: it is the user's alone */
export function writeAtomically(path: string, text: string, mode = 0o600): void {
  const temporary = temporaryOf(path);
  const fd = openSync(temporary, "w", 0o600);
  try {
    try {
      if (mode !== 0o600) fchmodSync(fd, mode);
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
}

export interface Replacement {
  /** The promise to wait for before the file is replaced. */
  readonly ready: Promise<void>;
  /** The file is replaced again later: after a power failure it may be the one before this. */
  readonly goesOn: boolean;
}

/** Replaces a file as `writeAtomically`, while other work goes on. */
export async function replaceAtomically(path: string, text: Buffer, { ready, goesOn }: Replacement): Promise<void> {
  const temporary = temporaryOf(path);
  const fd = openSync(temporary, "w", 0o600);
  try {
    try {
      writeFileSync(fd, text);
      await sync(fd);
    } finally {
      closeSync(fd);
    }
    await ready;
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  if (!goesOn) syncFolder(dirname(path));
}

function temporaryOf(path: string): string {
  return `${path}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`;
}

/** Makes a folder and those above it, so that they are there after a power failure, too. */
export function makeFolderDurably(path: string): void {
  const first = mkdirSync(path, { recursive: true });
  if (first === undefined) return;
  const last = dirname(first);
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    syncFolder(folder);
    if (folder === last || folder === dirname(folder)) return;
  }
}

/** Makes renames in a folder durable; some systems cannot open a folder, and need not. */
function syncFolder(folder: string): void {
  let fd: number | undefined;
  try {
    fd = openSync(folder, "r");
    fsyncSync(fd);
  } catch {
    // Best effort: the file itself is complete either way.
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/**
 * Reads the text of a file; undefined when there is none. Fails, naming the file, where it cannot be read, or what `part`
 * gives of it is not UTF-8.
 */
export async function readIfThere(
  path: string,
  part: (bytes: Buffer) => Buffer = (bytes) => bytes,
): Promise<string | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    if (systemCode(cause) === "ENOENT" || systemCode(cause) === "ENOTDIR") return undefined;
    throw new EngineError("FAILED", `${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
  if (!isUtf8(part(bytes))) throw new EngineError("FAILED", `${path} cannot be read: it is not UTF-8`);
  return bytes.toString();
}

/** Parses JSON; undefined where the text is none. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
