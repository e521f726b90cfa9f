import { printable } from "../../sdk/json/printable.ts";
import type { Finding, Report, Table } from "../model/report.ts";
import {
  cellOf,
  errorsOf,
  escaped,
  linesOf,
  type Message,
  nameOf,
  pathLine,
  unchangedOf,
  verdictOf,
  warningsOf,
  whereaboutsOf,
  wordFor,
} from "../words/report-words.ts";
import { shownRuleOf, wholeLines } from "../words/rule-lines.ts";
import { wordLines } from "../words/rule-words.ts";

const most = 500;
const mostOfName = 200;

/**
 * Writes JUnit's XML as GitHub, GitLab and Jenkins read it: a failed test case for each rule that differs, one that passed
 * for all others, one with an error for each error.
 */
export function junit(report: Report): string {
  const { about, notes, findings, tables } = report;
  const errors = errorsOf(report);
  const warnings = warningsOf(report).map(({ text }) => text);
  const suite = `merchant-rules ${report.report}`;
  const isTaken = new Set<string>();
  const cases = [
    ...errors.map((error, index) => {
      const lines = linesOf(error.text, 4 * most).map(escaped);
      const outcome = `<error message="${lines[0]}">${lines.join("\n")}</error>`;
      return testCase(suite, `error ${index + 1}`, outcome, placeOf(error));
    }),
    ...findings.map((finding) => {
      const resource = printable(finding.resource ?? suite, mostOfName);
      return testCase(resource, ownName(finding, resource, isTaken), failureOf(finding, report), placeOf(finding));
    }),
    testCase(suite, unchangedOf(report), undefined),
  ];
  const counts = `tests="${cases.length}" failures="${findings.length}" errors="${errors.length}"`;
  const said = [verdictOf(report), ...about, ...warnings, ...tables.flatMap(tableLines), ...notes]
    .flatMap((line) => linesOf(line, 4 * most).map(escaped))
    .join("\n");
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${suite}" ${counts} time="0">`,
    `  <testsuite name="${escaped(printable(`${suite}: ${report.subject}`, 4 * most))}" ${counts} skipped="0" time="0">`,
    ...cases,
    `    <system-out>${said}</system-out>`,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function testCase(resource: string, name: string, outcome: string | undefined, place = ""): string {
  const opening = `    <testcase classname="${escaped(resource)}" name="${escaped(name)}"${place} time="0"`;
  return outcome === undefined ? `${opening}/>` : `${opening}>${outcome}</testcase>`;
}

function tableLines({ title, columns, rows }: Table): string[] {
  return [title, ...[columns, ...rows.map((row) => row.map(cellOf))].map((row) => row.join("; "))];
}

/** Returns the attributes by which GitLab and others link a test to its source. */
function placeOf({ file, line }: Finding | Message): string {
  if (file === undefined) return "";
  return ` file="${escaped(file)}"${line === undefined ? "" : ` line="${line}"`}`;
}

/**
 * Returns a name that no other test case of the class has, and adds it to `isTaken`. Readers tell test cases by class and
 * name, cut and escaped: a second rule of one name gets its key, id or kind of finding as well, a third one a number.
 */
function ownName(finding: Finding, resource: string, isTaken: Set<string>): string {
  const { key, ruleId, change } = finding;
  const name = nameOf(finding, mostOfName);
  const about = printable(key ?? ruleId ?? change, mostOfName);
  const names = [name, `${name} (${about})`];
  for (let number = 2; ; number += 1) {
    const own = names.shift() ?? `${name} (${about}, ${number})`;
    const mark = JSON.stringify([resource, own]);
    if (isTaken.has(mark)) continue;
    isTaken.add(mark);
    return own;
  }
}

function failureOf(finding: Finding, report: Report): string {
  const word = wordFor(finding, report);
  const shown = shownRuleOf(finding, report);
  const about = whereaboutsOf(finding, most);
  const differences = finding.paths.map((difference) => pathLine(difference, most));
  const said = wordLines(finding, report);
  const message = [word, ...said, ...(differences.length === 0 ? about : differences.slice(0, 3))].join("; ");
  const whole = shown === undefined ? [] : [`${shown.title}:`, ...wholeLines(shown.rule)];
  const lines = [...about, ...said, ...differences, ...(finding.details ?? []), ...whole].map(escaped).join("\n");
  return `<failure type="${escaped(word)}" message="${escaped(printable(message, 4 * most))}">${lines}</failure>`;
}
