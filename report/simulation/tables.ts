import type { Json } from "../../sdk/json/index.ts";
import type { SideMeaning } from "../meaning/meaning.ts";
import type { Table } from "../model/report.ts";
import type { Cell, Counted, Simulation } from "./simulation.ts";
import { Sums } from "./sums.ts";

/** Payments that share something, with their sums. */
export interface Tally {
  payments: number;
  readonly sums: Sums;
}

/** More rows than this are counted. */
const mostRows = 50;

/** Groups cells by a string, the most payments first. */
export function talliesBy(cells: readonly Cell[], textOf: (cell: Cell) => string): Map<string, Tally> {
  const tallies = new Map<string, Tally>();
  for (const cell of cells) {
    const text = textOf(cell);
    const tally = tallies.get(text) ?? { payments: 0, sums: new Sums() };
    tally.payments += cell.payments;
    tally.sums.addAll(cell.sums);
    tallies.set(text, tally);
  }
  return new Map([...tallies].sort(([, one], [, other]) => other.payments - one.payments));
}

export function isFlip({ before, after }: Cell): boolean {
  return before.outcome !== after.outcome;
}

/** Returns every outcome, `unknown` last. */
function outcomesOf(cells: readonly Cell[]): string[] {
  const all = new Set(cells.flatMap(({ before, after }) => [before.outcome, after.outcome]));
  return [...all].sort(
    (one, other) => Number(one === "unknown") - Number(other === "unknown") || (one < other ? -1 : 1),
  );
}

/** Makes a matrix: how many payments have an outcome before and one after. */
export function matrixTable({ cells }: Simulation): Table {
  const outcomes = outcomesOf(cells);
  const count = (of: readonly Cell[]): number => of.reduce((sum, { payments }) => sum + payments, 0);
  const rows = outcomes.map((before) => {
    const own = cells.filter((cell) => cell.before.outcome === before);
    return [before, ...outcomes.map((after) => count(own.filter((cell) => cell.after.outcome === after))), count(own)];
  });
  const sums = outcomes.map((after) => count(cells.filter((cell) => cell.after.outcome === after)));
  return {
    title: "Payments by outcome: before in rows, after in columns",
    columns: ["before ↓  after →", ...outcomes, "all"],
    rows: [...rows, ["all", ...sums, count(cells)]],
  };
}

/** Payments with one outcome before and one after. */
export interface Pair extends Tally {
  readonly before: string;
  readonly after: string;
}

/** Returns each outcome before with each after: first what changes, the most payments first. */
export function pairsOf({ cells }: Simulation): Pair[] {
  const pairs = [...talliesBy(cells, ({ before, after }) => JSON.stringify([before.outcome, after.outcome]))].map(
    ([key, tally]): Pair => {
      const [before = "", after = ""] = textsIn(key);
      return { before, after, ...tally };
    },
  );
  const isChange = (pair: Pair): boolean => pair.before !== pair.after;
  return [...pairs.filter(isChange), ...pairs.filter((pair) => !isChange(pair))];
}

export function changeTable(simulation: Simulation): Table {
  const rows = pairsOf(simulation).map((pair) => [pair.before, pair.after, ...amountCells(pair, simulation)]);
  return { title: "Each outcome before and after", columns: ["Before", "After", ...amountColumns], rows };
}

/** Makes a table of flips, each once: from which rule to which. */
export function flipTable(simulation: Simulation): Table {
  const flips = simulation.cells.filter(isFlip);
  const tallies = [...talliesBy(flips, (cell) => JSON.stringify([...sideTexts(cell, simulation)]))];
  const rows = tallies.map(([key, tally]) => [...textsIn(key), ...amountCells(tally, simulation)]);
  return cut({
    title: "Flips, from rule to rule",
    columns: ["Before", "by rule", "After", "by rule", ...amountColumns],
    rows,
  });
}

function sideTexts({ before, after }: Cell, { before: was, after: is }: Simulation): string[] {
  return [before.outcome, namesOf(before, was), after.outcome, namesOf(after, is)];
}

