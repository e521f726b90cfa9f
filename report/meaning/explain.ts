import type { ConditionTrace, Evaluation, RuleTrace, Semantics } from "../../meaning/index.ts";
import { defined, type JsonObject } from "../../sdk/json/index.ts";
import { type NamedDecision, type Report, reportOf, type Table } from "../model/report.ts";
import { comparisonsIn, conditionText, foundText } from "./condition-words.ts";
import { decideBy, faultsText, outcomeOf, type ReadRule, type SideMeaning } from "./meaning.ts";
import { orderWords, rankOf } from "./order.ts";

export interface ExplainOptions {
  /** What reports call the payment: its file. */
  readonly payment: string;
  /** The instant by which rules are in force, where that is not the payment's own. */
  readonly at?: string | undefined;
}

/**
 * Reports what the rules of a side decide of one payment, and why: every rule in the order in which it is asked.
 * @throws MerchantRulesError SETTINGS_INVALID: `at` is no instant
 */
export function explanationOf(
  payment: JsonObject,
  meaning: SideMeaning,
  { payment: name, at }: ExplainOptions,
): Report {
  const evaluation = decideBy(meaning, payment, { at });
  const { rules, semantics } = meaning;
  return reportOf({
    report: "explain",
    subject: `${name} by ${meaning.name}`,
    rules: rules.length,
    unchanged: rules.length,
    findings: [],
    about: [orderWords[semantics.wins.by]],
    decision: decisionIn(evaluation, meaning),
    tables: [tableOf(evaluation, meaning)],
    notes: meaning.notes,
  });
}

/** Returns a decision with the names of its rules. */
export function decisionIn({ decision }: Evaluation, { rules }: SideMeaning): NamedDecision {
  const names = (indexes: readonly number[]): string[] => indexes.flatMap((index) => rules[index]?.name ?? []);
  if (decision.kind === "decided") return { kind: "decided", outcomes: [...decision.outcomes], by: names(decision.by) };
  const { possible, because } = decision;
  return defined({ kind: "unknown", outcomes: possible && [...possible], by: names(because) });
}

function tableOf({ decision, rules: traces }: Evaluation, meaning: SideMeaning): Table {
  const deciding = new Set(decision.kind === "decided" ? decision.by : decision.because);
  const rows = inOrder(meaning).flatMap((index) => {
    const [rule, trace] = [meaning.rules[index], traces[index]];
    if (rule === undefined || trace === undefined) return [];
    const marks = { true: "applies", false: "does not apply", unknown: "unknown" };
    const mark = deciding.has(index) ? (decision.kind === "decided" ? "decides" : "may decide") : "";
    const [first = ["", "", ""], ...others] = rowsOf(rule, trace, meaning.semantics);
    const head = [rule.name, marks[trace.applies], outcomeOf(rule), mark];
    return [[...head, ...first], ...others.map((cells) => ["", "", "", "", ...cells])];
  });
  return {
    title: "Rules, in the order in which they are asked",
    columns: ["Rule", "Answer", "Outcome", "Decision", "Condition", "Holds", "Because"],
    rows,
  };
}

/** Returns a row for each condition: the condition, whether it holds, why. */
function rowsOf({ reading }: ReadRule, { inForce, when }: RuleTrace, semantics: Semantics): string[][] {
  const rows: string[][] = [];
  if (reading.kind === "unknown") rows.push(...reading.faults.map(({ at, why }) => [at, "unknown", why]));
  if (inForce.answer !== "true" && reading.kind === "rule")
    rows.push(["in force", wordOf(inForce.answer), inForce.why ?? ""]);
  const walk = (trace: ConditionTrace, level: number): void => {
    const indent = "· ".repeat(level);
    rows.push([`${indent}${conditionText(trace.condition, semantics)}`, wordOf(trace.answer), foundText(trace)]);
    for (const each of trace.of) walk(each, level + 1);
  };
  // All of the outermost conditions must hold in most rules; that needs no line.
  if (when?.condition.kind === "all") for (const each of when.of) walk(each, 0);
  else if (when !== undefined) walk(when, 0);
  return rows;
}

const wordOf = (answer: RuleTrace["applies"]): string => ({ true: "yes", false: "no", unknown: "unknown" })[answer];

/** Returns the indexes of the rules, in the order in which they are asked; where that is not known, as they are listed. */
function inOrder({ rules, semantics }: SideMeaning): number[] {
  const ranks = rules.map(({ reading }) => rankOf(reading, semantics));
  return [...rules.keys()].sort((a, b) => {
    const [one = 0, other = 0] = [ranks[a], ranks[b]];
    return one === other ? a - b : one - other;
  });
}

/** Returns lines that say why a rule applies, does not, or why that is unknown. */
export function whyLines(rule: ReadRule, { applies, inForce, when }: RuleTrace, semantics: Semantics): string[] {
  const answers = { true: "applies", false: "does not apply", unknown: "is unknown" };
  const head = `${rule.name} (${outcomeOf(rule)}) ${answers[applies]}`;
  const { reading } = rule;
  if (reading.kind === "unknown") return [`${head}: ${faultsText(reading)}`];
  if (inForce.answer !== "true") return [`${head}: ${inForce.why ?? ""}`];
  const comparisons = when === undefined ? [] : comparisonsIn(when);
  // Groups turn answers round, so there all comparisons are told.
  const isFlat = when?.condition.kind === "all" && when.of.every(({ condition }) => condition.kind === "comparison");
  const told = isFlat && applies !== "true" ? comparisons.filter(({ answer }) => answer === applies) : comparisons;
  const lines = told.map((trace) => {
    const found = foundText(trace);
    return `${conditionText(trace.condition, semantics)}: ${wordOf(trace.answer)}${found === "" ? "" : ` (${found})`}`;
  });
  return lines.length === 0 ? [`${head} to every payment`] : [`${head}:`, ...lines.map((line) => `  ${line}`)];
}
