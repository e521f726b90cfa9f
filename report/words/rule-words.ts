import { shortSides, shortWords, unreadable } from "../../meaning/words/short-words.ts";
import { defined, isJsonObject, type Json, type JsonObject } from "../../sdk/json/index.ts";
import { printable } from "../../sdk/json/printable.ts";
import type { Finding, Report, Violation } from "../model/report.ts";

/** How the rules of one connection are put into words. */
export interface Wording {
  /** Which of the rules decides, in words. */
  readonly order: string;
  /** The rules that a definition holds; none of one that is a value list. `shown` is as reports show it. */
  readonly of: (shown: JsonObject) => readonly RuleInWords[];
}

export interface RuleInWords {
  /** `rule 2`, where a definition holds several. */
  readonly label: string;
  readonly words: string;
  /** False where the words say what could not be read. */
  readonly isKnown: boolean;
  /** Lower is asked first. */
  readonly rank: number;
}

/** The rule that a violation is about, as the run will have it and as reports show it; undefined where that is not known. */
export type ViolatingRule = (
  violation: Violation,
) => { readonly definition: Json; readonly connection: string } | undefined;

/**
 * Returns a report with its rules in words: of a changed one both sides, where they differ. They are made of what the
 * report shows of the rule, so they hold no secret.
 * @param wordingOf undefined of a connection whose contract does not say what rules mean: its rules stay as they are
 */
export function withRuleWords(
  report: Report,
  wordingOf: (connection: string | undefined) => Wording | undefined,
  violatingRule: ViolatingRule = () => undefined,
): Report {
  let [said, left] = [0, 0];
  const findings = report.findings.map((finding) => {
    const wording = finding.rule === undefined ? undefined : wordingOf(finding.connection);
    if (wording !== undefined && said >= mostSaid) left += 1;
    if (wording === undefined || said >= mostSaid) return finding;
    said += 1;
    const words = bothSides(finding, wording);
    return words === undefined ? finding : { ...finding, words };
  });
  return {
    ...report,
    findings,
    notes:
      left === 0 ? report.notes : [...report.notes, `The first ${mostSaid} rules are in words, ${left} more are not`],
    violations: report.violations.map((violation) => {
      const rule = violatingRule(violation);
      const wording = rule === undefined ? undefined : wordingOf(rule.connection);
      if (rule === undefined || wording === undefined || !isJsonObject(rule.definition)) return violation;
      const words = textOf(wording.of(rule.definition).filter(({ isKnown }) => isKnown));
      return words === undefined ? violation : { ...violation, words };
    }),
  };
}

/** Nobody reads the words of more rules, and they would take longer than the rest of the report. */
const mostSaid = 1_000;

/** Returns a line for each rule of a definition; undefined of one that holds none. */
export function textOf(rules: readonly RuleInWords[]): string | undefined {
  if (rules.length === 0) return undefined;
  return rules.map(({ label, words }) => (label === "" ? words : `${label}: ${words}`)).join("\n");
}

function bothSides({ rule = {} }: Finding, wording: Wording): Finding["words"] {
  const [before = [], after = []] = [rule.before, rule.after].map((side) => side && wording.of(side));
  const [was, is] = [textOf(without(before, after)), textOf(without(after, before))];
  return was === undefined && is === undefined ? undefined : defined({ before: was, after: is });
}

/** Returns the rules of one side that the other does not have, and those that cannot be read there either. */
function without(rules: readonly RuleInWords[], others: readonly RuleInWords[]): RuleInWords[] {
  const left = others.flatMap(({ words, isKnown }) => (isKnown ? [words] : []));
  return rules.filter(({ words }) => {
    const at = left.indexOf(words);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** A line of words, and the side of a change on which the rule says that. */
export interface SideInWords {
  readonly side: "before" | "after";
  /** As the report calls the side; undefined where both say it, or the rule is on one side alone. */
  readonly label: string | undefined;
  readonly words: string;
  /** The same, no longer than a line should be. */
  readonly short: string;
}

/** Returns the rule of a finding in words; of a changed one both sides. None where the words are not known, or do not differ. */
export function saidOf({ words = {}, rule = {} }: Finding, { sides }: Pick<Report, "sides">): SideInWords[] {
  const isChanged = rule.before !== undefined && rule.after !== undefined;
  const [before = [], after = []] = [words.before, words.after].map((side) => side?.split("\n"));
  const said = (side: "before" | "after", lines: readonly string[], others: readonly string[]): SideInWords[] =>
    lines.map((line, index) => {
      const other = others[index];
      const isPair = isChanged && lines.length === others.length && other !== undefined;
      const [short] = isPair ? shortSides(line, other) : [shortWords(line)];
      return { side, label: isChanged ? sides[side] : undefined, words: line, short };
    });
  // What cannot be read on either side is said once.
  if (isChanged && [words.before, words.after].every((side) => side?.startsWith(unreadable) === true))
    return said("after", after, []).map((each) => ({ ...each, label: undefined }));
  return [...said("before", before, after), ...said("after", after, before)];
}

/** Returns the rule of a finding in words, in lines that are not too long. `isAligned`: the names of the sides are of one width. */
export function wordLines(finding: Finding, report: Pick<Report, "sides">, isAligned = false): string[] {
  const said = saidOf(finding, report).map(({ label, short }) => ({
    label: label === undefined ? "" : `${printable(label, mostOfSide)}: `,
    words: printable(short),
  }));
  const width = isAligned ? Math.max(...said.map(({ label }) => label.length)) : 0;
  return said.map(({ label, words }) => `${label.padEnd(width)}${words}`);
}

const mostOfSide = 40;
