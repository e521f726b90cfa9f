import { shortWords } from "../../meaning/words/short-words.ts";
import { counted } from "../../provider/hooks/planned-changes.ts";
import { printable, printableLines } from "../../sdk/json/printable.ts";
import { type Change, changes, reportKinds, wordOf } from "../model/kinds.ts";
import type {
  Failure,
  Finding,
  NamedDecision,
  PathFinding,
  Report,
  SimulationFacts,
  Table,
  Violation,
} from "../model/report.ts";

/** Returns the word beside a finding: a rule that gets another natural key is renamed as well. */
export function wordFor(finding: Finding, report: Pick<Report, "sides">): string {
  const { word } = wordOf(finding.change, report);
  if (finding.formerName === undefined) return word;
  return finding.change === "changed" ? "renamed and changed" : `rename and ${word}`;
}

/** Tells the report in one line: `Plan for stack dev: 1 to delete, 2 to update, 997 unchanged`. */
export function verdictOf(report: Report): string {
  const { findings, subject } = report;
  const { title, nothing } = reportKinds[report.report];
  if (report.decision !== undefined) return `${title} ${printable(subject, 100)}: ${decisionOf(report.decision)}`;
  if (report.report === "simulate" && report.simulation !== undefined)
    return `${title} ${printable(subject, 200)}: ${flipsOf(report.simulation)}`;
  const counts = countsOf(report);
  const unchanged = unchangedOf(report);
  const found = findings.length === 0 ? `${nothing}, ${unchanged}` : `${counts}, ${unchanged}`;
  const about = `${title} ${printable(subject, 100)}:`;
  if (errorsOf(report).length === 0) return `${about} ${found}`;
  const failed = report.report === "lint" ? "cannot be told" : "failed";
  return findings.length === 0 ? `${about} ${failed}` : `${about} ${failed}; seen until then: ${found}`;
}

/** Returns the tables that stand before the findings, and the others. */
export function tablesOf({ tables }: Pick<Report, "tables">): [Table[], Table[]] {
  return [tables.filter(({ isFirst }) => isFirst === true), tables.filter(({ isFirst }) => isFirst !== true)];
}

/** An error or a warning of a report. The text may have several lines. */
export interface Message {
  readonly text: string;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
}

/** Returns what failed: mandatory policies, then the rest. */
export function errorsOf({ violations, errors }: Pick<Report, "violations" | "errors">): Message[] {
  return [...violationsIn(violations, "mandatory"), ...errors.map(failureMessage)];
}

/** Returns what must not be overlooked, then what policies advise. */
export function warningsOf({ violations, warnings }: Pick<Report, "violations" | "warnings">): Message[] {
  return [...warnings.map((text) => ({ text })), ...violationsIn(violations, "advisory")];
}

function violationsIn(violations: readonly Violation[], wanted: Violation["level"]): Message[] {
  return violations
    .filter(({ level }) => level === wanted)
    .map(({ level, policy, resource = "the stack", message, words, file, line }) => {
      const place = file === undefined ? "" : ` (${placeOf({ file, line })})`;
      const said =
        words === undefined
          ? ""
          : `\nthe rule ${words
              .split("\n")
              .map((line) => shortWords(line))
              .join("; it ")}`;
      return {
        text: `the ${level} policy ${policy} is violated by ${resource}${place}: ${message}${said}`,
        file,
        line,
      };
    });
}

function failureMessage({ message, file, line }: Failure): Message {
  return { text: file === undefined ? message : `${message} (${placeOf({ file, line })})`, file, line };
}

function placeOf({ file, line }: { readonly file: string; readonly line?: number | undefined }): string {
  return line === undefined ? file : `${file}:${line}`;
}

export function unchangedOf({ unchanged, report, findings }: Report): string {
  const { unchanged: word, others = word } = reportKinds[report];
  return `${unchanged} ${findings.length === 0 ? word : others}`;
}

/** Says how many payments change: `312 of 84120 payments have another outcome`. */
function flipsOf({ flipped, payments }: SimulationFacts): string {
  return `${flipped === 0 ? "none" : flipped} of ${payments} payments ${flipped === 1 ? "has" : "have"} another outcome`;
}

