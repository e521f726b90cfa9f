import type { Word } from "../provider/planned-changes.ts";
import { htmlDocument } from "./page/document.ts";
import { aboutLine, messages, pathTable } from "./page/parts.ts";
import type { Finding, Report } from "./report.ts";
import { escaped, groupsOf, nameOf, verdictOf, whereaboutsOf, wordOf } from "./words.ts";

const mostOfName = 200;
/** A longer list of rules is folded, but for what is lost. */
const mostOpen = 100;

/** One page that fetches nothing: light and dark, on a telephone and on paper. */
export function html(report: Report): string {
  return htmlDocument({
    title: verdictOf(report),
    body: [
      `<h1>${escaped(verdictOf(report))}</h1>`,
      ...messages("error", report.errors),
      ...messages("warning", report.warnings),
      ...groupsOf(report.findings).flatMap(([change, findings]) => group(wordOf(change, report), findings, report)),
      ...messages("note", report.notes),
    ],
  });
}

function group({ symbol, word, weight }: Word, findings: readonly Finding[], report: Report): string[] {
  const isOpen = weight === "loss" || findings.length <= mostOpen;
  return [
    `<details class="${weight}"${isOpen ? " open" : ""}>`,
    `<summary><h2><span class="symbol" aria-hidden="true">${escaped(symbol)}</span> ${escaped(word)} <span class="count">${findings.length}</span></h2></summary>`,
    ...findings.map((finding) => article(finding, report)),
    "</details>",
  ];
}

function article(finding: Finding, { sides }: Report): string {
  return [
    `<article><h3>${escaped(nameOf(finding, mostOfName))}</h3>`,
    ...aboutLine(whereaboutsOf(finding, mostOfName)),
    ...(finding.paths.length === 0 ? [] : [pathTable(finding.paths, sides)]),
    "</article>",
  ].join("\n");
}