/** Returns the names of the rules of a decision: `night-limit`; `no rule`. */
export function namesOf({ by, outcome }: Counted, { rules }: SideMeaning): string {
  const names = by.map((index) => rules[index]?.name ?? "");
  if (names.length > 0) return names.join(", ");
  return outcome === "unknown" ? "several rules, or none" : "no rule";
}

export function ruleTable(simulation: Simulation): Table {
  const counts = countsBySide(simulation, ({ isKnown, by }, { rules }) =>
    isKnown ? by.map((index) => rules[index]?.name ?? "") : [],
  );
  const rows = [...counts]
    .filter(([, [was, is]]) => was + is > 0)
    .sort(([, a], [, b]) => differenceOf(b) - differenceOf(a) || b[0] - a[0]);
  return cut({
    title: "What each rule decides",
    columns: ["Rule", "Payments before", "Payments after", "Difference"],
    rows: rows.map(([name, [was, is]]) => [name, was, is, is - was]),
  });
}

function differenceOf([was, is]: readonly [number, number]): number {
  return Math.abs(is - was);
}

/** Counts payments before and after by the names that `namesIn` gives to a decision. */
function countsBySide(
  { cells, before, after }: Simulation,
  namesIn: (decision: Counted, meaning: SideMeaning) => readonly string[],
): Map<string, [number, number]> {
  const counts = new Map<string, [number, number]>();
  for (const cell of cells)
    for (const [side, decision, meaning] of [
      [0, cell.before, before],
      [1, cell.after, after],
    ] as const)
      for (const name of namesIn(decision, meaning)) {
        const count = counts.get(name) ?? [0, 0];
        count[side] += cell.payments;
        counts.set(name, count);
      }
  return counts;
}

/** Makes a table of the rules because of which outcomes are unknown; undefined where none is. */
export function unknownTable(simulation: Simulation): Table | undefined {
  const counts = countsBySide(simulation, (decision, meaning) =>
    decision.isKnown ? [] : [namesOf(decision, meaning)],
  );
  if (counts.size === 0) return undefined;
  const rows = [...counts].sort(([, [a, b]], [, [c, d]]) => c + d - a - b);
  return cut({
    title: "Payments whose outcome is unknown, because of",
    columns: ["Rules", "Payments before", "Payments after"],
    rows: rows.map(([name, [was, is]]) => [name, was, is]),
  });
}

/** Makes tables of how often the live rules, so read, agree with what really happened, and by which rules they do not. */
export function agreementTables({ cells, before, payments }: Simulation): Table[] {
  const counts = { agree: 0, differ: 0, unknown: 0 };
  const differing = new Map<string, number>();
  for (const cell of cells)
    for (const [actual, count] of cell.actual) {
      const kind = !cell.before.isKnown ? "unknown" : cell.before.outcome === actual ? "agree" : "differ";
      counts[kind] += count;
      if (kind !== "differ") continue;
      const key = JSON.stringify([namesOf(cell.before, before), cell.before.outcome, actual]);
      differing.set(key, (differing.get(key) ?? 0) + count);
    }
  const told = counts.agree + counts.differ + counts.unknown;
  const rows: (string | number)[][] = [
    ["the same", counts.agree, shareOf(counts.agree, told)],
    ["another outcome", counts.differ, shareOf(counts.differ, told)],
    ["unknown by these rules", counts.unknown, shareOf(counts.unknown, told)],
    ["no actual outcome in the payment", payments - told, ""],
  ];
  const agreement = {
    title: "The live rules, so read, against what really happened",
    columns: ["Outcome", "Payments", "Share"],
    rows,
  };
  if (differing.size === 0) return [agreement];
  const sorted = [...differing].sort(([, one], [, other]) => other - one);
  return [
    agreement,
    cut({
      title: "Rules with which they do not agree",
      columns: ["Rule", "Outcome by the rule", "What really happened", "Payments"],
      rows: sorted.map(([key, count]) => [...textsIn(key), count]),
    }),
  ];
}