/** Says what is decided, and by which rules: `decline, by night-limit`. */
export function decisionOf({ kind, outcomes, by }: NamedDecision): string {
  const rules = firstNames(by.map((name) => printable(name, 100)));
  const words = (outcomes ?? []).map((outcome) => printable(outcome, 100));
  if (kind === "decided")
    return rules === "" ? `${words.join(" and ")}, as no rule applies` : `${words.join(" and ")}, by ${rules}`;
  const maybe = outcomes === undefined ? "" : ` (${words.join(" or ")})`;
  return rules === "" ? `unknown${maybe}, as no rule applies` : `unknown${maybe}, because of ${rules}`;
}

const mostNames = 10;

/** Returns names in one line: the first ten, and the number of the others. */
export function firstNames(names: readonly string[]): string {
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : "";
  return `${names.slice(0, mostNames).join(", ")}${more}`;
}

/** Counts the findings by kind: `1 to delete, 2 to update`; empty without findings. */
export function countsOf(report: Pick<Report, "counts" | "sides">): string {
  return counted(changes.map((change) => [report.counts[change] ?? 0, wordOf(change, report).counted]));
}

/** Groups findings by kind, in the order of the report. */
export function groupsOf(findings: readonly Finding[]): [Change, readonly Finding[]][] {
  return [...Map.groupBy(findings, ({ change }) => change)];
}

export function nameOf({ name }: Finding, most: number): string {
  return printable(name, most) || "(no name)";
}

/** Says where a rule is declared and whose it is, a string for each fact: `MerchantRuleSet all`, `key large`, `id r-1`. */
export function whereaboutsOf(finding: Omit<Finding, "change" | "paths">, most: number): string[] {
  const { name, formerName, stack, resource, key, formerKey, ruleId, connection, owner, reason, file, line } = finding;
  const { changedBy, changedAt } = finding;
  const text = (value: string): string => printable(value, most);
  const said = (before: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`${before}${text(value)}`];
  const changed = [...said("by ", changedBy), ...said("at ", changedAt)];
  return [
    ...said("name before: ", formerName),
    ...said("stack ", stack),
    ...said("", resource),
    ...(formerKey === undefined
      ? said("key ", key === name ? undefined : key)
      : [key === undefined ? `key before: ${text(formerKey)}` : `key ${text(key)}, before: ${text(formerKey)}`]),
    ...said("id ", ruleId === name ? undefined : ruleId),
    ...said("connection ", connection),
    ...said("owner ", owner),
    ...(changed.length === 0 ? [] : [`last changed ${changed.join(" ")}`]),
    ...said("", reason),
    ...(file === undefined ? [] : [text(placeOf({ file, line }))]),
  ];
}

/** A value that the engine hides beside a secret: it may be one, or not. */
const notShown = "(not shown)";

/** Returns a path and the value on each side in words: secrets are `[secret]` and `[another secret]`, no value is `(absent)`. */
export function sidesOf({ path, secret, masked, ...values }: PathFinding, most: number): Record<"path" | Side, string> {
  const side = (name: Side): string => {
    if (masked === true) return notShown;
    const value = values[name];
    if (value === undefined) return "(absent)";
    return printable(secret === true && typeof value === "string" ? value : JSON.stringify(value), most);
  };
  return { path: path === "" ? "(the rule)" : printable(path, most), before: side("before"), after: side("after") };
}

type Side = "before" | "after";

/** Tells a difference in one line: `conditions[0].value: 100 → 200`. */
export function pathLine(difference: PathFinding, most: number): string {
  const { path, before, after } = sidesOf(difference, most);
  return `${path}: ${before} → ${after}`;
}

export function cellOf(cell: Table["rows"][number][number]): string {
  return cell === null ? "" : String(cell);
}

/** Returns the lines of a message, each as `printable` gives it and no longer than `most`; of many the first fifty. */
export function linesOf(message: string, most: number): string[] {
  return printableLines(message.trim())
    .slice(0, mostLines)
    .map((line) => printable(line, most));
}

const mostLines = 50;

/** Escapes a string for HTML and XML: printable, at most 4,000 characters of it. */
export function escaped(text: string): string {
  return escapedWhole(printable(text, mostEscaped));
}

/** Escapes a string of any length for HTML and XML. */
export function escapedWhole(text: string): string {
  return printable(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** No name, value or message is shown longer than this. */
const mostEscaped = 4_000;
