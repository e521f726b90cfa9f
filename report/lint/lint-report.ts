import { ruleWords, shortWords } from "../../meaning/index.ts";
import { readValue } from "../../meaning/language/values.ts";
import type { LintFinding, LintResult } from "../../meaning/lint/finding.ts";
import { lint } from "../../meaning/lint/lint.ts";
import { defined, type JsonObject } from "../../sdk/json/index.ts";
import { printableJson } from "../../sdk/json/printable.ts";
import { conditionText } from "../meaning/condition-words.ts";
import { outcomeOf, type ReadRule, type SideMeaning, unknownRules } from "../meaning/meaning.ts";
import { type Failure, type Finding, type Report, reportOf } from "../model/report.ts";
import type { LintIgnoreLine } from "./lint-ignores.ts";

export interface LintReportOptions {
  /** The present, as an instant by RFC 3339. */
  readonly now: string;
  /** A rule that ends within so many days has a finding. Default: none has. */
  readonly endsWithinDays?: number | undefined;
  /** Findings that are not told. */
  readonly ignoring: readonly LintIgnoreLine[];
  /** True where one rule that cannot be read is an error. Else it is a warning, and an error where no rule can be read. */
  readonly isStrict: boolean;
}

/** Reports what is proven to be wrong with the rules of a side, of all payments from the present on. */
export function lintReport(
  meaning: SideMeaning,
  { now, endsWithinDays, ignoring, isStrict }: LintReportOptions,
): Report {
  const { rules, semantics, unlisted } = meaning;
  const at = instantOf(now);
  const soon = endsWithinDays === undefined ? undefined : instantOf(laterBy(now, endsWithinDays));
  const side = { rules: rules.map(({ reading }) => reading), unlisted };
  const result = lint(side, semantics, { at, soon });
  const used = new Map<LintIgnoreLine, number>();
  const findings = result.findings.flatMap((finding): Finding[] => {
    const rule = rules[finding.rule];
    if (rule === undefined) return [];
    const line = ignoring.find(
      ({ matches, until }) => until >= now.slice(0, 10) && matches(finding.kind, namesOf(rule)),
    );
    if (line !== undefined) used.set(line, (used.get(line) ?? 0) + 1);
    return line === undefined ? [findingOf(finding, rule, meaning)] : [];
  });
  const faulty = new Set(findings.map(({ name, key, ruleId }) => JSON.stringify([name, key, ruleId])));
  const unread = rules.filter(({ reading }) => reading.kind === "unknown");
  const isTold = unread.length === 0 || (!isStrict && unread.length < rules.length);
  return reportOf({
    report: "lint",
    subject: meaning.name,
    rules: rules.length,
    unchanged: rules.length - faulty.size,
    findings,
    errors: isTold ? [] : unread.map(unreadError),
    warnings: isTold ? unknownRules(unread) : [],
    notes: [...notesOf(result, meaning), ...notesOfIgnoring(ignoring, used, now), ...meaning.notes],
  });
}

function instantOf(text: string): NonNullable<ReturnType<typeof readValue>> {
  const value = readValue(text, "instant");
  if (value === undefined) throw new TypeError(`${text} is no instant`);
  return value;
}

/** No rule can name a later one. */
const lastInstant = Date.parse("9999-12-31T23:59:59.999Z");

function laterBy(now: string, days: number): string {
  return new Date(Math.min(Date.parse(now) + days * 86_400_000, lastInstant)).toISOString();
}

function namesOf({ name, rule }: ReadRule): { readonly ruleId: string; readonly naturalKey: string } {
  return { ruleId: rule.ruleId ?? "", naturalKey: name };
}

function unreadError(unread: ReadRule): Failure {
  const { file, line, key } = unread.rule;
  return { message: unknownRules([unread]).join(""), ...defined({ key, file, line }) };
}

function findingOf(finding: LintFinding, own: ReadRule, meaning: SideMeaning): Finding {
  const { kind, witness, others } = finding;
  const concerned = others.flatMap((index) => meaning.rules[index] ?? []);
  return {
    change: kind,
    ...placedNames(own),
    reason: reasonOf(finding, own, concerned),
    ...defined({
      others: concerned.length === 0 ? undefined : concerned.map(placedNames),
      shownBy: witness && defined({ payment: { ...witness.payment }, at: witness.at }),
    }),
    words: { after: ruleWords(own.reading, meaning.semantics) },
    details: detailsOf(finding, concerned, meaning),
    paths: [],
  };
}

