import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { reasonOf } from "../../sdk/json/json.ts";

/** Files to be written: their contents by path, from the folder that is written to. */
export type Files = ReadonlyMap<string, string>;

/**
 * Writes files, after all of them were looked at: without `force` none may be there.
 * @returns rule files in the rules' folder that are not among these; only with `force`
 * @throws MerchantRulesError SETTINGS_INVALID: files are there, which are named, or a file cannot be written
 */
export function writeFiles(folder: string, files: Files, rulesFolder: string | undefined, force: boolean): string[] {
  const others = otherRules(folder, rulesFolder, files);
  const inTheWay = [...[...files.keys()].filter((file) => existsSync(join(folder, file))), ...others];
  if (inTheWay.length > 0 && !force) {
    const shown = inTheWay.slice(0, 10).map((file) => join(folder, file));
    const more = inTheWay.length > shown.length ? ` and ${inTheWay.length - shown.length} more` : "";
    const reason = `these files exist already, so nothing was written: ${shown.join(", ")}${more}`;
    const advice =
      "give another folder with --out, or move them away; --force writes over them, and leaves the other files of the rules' folder, which loadRules reads as well";
    throw new MerchantRulesError("SETTINGS_INVALID", reason, { attempted: "export rules", advice });
  }
  for (const [file, text] of files) {
    const path = join(folder, file);
    try {
      makeFolder(dirname(path));
      writeFileSync(path, text, { flag: force ? "w" : "wx" });
    } catch (cause) {
      const advice = "give a folder that can be written to with --out";
      const options = { attempted: `write ${path}`, advice, cause };
      throw new MerchantRulesError("SETTINGS_INVALID", reasonOf(cause), options);
    }
  }
  return others;
}

/**
 * Writes new files, all of them or none: where one cannot be written, those before it are removed again. No signal ends
 * the process meanwhile.
 * @param attempted in words, for messages: `write a project`
 * @param changed files that are there, with their new contents; written last
 * @throws MerchantRulesError SETTINGS_INVALID: files are there already, which are all named, or one cannot be written
 */
export function writeNewFiles(folder: string, files: Files, attempted: string, changed: Files = new Map()): void {
  demandFree(folder, [...files.keys()], attempted);
  const written: string[] = [];
  const later = (): void => {};
  for (const signal of endings) process.on(signal, later);
  try {
    for (const [file, text] of files) {
      const path = join(folder, file);
      written.push(...makeFolder(dirname(path)));
      writeFileSync(path, text, { flag: "wx" });
      written.push(path);
    }
    for (const [file, text] of changed) {
      const path = realpathSync(join(folder, file));
      const beside = `${path}.${process.pid}.new`;
      written.push(beside);
      writeFileSync(beside, text, { flag: "wx", mode: statSync(path).mode });
      // A full disk leaves the old file.
      renameSync(beside, path);
    }
  } catch (cause) {
    for (const path of written.toReversed()) rmSync(path, { recursive: true, force: true });
    const advice = "name a folder that can be written to; nothing was left there";
    throw new MerchantRulesError("SETTINGS_INVALID", reasonOf(cause), { attempted, advice, cause });
  } finally {
    for (const signal of endings) process.off(signal, later);
  }
}

const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Throws a MerchantRulesError SETTINGS_INVALID that names all files that are there already. */
export function demandFree(folder: string, files: readonly string[], attempted: string): void {
  const inTheWay = [...new Set(files.flatMap((file) => obstacleAt(join(folder, file)) ?? []))];
  if (inTheWay.length === 0) return;
  const names = inTheWay.join(", ");
  const isOne = inTheWay.length === 1;
  const reason = `${isOne ? "this file is" : "these files are"} there already, so nothing was written: ${names}`;
  const advice = `move ${isOne ? "it" : "them"} away, or name another place`;
  throw new MerchantRulesError("SETTINGS_INVALID", reason, { attempted, advice });
}

/** Finds what is at a path already, or is a file where the path needs a folder. */
function obstacleAt(path: string): string | undefined {
  const above = dirname(path);
  if (above !== path && existsSync(above) && !statSync(above).isDirectory()) return above;
  if (above !== path && !existsSync(above)) return obstacleAt(above);
  return lstatSync(path, { throwIfNoEntry: false }) === undefined ? undefined : path;
}

/** Makes folder by folder: Node's own `recursive` never ends where a folder takes no others, as /proc. @returns those that were made */
function makeFolder(path: string): string[] {
  if (existsSync(path)) return [];
  const above = makeFolder(dirname(path));
  mkdirSync(path);
  return [...above, path];
}

/** Finds other files that loadRules would read. */
export function otherRules(folder: string, rulesFolder: string | undefined, files: Files): string[] {
  if (rulesFolder === undefined) return [];
  const path = join(folder, rulesFolder);
  if (!existsSync(path)) return [];
  const own = new Set([...files.keys()].map((file) => file.normalize("NFC").toLowerCase()));
  return readdirSync(path)
    .filter((name) => /^[^.].*\.(?:ya?ml|json)$/i.test(name))
    .map((name) => join(rulesFolder, name))
    .filter((file) => !own.has(file.normalize("NFC").toLowerCase()))
    .sort();
}
