import { styleText } from "node:util";
import type { Word } from "../../provider/hooks/planned-changes.ts";
import { printable } from "../../sdk/json/printable.ts";
import { wordOf } from "../model/kinds.ts";
import type { Finding, Report, Table } from "../model/report.ts";
import {
  cellOf,
  errorsOf,
  groupsOf,
  linesOf,
  type Message,
  nameOf,
  pathLine,
  tablesOf,
  verdictOf,
  warningsOf,
  whereaboutsOf,
  wordFor,
} from "../words/report-words.ts";
import { shortLines, shownRuleOf } from "../words/rule-lines.ts";
import { wordLines } from "../words/rule-words.ts";

const mostOfName = 120;
const mostOfValue = 120;
const mostOfMessage = 2_000;
/** Of more rules of one kind only the names stand here. */
const mostRules = 50;

const colors = { loss: "red", difference: "yellow", gain: "green", quiet: "cyan" } as const;

/** Writes a report for a terminal or a log: a line for each rule, below it the paths or the fields, the counts at the end. */
export function text(report: Report, color: boolean): string {
  const paint: Paint = (style, line) => (color ? styleText(style, line, { validateStream: false }) : line);
  const messages = (kind: string, style: Style, all: readonly (string | Message)[]): string[] =>
    all.map((message) => {
      const lines = linesOf(typeof message === "string" ? message : message.text, mostOfMessage);
      return `${paint(style, `${kind}:`)} ${lines.join("\n  ")}`;
    });
  const above = [...messages("error", "red", errorsOf(report)), ...messages("warning", "yellow", warningsOf(report))];
  const rules = groupsOf(report.findings).flatMap(([change, findings]) => {
    const word = wordOf(change, report);
    const lines = findings.flatMap((finding, index) => [
      headline({ ...word, word: wordFor(finding, report) }, finding, paint),
      ...(index < mostRules || finding.paths.length > 0
        ? wordLines(finding, report, true).map((line) => `      ${line}`)
        : []),
      ...finding.paths.map((difference) => `      ${pathLine(difference, mostOfValue)}`),
      ...(finding.details ?? []).map((line) => `      ${printable(line, mostOfMessage)}`),
      ...(index < mostRules ? fieldsOf(finding, report) : []),
    ]);
    const title = word.title === undefined ? [] : [paint(colors[word.weight], `  ${word.title}`)];
    const left = findings.slice(mostRules).filter((finding) => fieldsOf(finding, report).length > 0).length;
    const rest = left === 0 ? [] : [`  (the fields of ${left} more of these are in the other formats, such as html)`];
    return [...title, ...lines, ...rest];
  });
  const [first, tables] = tablesOf(report).map((own) => own.map(tableLines));
  const below = messages("note", "dim", report.notes);
  const about = report.about.map((line) => paint("dim", line));
  const blocks = [
    about,
    above,
    ...(first ?? []),
    rules,
    ...(tables ?? []),
    below,
    [paint("bold", verdictOf(report))],
  ].filter((block) => block.length > 0);
  return `${blocks.map((block) => block.join("\n")).join("\n\n")}\n`;
}

type Style = "red" | "yellow" | "green" | "cyan" | "dim" | "bold";
type Paint = (style: Style, line: string) => string;

/** Returns the fields of a rule of which no path is told, a line for each; else nothing. */
function fieldsOf(finding: Finding, report: Report): string[] {
  const shown = shownRuleOf(finding, report);
  return shown?.isNews === true ? shortLines(shown.rule, mostOfValue).map((line) => `      ${line}`) : [];
}

function tableLines({ title, columns, rows }: Table): string[] {
  const cells = [columns, ...rows.map((row) => row.map(cellOf))].map((row) =>
    row.map((cell) => printable(cell, mostOfValue)),
  );
  const widths = columns.map((_, at) => Math.max(...cells.map((row) => (row[at] ?? "").length)));
  const lines = cells.map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")}`.trimEnd());
  return [printable(title, mostOfName), ...lines];
}

function headline({ symbol, word, weight }: Word, finding: Finding, paint: Paint): string {
  const [name, about] = [nameOf(finding, mostOfName), whereaboutsOf(finding, mostOfName)];
  const beside = about.length === 0 ? "" : `  ${paint("dim", about.join(", "))}`;
  return `  ${paint(colors[weight], `${symbol} ${word}`)}  ${name}${beside}`;
}
