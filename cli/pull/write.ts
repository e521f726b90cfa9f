import { existsSync, lstatSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { readTextFile } from "../../sdk/files/yaml-document.ts";
import { reasonOf } from "../../sdk/json/json.ts";
import { writeAtomically } from "../../stack/state/files.ts";

/** A file as it is to be. */
export interface FileChange {
  readonly file: string;
  /** The folder of rules in which it must be. */
  readonly folder: string;
  /** Undefined where it is not there yet. */
  readonly before: string | undefined;
  /** Undefined where it is to go. */
  readonly after: string | undefined;
}

/**
 * Returns the reason why a file must not be written, as a sentence; undefined where it may be.
 * @param isNew whether it must not be there yet
 */
export function reasonToRefuse(file: string, folder: string, isNew = false): string | undefined {
  const found = lstatSync(resolve(file), { throwIfNoEntry: false });
  if (isNew && found !== undefined) return `${file} is there already`;
  if (!isNew && found === undefined) return `${file} is not there any more`;
  if (found?.isSymbolicLink() === true) return `${file} is a symbolic link`;
  const isInside = realpathSync(dirname(resolve(file))) === realpathSync(resolve(folder));
  return isInside ? undefined : `${file} is not in ${folder}`;
}

/** Writes whole files. @throws MerchantRulesError SETTINGS_INVALID: one is not as it was read; says what was written */
export function writeChanges(changes: readonly FileChange[]): void {
  const written: string[] = [];
  for (const change of changes) {
    try {
      writeChange(change);
    } catch (cause) {
      const done = written.length === 0 ? "nothing was written" : `written before: ${written.join(", ")}`;
      throw new MerchantRulesError("SETTINGS_INVALID", `${reasonOf(cause)}; ${done}`, {
        attempted: `write ${change.file}`,
        advice: "see that nobody else changes the files meanwhile, and that they may be written; then run this again",
        cause,
      });
    }
    written.push(change.file);
  }
}

function writeChange({ file, folder, before, after }: FileChange): void {
  const refused = reasonToRefuse(file, folder, before === undefined);
  if (refused !== undefined) throw new Error(refused);
  const path = resolve(file);
  if (before !== undefined) {
    const read = readTextFile(path);
    if (!("text" in read) || read.text !== before) throw new Error("the file is not as it was read");
  }
  if (after === undefined) {
    rmSync(path);
    return;
  }
  const mode = before === undefined ? 0o666 & ~process.umask() : lstatSync(path).mode & 0o777;
  writeAtomically(path, hasByteOrderMark(path) ? `\uFEFF${after}` : after, mode);
}

function hasByteOrderMark(path: string): boolean {
  return (
    existsSync(path) &&
    readFileSync(path)
      .subarray(0, 3)
      .equals(Buffer.from([0xef, 0xbb, 0xbf]))
  );
}