/** Makes tables of fraud and good payments by outcome, and of precision and recall of each rule that does not accept. */
export function labelTables({ cells, before, after }: Simulation): Table[] {
  const zero = (): LabelCounts => ({ fraud: [0, 0], good: [0, 0] });
  const byOutcome = new Map<string, LabelCounts>();
  const byRule = new Map<string, LabelCounts>();
  let fraud = 0;
  for (const cell of cells) {
    fraud += cell.fraud;
    for (const [side, counted, { rules }] of [
      [0, cell.before, before],
      [1, cell.after, after],
    ] as const) {
      const ruled =
        counted.isKnown && counted.outcome !== "accept" ? counted.by.map((index) => rules[index]?.name ?? "") : [];
      const places = [[byOutcome, counted.outcome] as const, ...ruled.map((name) => [byRule, name] as const)];
      for (const [map, name] of places) {
        const counts = map.get(name) ?? zero();
        counts.fraud[side] += cell.fraud;
        counts.good[side] += cell.good;
        map.set(name, counts);
      }
    }
  }
  const outcomes = outcomesOf(cells).map((name) => [name, byOutcome.get(name) ?? zero()] as const);
  const rules = [...byRule].filter(([, counts]) => [...counts.fraud, ...counts.good].some((count) => count > 0));
  const byLabel = {
    title: "Fraud and good payments by outcome",
    columns: ["Outcome", "Fraud before", "Fraud after", "Good before", "Good after"],
    rows: outcomes.map(([name, counts]) => [name, ...counts.fraud, ...counts.good]),
  };
  if (rules.length === 0) return [byLabel];
  return [
    byLabel,
    cut({
      title: "Rules that do not accept, by what they catch",
      columns: [
        "Rule",
        "Fraud before",
        "Fraud after",
        "Good before",
        "Good after",
        "Precision before",
        "Precision after",
        "Recall before",
        "Recall after",
      ],
      rows: rules
        .sort(([, one], [, other]) => other.fraud[1] - one.fraud[1])
        .map(([name, counts]) => [
          name,
          ...counts.fraud,
          ...counts.good,
          ...([0, 1] as const).map((side) => shareOf(counts.fraud[side], counts.fraud[side] + counts.good[side])),
          ...([0, 1] as const).map((side) => shareOf(counts.fraud[side], fraud)),
        ]),
    }),
  ];
}

interface LabelCounts {
  readonly fraud: [number, number];
  readonly good: [number, number];
}

const amountColumns = ["Payments", "Share", "Sum"];

function amountCells({ payments, sums }: Tally, simulation: Simulation): (string | number)[] {
  return [payments, shareOf(payments, simulation.payments), sumText(sums, simulation)];
}

/** Writes sums as `EUR 41,200; USD 12.50`. */
export function sumText(sums: Sums, { after }: Simulation): string {
  const isMinor = after.semantics.payment.amount?.unit === "minor";
  const texts = sums
    .entries()
    .map(([currency, sum]) => `${currency} ${withCommas(sum)}${isMinor ? " (smallest units)" : ""}`);
  return texts.join("; ");
}

function withCommas(decimal: string): string {
  const [whole = "", fraction] = decimal.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  // An amount is read in hundredths.
  return fraction === undefined ? grouped : `${grouped}.${fraction.padEnd(2, "0")}`;
}

/** Writes a share as `0.37 %`; what is not zero is not shown as zero. Empty where the whole is 0. */
export function shareOf(part: number, whole: number): string {
  if (whole === 0) return "";
  const percent = (100 * part) / whole;
  if (part > 0 && percent < 0.01) return "under 0.01 %";
  return `${Number(percent.toFixed(2))} %`;
}

/** Returns the strings that a key was made of. */
function textsIn(key: string): string[] {
  const texts: Json = JSON.parse(key);
  return Array.isArray(texts) ? texts.map(String) : [];
}

function cut(table: Table): Table {
  const left = table.rows.length - mostRows;
  return left <= 0
    ? table
    : { ...table, title: `${table.title} (the first ${mostRows}; ${left} more)`, rows: table.rows.slice(0, mostRows) };
}