/** Returns the names of a rule, and the place of its declaration where that is known. */
function placedNames({ name, rule: { key, ruleId, resource, file, line } }: ReadRule) {
  return defined({ name, key, ruleId, resource, file, line });
}

const mostNames = 10;

function reasonOf({ kind, because }: LintFinding, { reading }: ReadRule, others: readonly ReadRule[]): string {
  const names = listed(others.map((other) => `${other.name} (${outcomeOf(other)})`));
  const force = reading.kind === "rule" ? reading.rule.force : undefined;
  switch (kind) {
    case "never-matches":
      if (because.length === 0)
        return `it is in force at no time: from ${timeOf(force?.from?.instant)} until ${timeOf(force?.until?.instant)}`;
      return because.length === 1 ? "no payment can be so" : "no payment can be all of this";
    case "ended":
      return `it is no longer in force since ${timeOf(force?.until?.instant)}`;
    case "ends-soon":
      return `it is in force until ${timeOf(force?.until?.instant)}`;
    case "shadowed":
      return `whatever it applies to is decided before, by ${names}`;
    case "duplicate":
      return `it applies to the same payments as ${listed(others.map(({ name }) => name))}, and decides the same`;
    case "order-conflict":
      return `${names} has the same number in the order and another outcome, and the semantics do not tell which of them wins`;
    case "catch-all":
      return `it applies to every payment: what no rule before it decides has the outcome ${outcomeOf({ reading })}`;
  }
}

function detailsOf(
  { because, untold, witness }: LintFinding,
  others: readonly ReadRule[],
  { semantics }: SideMeaning,
): string[] {
  const lines = because.map((condition) => conditionText(condition, semantics));
  for (const { name, reading } of others.slice(0, mostNames))
    lines.push(`${name} ${shortWords(ruleWords(reading, semantics))}`);
  if (witness !== undefined)
    lines.push(
      `shown by the payment ${printableJson(witness.payment as JsonObject)}${witness.at === undefined ? "" : ` at ${witness.at}`}`,
    );
  if (untold.length > 0)
    lines.push(`not told by the semantics: whether it applies to payments without ${listed(untold, "or")}`);
  return lines;
}

function timeOf(instant: { readonly type: string; readonly at?: string } | undefined): string {
  return instant?.at === undefined ? "?" : `${instant.at}Z`;
}

/** Lists names as `a, b and c`; of many the first ten. */
function listed(names: readonly string[], word = "and"): string {
  const some = names.slice(0, mostNames);
  const more = names.length - some.length;
  const all = more > 0 ? [...some, `${more} more`] : some;
  return all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} ${word} ${all.at(-1)}`;
}

function notesOf({ notExamined, disabled }: LintResult, { rules }: SideMeaning): string[] {
  const notes = [...Map.groupBy(notExamined, ({ why }) => why)].map(([why, some]) => {
    const names = [...new Set(some.map(({ rule }) => rules[rule]?.name ?? ""))];
    return `Not examined: ${names.length === 1 ? "1 rule" : `${names.length} rules`}, as ${why}: ${listed(names)}`;
  });
  if (disabled.length > 0)
    notes.push(
      `${disabled.length === 1 ? "1 rule is" : `${disabled.length} rules are`} not enabled, and take${disabled.length === 1 ? "s" : ""} no part`,
    );
  return notes;
}

function notesOfIgnoring(
  ignoring: readonly LintIgnoreLine[],
  used: ReadonlyMap<LintIgnoreLine, number>,
  now: string,
): string[] {
  return ignoring.flatMap((line) => {
    const count = used.get(line);
    const text = `${JSON.stringify(line.text)} (${line.at})`;
    if (line.until < now.slice(0, 10)) return [`${text} has ended, and ignores nothing any more`];
    return count === undefined ? [] : [`${count === 1 ? "1 finding is" : `${count} findings are`} ignored, by ${text}`];
  });
}
