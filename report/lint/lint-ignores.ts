import { MerchantRulesError } from "../../sdk/errors.ts";
import { instantOf } from "../../sdk/json/normal-form.ts";
import { printable } from "../../sdk/json/printable.ts";
import { isLintLine, linesOfIgnoreFile } from "../files/ignore-file.ts";
import { rulePattern } from "../files/rule-pattern.ts";
import { lintKinds } from "../model/kinds.ts";

/** A line of an ignore file that silences a finding of lint for a time. */
export interface LintIgnoreLine {
  /** As it is written. */
  readonly text: string;
  /** `.merchant-rules-ignore:3`. */
  readonly at: string;
  /** The last day on which it holds, in UTC: `2027-03-31`. */
  readonly until: string;
  readonly matches: (kind: string, rule: { readonly ruleId: string; readonly naturalKey: string }) => boolean;
}

/**
 * Reads the lines `lint:<kind> <rule> until <day>` of an ignore file; the rule is a pattern as everywhere.
 * @throws MerchantRulesError SETTINGS_INVALID: the named file cannot be read, or a line cannot be understood
 */
export function readLintIgnores(named: string | undefined, folder: string): LintIgnoreLine[] {
  return linesOfIgnoreFile(named, folder).flatMap(({ text, at }) => (isLintLine(text) ? [lineOf(text, at)] : []));
}

function lineOf(text: string, at: string): LintIgnoreLine {
  const [, word = "", rule = "", until = ""] = /^lint:(\S+)\s+(.*?)\s+until\s+(\S+)$/.exec(text) ?? [];
  const kind = lintKinds.find((each) => each === word);
  const pattern = rulePattern(rule);
  const isDay = /^\d{4}-\d\d-\d\d$/.test(until) && instantOf(`${until}T00:00:00Z`) !== undefined;
  if (kind === undefined) throw refused(text, at, `does not name a kind of finding: ${lintKinds.join(", ")}`);
  if (typeof pattern === "string") throw refused(text, at, pattern);
  if (!isDay) throw refused(text, at, "does not end with the last day on which it holds");
  return { text, at, until, matches: (found, names) => found === kind && pattern(names) };
}

function refused(text: string, at: string, why: string): MerchantRulesError {
  const advice =
    "write lint:, the kind of finding, the name of the rule (or id: and its ruleId), until and a day: lint:catch-all default until 2027-03-31";
  return new MerchantRulesError("SETTINGS_INVALID", `${at}: ${printable(text, 100)} ${why}`, { advice });
}
