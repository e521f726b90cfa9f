import type { Word } from "../../provider/hooks/planned-changes.ts";
import { wordOf } from "../model/kinds.ts";
import type { Finding, Report } from "../model/report.ts";
import { htmlDocument } from "../page/document.ts";
import { aboutLine, messages, pathTable, plainTable, ruleBlock, wordsBlock } from "../page/parts.ts";
import {
  errorsOf,
  escaped,
  groupsOf,
  nameOf,
  tablesOf,
  verdictOf,
  warningsOf,
  whereaboutsOf,
  wordFor,
} from "../words/report-words.ts";
import { shownRuleOf } from "../words/rule-lines.ts";
import { saidOf } from "../words/rule-words.ts";

const mostOfName = 200;
/** A longer list of rules is folded, but for what is lost. */
const mostOpen = 100;

/** Writes one page that fetches nothing: light and dark, on a telephone and on paper. */
export function html(report: Report): string {
  const [first, tables] = tablesOf(report);
  return htmlDocument({
    title: verdictOf(report),
    body: [
      `<h1>${escaped(verdictOf(report))}</h1>`,
      ...aboutLine(report.about),
      ...messages("error", errorsOf(report)),
      ...messages("warning", warningsOf(report)),
      ...first.map(plainTable),
      ...groupsOf(report.findings).flatMap(([change, findings]) => group(wordOf(change, report), findings, report)),
      ...tables.map(plainTable),
      ...messages("note", report.notes),
    ],
  });
}

function group({ symbol, word, title = word, weight }: Word, findings: readonly Finding[], report: Report): string[] {
  const isOpen = weight === "loss" || findings.length <= mostOpen;
  return [
    `<details class="${weight}"${isOpen ? " open" : ""}>`,
    `<summary><h2><span class="symbol" aria-hidden="true">${escaped(symbol)}</span> ${escaped(title)} <span class="count">${findings.length}</span></h2></summary>`,
    ...findings.map((finding) => article(finding, report)),
    "</details>",
  ];
}

function article(finding: Finding, report: Report): string {
  const shown = shownRuleOf(finding, report);
  const renamed = finding.formerName === undefined ? [] : [wordFor(finding, report)];
  return [
    `<article><h3>${escaped(nameOf(finding, mostOfName))}</h3>`,
    ...aboutLine([...renamed, ...whereaboutsOf(finding, mostOfName)]),
    ...wordsBlock(saidOf(finding, report)),
    ...(finding.paths.length === 0 ? [] : [pathTable(finding.paths, report.sides)]),
    ...(finding.details ?? []).map((line) => `<p class="about">${escaped(line)}</p>`),
    ...(shown === undefined ? [] : [ruleBlock(shown)]),
    "</article>",
  ].join("\n");
}
