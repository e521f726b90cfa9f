import { printable } from "../../sdk/json/printable.ts";
import type { PathFinding, Report, Table } from "../model/report.ts";
import { cellOf, escaped, escapedWhole, linesOf, type Message, sidesOf } from "../words/report-words.ts";
import { type ShownRule, wholeLines } from "../words/rule-lines.ts";
import type { SideInWords } from "../words/rule-words.ts";

const mostOfValue = 2_000;
const mostOfMessage = 4_000;

const messageWords = { error: "Error:", warning: "Warning:", note: "Note:" } as const;

export function messages(kind: keyof typeof messageWords, all: readonly (string | Message)[]): string[] {
  return all.map((message) => {
    const text = typeof message === "string" ? message : message.text;
    const lines = linesOf(text, mostOfMessage).map(escaped);
    return `<p class="${kind}"><strong>${messageWords[kind]}</strong> ${lines.join("\n")}</p>`;
  });
}

/** Returns the line below a rule's name; none where there is nothing to say. */
export function aboutLine(texts: readonly string[]): string[] {
  if (texts.length === 0) return [];
  return [`<p class="about">${texts.map((text) => `<span>${escaped(text)}</span>`).join(" ")}</p>`];
}

/** Returns a rule in words, a block for each side of a change. */
export function wordsBlock(said: readonly SideInWords[]): string[] {
  return said.map(({ label, words }) => {
    const side = label === undefined ? "" : `<span class="side">${escaped(printable(label, 40))}:</span> `;
    return `<p class="words">${side}${escapedWhole(words)}</p>`;
  });
}

export function pathTable(paths: readonly PathFinding[], { before, after }: Report["sides"]): string {
  const [was, is] = [escaped(printable(before, 40)), escaped(printable(after, 40))];
  const rows = paths.map((difference) => {
    const side = sidesOf(difference, mostOfValue);
    const cell = (label: string, text: string): string => `<td data-side="${label}"><code>${escaped(text)}</code></td>`;
    return `<tr><th scope="row"><code>${escaped(side.path)}</code></th>${cell(was, side.before)}${cell(is, side.after)}</tr>`;
  });
  return `<table><thead><tr><th scope="col">Path</th><th scope="col">${was}</th><th scope="col">${is}</th></tr></thead><tbody>\n${rows.join("\n")}\n</tbody></table>`;
}

/** A rule of more lines is closed at first, and so is one whose differences are told already. */
const mostOpenLines = 10;

export function ruleBlock({ rule, title, isNews }: ShownRule): string {
  const lines = wholeLines(rule);
  const isOpen = isNews && lines.length <= mostOpenLines;
  return `<details class="rule"${isOpen ? " open" : ""}><summary>${escaped(title)}</summary><pre><code>${lines.map(escaped).join("\n")}</code></pre></details>`;
}

export function plainTable({ title, columns, rows }: Table): string {
  const head = columns.map((column) => `<th scope="col">${escaped(column)}</th>`).join("");
  const body = rows.map(
    (row) =>
      `<tr>${row.map((cell, at) => `<td data-side="${escaped(columns[at] ?? "")}">${escaped(cellOf(cell))}</td>`).join("")}</tr>`,
  );
  return `<section><h2>${escaped(title)}</h2>\n<table><thead><tr>${head}</tr></thead><tbody>\n${body.join("\n")}\n</tbody></table></section>`;
}
