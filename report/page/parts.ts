import { printable } from "../../sdk/rules/printable.ts";
import type { PathFinding, Report } from "../report.ts";
import { escaped, linesOf, sidesOf } from "../words.ts";

const mostOfValue = 2_000;
const mostOfMessage = 4_000;

const messageWords = { error: "Error:", warning: "Warning:", note: "Note:" } as const;

/** A block for each message. */
export function messages(kind: keyof typeof messageWords, all: readonly string[]): string[] {
  return all.map((message) => {
    const lines = linesOf(message, mostOfMessage).map(escaped);
    return `<p class="${kind}"><strong>${messageWords[kind]}</strong> ${lines.join("\n")}</p>`;
  });
}

/** The line below a rule's name; none where there is nothing to say. */
export function aboutLine(texts: readonly string[]): string[] {
  if (texts.length === 0) return [];
  return [`<p class="about">${texts.map((text) => `<span>${escaped(text)}</span>`).join(" ")}</p>`];
}

/** What differs, a path a row. */
export function pathTable(paths: readonly PathFinding[], { before, after }: Report["sides"]): string {
  const [was, is] = [escaped(printable(before, 40)), escaped(printable(after, 40))];
  const rows = paths.map((difference) => {
    const side = sidesOf(difference, mostOfValue);
    const cell = (label: string, text: string): string => `<td data-side="${label}"><code>${escaped(text)}</code></td>`;
    return `<tr><th scope="row"><code>${escaped(side.path)}</code></th>${cell(was, side.before)}${cell(is, side.after)}</tr>`;
  });
  return `<table><thead><tr><th scope="col">Path</th><th scope="col">${was}</th><th scope="col">${is}</th></tr></thead><tbody>\n${rows.join("\n")}\n</tbody></table>`;
}
