import { styleText } from "node:util";
import type { Word } from "../provider/planned-changes.ts";
import type { Report } from "./report.ts";
import { groupsOf, linesOf, nameOf, sidesOf, verdictOf, whereaboutsOf, wordOf } from "./words.ts";

const mostOfName = 120;
const mostOfValue = 120;
const mostOfMessage = 2_000;

const colors = { loss: "red", difference: "yellow", gain: "green", quiet: "cyan" } as const;

/** For a terminal and for logs: a line for each rule, the paths below it, the counts at the end. */
export function text(report: Report, color: boolean): string {
  const paint: Paint = (style, line) => (color ? styleText(style, line, { validateStream: false }) : line);
  const messages = (kind: string, style: Style, all: readonly string[]): string[] =>
    all.map((message) => `${paint(style, `${kind}:`)} ${linesOf(message, mostOfMessage).join("\n  ")}`);
  const above = [...messages("error", "red", report.errors), ...messages("warning", "yellow", report.warnings)];
  const rules = groupsOf(report.findings).flatMap(([change, findings]) => {
    const word = wordOf(change, report);
    return findings.flatMap((finding) => [
      headline(word, nameOf(finding, mostOfName), whereaboutsOf(finding, mostOfName), paint),
      ...finding.paths.map((difference) => {
        const { path, before, after } = sidesOf(difference, mostOfValue);
        return `      ${path}: ${before} → ${after}`;
      }),
    ]);
  });
  const below = messages("note", "dim", report.notes);
  const blocks = [above, rules, below, [paint("bold", verdictOf(report))]].filter((block) => block.length > 0);
  return `${blocks.map((block) => block.join("\n")).join("\n\n")}\n`;
}

type Style = "red" | "yellow" | "green" | "cyan" | "dim" | "bold";
type Paint = (style: Style, line: string) => string;

function headline({ symbol, word, weight }: Word, name: string, about: readonly string[], paint: Paint): string {
  const beside = about.length === 0 ? "" : `  ${paint("dim", about.join(", "))}`;
  return `  ${paint(colors[weight], `${symbol} ${word}`)}  ${name}${beside}`;
}
