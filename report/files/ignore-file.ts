import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { printable } from "../../sdk/json/printable.ts";
import { type RulePattern, rulePattern } from "./rule-pattern.ts";

/** The file that is found in a project's folder without being named. */
export const ignoreFileName = ".merchant-rules-ignore";

/** One line of an ignore file: which unmanaged rules it means. */
export interface IgnoreLine {
  /** As it is written. */
  readonly text: string;
  /** `.merchant-rules-ignore:3`. */
  readonly at: string;
  readonly matches: RulePattern;
}

/**
 * Reads the lines of an ignore file that mean unmanaged rules: a {@link rulePattern} a line; `#` begins a comment line.
 * Without a named file, the one in the folder, if it is there.
 * @throws MerchantRulesError SETTINGS_INVALID: the named file cannot be read, or a line cannot be understood
 */
export function readIgnoreFile(named: string | undefined, folder: string): IgnoreLine[] {
  return linesOfIgnoreFile(named, folder).flatMap(({ text, at }) => (isLintLine(text) ? [] : [lineOf(text, at)]));
}

export function isLintLine(text: string): boolean {
  return text.startsWith("lint:");
}

/**
 * Reads the lines of an ignore file that are not empty and no comments, and where each stands.
 * @throws MerchantRulesError SETTINGS_INVALID: the named file cannot be read
 */
export function linesOfIgnoreFile(named: string | undefined, folder: string): Pick<IgnoreLine, "text" | "at">[] {
  const file = named ?? join(folder, ignoreFileName);
  if (named === undefined && !existsSync(file)) return [];
  const shown = named ?? ignoreFileName;
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const advice = "name a file that can be read with --ignore-file, or leave the option out";
    throw new MerchantRulesError("SETTINGS_INVALID", reason, { attempted: `read ignore file ${shown}`, advice, cause });
  }
  return text.split("\n").flatMap((line, index) => {
    const said = line.trim();
    return said === "" || said.startsWith("#") ? [] : [{ text: said, at: `${shown}:${index + 1}` }];
  });
}

function lineOf(text: string, at: string): IgnoreLine {
  const matches = text.startsWith("path:")
    ? "names a path, and no change of a managed rule can be ignored"
    : rulePattern(text);
  if (typeof matches !== "string") return { text, at, matches };
  const advice =
    "write the name of an unmanaged rule, or id: and its ruleId, one a line; * stands for any characters, ? for one, and # begins a comment";
  throw new MerchantRulesError("SETTINGS_INVALID", `${at}: ${printable(text, 100)} ${matches}`, { advice });
}
