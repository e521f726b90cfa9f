import type { Comparison, Condition, Evaluation, Semantics } from "../../meaning/index.ts";
import { type Finding, type Report, reportOf, type Table } from "../model/report.ts";
import { decisionOf } from "../words/report-words.ts";
import { comparisonsIn, conditionText } from "./condition-words.ts";
import { decisionIn, whyLines } from "./explain.ts";
import { decideBy, type ReadRule, type SideMeaning, unknownRules } from "./meaning.ts";
import type { TestCase } from "./test-file.ts";

/** How much of the rules the cases try. */
interface Coverage {
  /** Answers that some case gave. */
  readonly seen: number;
  /** Answers that there are: true and false of each rule and each comparison. */
  readonly all: number;
}

interface TestResult {
  readonly report: Report;
  /** Undefined where it was not asked for. */
  readonly coverage: Coverage | undefined;
}

/**
 * Holds payments against rules: a finding for each case that is not decided as expected, with why.
 * @param withCoverage adds the rules and conditions that no case made true, or false
 * @throws MerchantRulesError SETTINGS_INVALID: an instant of a case is none
 */
export function testReport(cases: readonly TestCase[], meaning: SideMeaning, withCoverage: boolean): TestResult {
  const seen = new Seen(meaning);
  const findings: Finding[] = [];
  for (const each of cases) {
    const evaluation = decideBy(meaning, each.payment, { at: each.at });
    seen.add(evaluation);
    const finding = findingOf(each, evaluation, meaning);
    if (finding !== undefined) findings.push(finding);
  }
  const coverage = withCoverage ? seen.coverage() : undefined;
  return {
    coverage,
    report: reportOf({
      report: "test",
      subject: meaning.name,
      rules: cases.length,
      unchanged: cases.length - findings.length,
      findings,
      about: coverage === undefined ? [] : [coverageText(coverage)],
      tables: coverage === undefined ? [] : seen.tables(),
      warnings: unknownRules(meaning.rules),
      notes: meaning.notes,
    }),
  };
}

/** Says how much was tried: `Coverage: 90 % (18 of 20 answers of rules and conditions were seen)`. */
export function coverageText(coverage: Coverage): string {
  return `Coverage: ${percentOf(coverage)} % (${coverage.seen} of ${coverage.all} answers of rules and conditions were seen)`;
}

/** Returns the coverage in percent, rounded down, so that 100 means all. */
export function percentOf({ seen, all }: Coverage): number {
  return all === 0 ? 100 : Math.floor((seen * 100) / all);
}

function findingOf(each: TestCase, evaluation: Evaluation, meaning: SideMeaning): Finding | undefined {
  const { decision } = evaluation;
  const found = decision.kind === "decided" ? [...decision.outcomes].sort().join(" and ") : "unknown";
  const expected = each.outcomes.join(" and ");
  const deciding = decision.kind === "decided" ? decision.by : decision.because;
  const names = deciding.flatMap((index) => meaning.rules[index] ?? []);
  const isOutcome = found === expected && decision.kind === "decided";
  const isRule = each.rule === undefined || (each.rule === null ? names.length === 0 : names.some(isCalled(each.rule)));
  if (isOutcome && isRule) return undefined;
  const byNames = names
    .map(({ name }) => name)
    .slice(0, mostRules)
    .join(", ");
  const told = [...deciding.slice(0, mostRules), ...askedFor(each, meaning, deciding)];
  const isThere = typeof each.rule !== "string" || meaning.rules.some(isCalled(each.rule));
  return {
    change: "failed",
    name: each.name,
    file: each.file,
    line: each.line,
    paths: [
      ...(isOutcome ? [] : [{ path: "outcome", before: expected, after: found }]),
      ...(isRule ? [] : [{ path: "rule", before: each.rule ?? "none", after: byNames === "" ? "none" : byNames }]),
    ],
    details: [
      `decision: ${decisionOf(decisionIn(evaluation, meaning))}`,
      ...told.flatMap((index) => {
        const [rule, trace] = [meaning.rules[index], evaluation.rules[index]];
        return rule === undefined || trace === undefined ? [] : whyLines(rule, trace, meaning.semantics);
      }),
      ...(isThere ? [] : [`no rule is called ${each.rule}`]),
    ],
  };
}

const mostRules = 10;

/** Returns the indexes of the rules that the case expects to decide, and which do not. */
function askedFor({ rule }: TestCase, { rules }: SideMeaning, deciding: readonly number[]): number[] {
  if (typeof rule !== "string") return [];
  return [...rules.keys()].filter((index) => {
    const each = rules[index];
    return each !== undefined && isCalled(rule)(each) && !deciding.includes(index);
  });
}

function isCalled(name: string): (rule: ReadRule) => boolean {
  return ({ name: own, rule }) => own === name || rule.name === name || rule.key === name || rule.ruleId === name;
}

/** An answer that a rule or a condition can give. */
interface Wanted {
  readonly of: ReadRule | Comparison;
  readonly rule: ReadRule;
  /** In words. */
  readonly what: string;
  readonly answer: "true" | "false";
}

/** What the cases of a test made true, and what false. */
class Seen {
  readonly #rules: readonly ReadRule[];
  readonly #wanted: readonly Wanted[];
  readonly #answers = { true: new Set<ReadRule | Comparison>(), false: new Set<ReadRule | Comparison>() };

  constructor({ rules, semantics }: SideMeaning) {
    this.#rules = rules;
    this.#wanted = rules.flatMap((rule) => wantedOf(rule, semantics));
  }

  add({ rules }: Evaluation): void {
    for (const [index, { applies, when }] of rules.entries()) {
      const rule = this.#rules[index];
      if (rule !== undefined && applies !== "unknown") this.#answers[applies].add(rule);
      for (const { condition, answer } of when === undefined ? [] : comparisonsIn(when))
        if (condition.kind === "comparison" && answer !== "unknown") this.#answers[answer].add(condition);
    }
  }

  coverage(): Coverage {
    return { seen: this.#wanted.length - this.#missing().length, all: this.#wanted.length };
  }

  /** Returns a table of what no case made true, or false; none where all was tried. */
  tables(): Table[] {
    const rows = this.#missing().map(({ rule, what, answer }) => [rule.name, what, `never ${answer}`]);
    return rows.length === 0 ? [] : [{ title: "Not tried by any case", columns: ["Rule", "What", "Answer"], rows }];
  }

  #missing(): Wanted[] {
    return this.#wanted.filter(({ of, answer }) => !this.#answers[answer].has(of));
  }
}

/** Returns the answers that a rule can give: one that is not enabled never applies, and one without conditions always does. */
function wantedOf(rule: ReadRule, semantics: Semantics): Wanted[] {
  const { when, force } = rule.reading.kind === "rule" ? rule.reading.rule : rule.reading.known;
  if (force?.isEnabled === false || when?.kind === "never") return [];
  const both = (of: ReadRule | Comparison, what: string): Wanted[] =>
    (["true", "false"] as const).map((answer) => ({ of, rule, what, answer }));
  const own = both(rule, "the rule").filter(({ answer }) => answer === "true" || when?.kind !== "always");
  return [
    ...own,
    ...(when === undefined ? [] : comparisonsOf(when)).flatMap((each) => both(each, conditionText(each, semantics))),
  ];
}

function comparisonsOf(condition: Condition): Comparison[] {
  switch (condition.kind) {
    case "comparison":
      return [condition];
    case "all":
    case "any":
      return condition.of.flatMap(comparisonsOf);
    case "not":
      return comparisonsOf(condition.of);
    default:
      return [];
  }
}
