import { printable } from "../../sdk/json/printable.ts";
import type { Finding, Report } from "../model/report.ts";
import {
  errorsOf,
  linesOf,
  type Message,
  nameOf,
  pathLine,
  warningsOf,
  whereaboutsOf,
  wordFor,
} from "../words/report-words.ts";
import { wordLines } from "../words/rule-words.ts";

const most = 200;
/** GitHub shows no more of a kind in one step. */
const mostOfKind = 10;

/**
 * Returns the commands by which a job on GitHub shows findings beside the lines of a pull request: an error for what fails
 * the job, a warning for the rest. GitHub shows ten of each kind.
 * @param areFailures whether the findings fail the job; what the report calls an error always does
 * @param inRepository gives the path of a finding's file from the root of the repository
 */
export function githubAnnotations(
  report: Report,
  areFailures: boolean,
  inRepository: (file: string) => string,
): string[] {
  const placed = ({ file, line }: Message | Finding): string[] => {
    if (file === undefined) return [];
    const place = property("file", printable(inRepository(file), 4 * most));
    return line === undefined ? [place] : [place, property("line", String(line))];
  };
  const findings = report.findings.map((finding) => {
    const word = wordFor(finding, report);
    return {
      properties: [...placed(finding), property("title", `${nameOf(finding, most)}: ${word}`)],
      text: textOf(finding, word, report),
    };
  });
  const said = (message: Message): Annotation => ({
    properties: placed(message),
    text: linesOf(message.text, 4 * most).join("\n"),
  });
  const errors = [...errorsOf(report).map(said), ...(areFailures ? findings : [])];
  const warnings = [...warningsOf(report).map(said), ...(areFailures ? [] : findings)];
  return [
    ...errors.slice(0, mostOfKind).map((each) => command("error", each)),
    ...warnings.slice(0, mostOfKind).map((each) => command("warning", each)),
  ];
}

interface Annotation {
  readonly properties: readonly string[];
  readonly text: string;
}

function textOf({ file: _place, ...finding }: Finding, word: string, report: Report): string {
  const differences = finding.paths.map((difference) => pathLine(difference, most));
  const details = (finding.details ?? []).map((line) => printable(line, 4 * most));
  const own = differences.length > 0 ? [...differences, ...details] : whereaboutsOf(finding, most);
  const lines = [...wordLines(finding, report), ...own];
  return lines.length === 0 ? word : lines.slice(0, 20).join("\n");
}

function command(kind: "error" | "warning", { properties, text }: Annotation): string {
  const about = properties.length === 0 ? "" : ` ${properties.join(",")}`;
  return `::${kind}${about}::${escapedData(text)}`;
}

function property(name: string, value: string): string {
  return `${name}=${escapedData(value).replaceAll(":", "%3A").replaceAll(",", "%2C")}`;
}

/** Escapes a string as the runner reads it: anything else would end the command, or begin another. */
function escapedData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
