import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { reasonOf } from "../../sdk/rules/json.ts";

/** Files to be written: their texts by path, from the folder that is written to. */
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

/** Folder by folder: Node's own `recursive` never ends where a folder takes no others, as /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}

/** Other files that loadRules would read. */
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
