import { printable } from "../sdk/rules/printable.ts";
import { leastOfComment } from "./formats.ts";
import type { Change, Finding, Report } from "./report.ts";
import { countsOf, groupsOf, linesOf, nameOf, sidesOf, verdictOf, whereaboutsOf, wordOf } from "./words.ts";

const mostOfName = 120;
const mostOfValue = 200;
const mostOfMessage = 1_000;
const mostMessages = 20;
/** More paths of one rule are counted. */
const mostPaths = 20;
/** A longer table is folded, but for what is lost. */
const mostOpenRows = 20;

/**
 * For pull requests and job summaries on GitHub and GitLab. Begins with a hidden line that is the same in each report of
 * this kind on this subject, so that a job finds its own comment and replaces it.
 * @param limit the most UTF-16 units that it has, which are never fewer than the characters that the services count
 */
export function markdown(report: Report, limit = Number.POSITIVE_INFINITY): string {
  const { errors, warnings, notes, findings } = report;
  const page = new Page(Math.max(limit, leastOfComment));
  page.add(`${markerOf(report)}\n### ${plain(verdictOf(report))}\n`);
  for (const error of errors.slice(0, mostMessages)) page.add(`\n> **Error:** ${quoted(error)}\n`);
  for (const warning of warnings.slice(0, mostMessages)) page.add(`\n> **Warning: ${quoted(warning)}**\n`);
  const written = new Set<Finding>();
  page.reserve(roomForRest, () => {
    for (const [change, group] of groupsOf(findings)) if (!addGroup(page, change, group, report, written)) break;
    if (written.size === findings.length)
      for (const note of notes.slice(0, mostMessages)) page.add(`\n> ${quoted(note)}\n`);
  });
  const rest = findings.filter((finding) => !written.has(finding));
  if (rest.length > 0) page.add(`\n**Not shown, for want of room: ${plain(countsOf(countedAgain(rest, report)))}.**\n`);
  return page.text;
}

const roomForRest = 800;

/** The hidden line by which a job finds its comment. */
export function markerOf({ report, subject }: Pick<Report, "report" | "subject">): string {
  return `<!-- merchant-rules ${report}: ${encodeURIComponent(subject.toWellFormed().slice(0, 100)).replaceAll("-", "%2D")} -->`;
}

/** A text that grows up to a length. */
class Page {
  text = "";
  #room: number;

  constructor(room: number) {
    this.#room = room;
  }

  get room(): number {
    return this.#room - this.text.length;
  }

  /** @returns false, and nothing is added, where it does not fit */
  add(piece: string): boolean {
    if (piece.length > this.room) return false;
    this.text += piece;
    return true;
  }

  /** Does work that leaves room for what comes after it. */
  reserve(length: number, work: () => void): void {
    this.#room -= length;
    work();
    this.#room += length;
  }
}

/** Adds one table of findings. @returns whether all of them had room */
function addGroup(
  page: Page,
  change: Change,
  findings: readonly Finding[],
  report: Report,
  written: Set<Finding>,
): boolean {
  const { word, symbol, weight } = wordOf(change, report);
  const hasPaths = findings.some(({ paths }) => paths.length > 0);
  const rows = findings.reduce((sum, { paths }) => sum + Math.max(1, Math.min(paths.length, mostPaths)), 0);
  const isFolded = rows > mostOpenRows;
  const title = `${symbol} ${word} (${findings.length})`;
  const opening = isFolded
    ? `\n<details${weight === "loss" ? " open" : ""}><summary><b>${plain(title)}</b></summary>\n\n`
    : `\n**${plain(title)}**\n\n`;
  const columns = ["Rule", "Where", ...(hasPaths ? ["Path", report.sides.before, report.sides.after] : [])];
  const head = `${rowOf(columns.map((column) => plain(printable(column, 40))))}${rowOf(columns.map(() => "---"))}`;
  const closing = isFolded ? "\n</details>\n" : "";
  const tables = findings.map((finding) => rowsOf(finding, hasPaths));
  if (opening.length + head.length + (tables[0] ?? "").length + closing.length > page.room) return false;
  page.add(opening + head);
  let isWhole = true;
  page.reserve(closing.length, () => {
    for (const [index, finding] of findings.entries()) {
      if (!page.add(tables[index] ?? "")) {
        isWhole = false;
        return;
      }
      written.add(finding);
    }
  });
  page.add(closing);
  return isWhole;
}

/** The rows of a finding: one, or one for each path. */
function rowsOf(finding: Finding, hasPaths: boolean): string {
  const name = code(nameOf(finding, mostOfName));
  const where = whereaboutsOf(finding, mostOfName).map(plain).join("<br>");
  if (!hasPaths) return rowOf([name, where]);
  const [first = ["", "", ""], ...others] = finding.paths.slice(0, mostPaths).map((difference) => {
    const { path, before, after } = sidesOf(difference, mostOfValue);
    return [path, before, after].map(code);
  });
  const left = finding.paths.length - mostPaths;
  const more = left > 0 ? [["", "", `and ${left} more`, "", ""]] : [];
  return [[name, where, ...first], ...others.map((cells) => ["", "", ...cells]), ...more].map(rowOf).join("");
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |\n`;
}

/** A message on one line of Markdown. */
function quoted(message: string): string {
  return linesOf(message, mostOfMessage).map(plain).join("<br>");
}

/** As code, but not in backticks: a value may have those, and a bar in them would end a table's cell. */
function code(text: string): string {
  return text === "" ? "" : `<code>${encoded(text)}</code>`;
}

/** Words of ours, with text of others in them. A blank of no width keeps names and numbers from becoming links. */
function plain(text: string): string {
  return encoded(text.replace(/[@#!~%$&](?=\w)/g, "$&\u200b"));
}

/** Text that means nothing to Markdown and HTML: whatever could is a character reference, which stays text. */
function encoded(text: string): string {
  return text
    .replace(/[\\`*_~[\]<>&|$@#]|:(?=\/\/|\S+:)/g, (character) => `&#${character.charCodeAt(0)};`)
    .replaceAll("www.", "www&#46;");
}

function countedAgain(findings: readonly Finding[], { sides }: Report): Pick<Report, "counts" | "sides"> {
  return { sides, counts: Object.fromEntries(groupsOf(findings).map(([change, group]) => [change, group.length])) };
}
