import { printable } from "../../sdk/json/printable.ts";
import { type Change, wordOf } from "../model/kinds.ts";
import type { Finding, Report, Table } from "../model/report.ts";
import {
  cellOf,
  countsOf,
  errorsOf,
  groupsOf,
  linesOf,
  nameOf,
  sidesOf,
  tablesOf,
  verdictOf,
  warningsOf,
  whereaboutsOf,
  wordFor,
} from "../words/report-words.ts";
import { type ShownRule, shownRuleOf, wholeLines } from "../words/rule-lines.ts";
import { saidOf, wordLines } from "../words/rule-words.ts";
import { leastOfComment } from "./formats.ts";

const mostOfName = 120;
const mostOfValue = 200;
const mostOfMessage = 1_000;
const mostOfLine = 2_000;
const mostMessages = 20;
/** More paths of one rule are counted. */
const mostPaths = 20;
/** A longer table is folded, but for what is lost. */
const mostOpenRows = 20;

/**
 * Writes a report for pull requests and job summaries on GitHub and GitLab. It begins with a hidden line that is the same in
 * each report of this kind on this subject, so that a job finds its own comment and replaces it. What has no room is
 * counted: the rules themselves are left out before the lines that name them.
 * @param limit the most UTF-16 units that it has, which are never fewer than the characters that the services count
 */
export function markdown(report: Report, limit = Number.POSITIVE_INFINITY): string {
  const { about, notes, findings } = report;
  const page = new Page(Math.max(limit, leastOfComment));
  page.add(`${markerOf(report)}\n### ${plain(verdictOf(report))}\n`);
  page.reserve(roomForRest, () => {
    for (const line of about.slice(0, mostMessages)) page.add(`\n> ${quoted(line)}\n`);
    for (const { text } of errorsOf(report).slice(0, mostMessages)) page.add(`\n> **Error:** ${quoted(text)}\n`);
    for (const { text } of warningsOf(report).slice(0, mostMessages)) page.add(`\n> **Warning: ${quoted(text)}**\n`);
  });
  const [first, tables] = tablesOf(report);
  const written = new Set<Finding>();
  const rules: RulePlace[] = [];
  let [hidden, lost] = [0, 0];
  page.reserve(roomForRest, () => {
    for (const table of first) if (!page.add(tableOf(table))) lost += 1;
    for (const [change, group] of groupsOf(findings)) if (!addGroup(page, change, group, report, written, rules)) break;
    if (written.size === findings.length) {
      for (const table of tables) if (!page.add(tableOf(table))) lost += 1;
      for (const note of notes.slice(0, mostMessages)) page.add(`\n> ${quoted(note)}\n`);
    }
    for (const { slot, block } of rules) if (!page.addTo(slot, block)) hidden += 1;
  });
  const rest = findings.filter((finding) => !written.has(finding));
  if (rest.length > 0) page.add(`\n**Not shown, for want of room: ${plain(countsOf(countedAgain(rest, report)))}.**\n`);
  if (lost > 0) page.add(`\n**${lost} of the tables have no room here.**\n`);
  if (hidden > 0) page.add(`\n**What is in ${hidden} of these rules is not shown, for want of room.**\n`);
  return page.text;
}

/** A rule as a whole, and the place of the page to which it belongs. */
interface RulePlace {
  readonly slot: number;
  readonly block: string;
}

const roomForRest = 800;

/** Returns the hidden line by which a job finds its comment. Two projects of one repository may have stacks of one name. */
export function markerOf({ report, subject, project }: Pick<Report, "report" | "subject" | "project">): string {
  const texts = [subject, ...(project === undefined ? [] : [`project ${project}`])];
  const about = texts.map((text) => encodeURIComponent(text.slice(0, 100).toWellFormed()).replaceAll("-", "%2D"));
  return `<!-- merchant-rules ${report}: ${about.join(" of ")} -->`;
}

/** A text that grows up to a length, at its end and at slots that were left open. */
class Page {
  readonly #pieces: string[] = [];
  #length = 0;
  #room: number;

  constructor(room: number) {
    this.#room = room;
  }

  get text(): string {
    return this.#pieces.join("");
  }

  get room(): number {
    return this.#room - this.#length;
  }

  /** Adds a piece at the end. @returns false, and nothing is added, where it does not fit */
  add(piece: string): boolean {
    return this.addTo(this.#pieces.length, piece);
  }

  /** Opens a place at the present end, at which more can be added later. */
  slot(): number {
    return this.#pieces.push("") - 1;
  }

  /** Adds a piece at a slot. @returns false, and nothing is added, where it does not fit */
  addTo(slot: number, piece: string): boolean {
    if (piece.length > this.room) return false;
    this.#pieces[slot] = `${this.#pieces[slot] ?? ""}${piece}`;
    this.#length += piece.length;
    return true;
  }

  /** Keeps `length` characters free for what comes after the work, while that is done. */
  reserve(length: number, work: () => void): void {
    this.#room -= length;
    work();
    this.#room += length;
  }
}

/** Adds one table of findings, and a slot below it for the rules. @returns whether all of them had room */
function addGroup(
  page: Page,
  change: Change,
  findings: readonly Finding[],
  report: Report,
  written: Set<Finding>,
  rules: RulePlace[],
): boolean {
  const { word, title: heading = word, symbol, weight } = wordOf(change, report);
  const hasPaths = findings.some(({ paths }) => paths.length > 0);
  const rows = findings.reduce((sum, { paths }) => sum + Math.max(1, Math.min(paths.length, mostPaths)), 0);
  const isFolded = rows > mostOpenRows;
  const title = `${symbol} ${heading} (${findings.length})`;
  const opening = isFolded
    ? `\n<details${weight === "loss" ? " open" : ""}><summary><b>${plain(title)}</b></summary>\n\n`
    : `\n**${plain(title)}**\n\n`;
  // Where paths are told, words are the first of them.
  const hasWords = !hasPaths && findings.some((finding) => saidOf(finding, report).length > 0);
  const columns = [
    "Rule",
    ...(hasWords ? ["In words"] : []),
    "Where",
    ...(hasPaths ? ["Path", report.sides.before, report.sides.after] : []),
  ];
  const head = `${rowOf(columns.map((column) => plain(printable(column, 40))))}${rowOf(columns.map(() => "---"))}`;
  const closing = isFolded ? "\n</details>\n" : "";
  const tables = findings.map((finding) => rowsOf(finding, { hasPaths, hasWords }, report));
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
  const slot = page.slot();
  for (const finding of findings) {
    const shown = written.has(finding) ? shownRuleOf(finding, report) : undefined;
    if (shown !== undefined) rules.push({ slot, block: ruleBlock(nameOf(finding, mostOfName), shown) });
  }
  page.add(closing);
  return isWhole;
}

function rowsOf(
  finding: Finding,
  { hasPaths, hasWords }: { readonly hasPaths: boolean; readonly hasWords: boolean },
  report: Report,
): string {
  const name = code(nameOf(finding, mostOfName));
  const renamed = finding.formerName === undefined ? [] : [wordFor(finding, report)];
  const details = [
    ...(hasPaths ? saidOnce(finding, report) : []),
    ...(finding.details ?? []).slice(0, mostPaths).map((line) => printable(line, mostOfValue)),
  ];
  const where = [...renamed, ...whereaboutsOf(finding, mostOfName), ...details].map(plain).join("<br>");
  if (!hasPaths) return rowOf([name, ...(hasWords ? [wordLines(finding, report).map(plain).join("<br>")] : []), where]);
  const paths = finding.paths.slice(0, mostPaths).map((difference) => {
    const { path, before, after } = sidesOf(difference, mostOfValue);
    return [path, before, after].map(code);
  });
  const [first = ["", "", ""], ...others] = [...wordCells(finding, report), ...paths];
  const left = finding.paths.length - mostPaths;
  const more = left > 0 ? [["", "", `and ${left} more`, "", ""]] : [];
  return [[name, where, ...first], ...others.map((cells) => ["", "", ...cells]), ...more].map(rowOf).join("");
}

/** Returns what is said of both sides at once: that neither can be read. */
function saidOnce(finding: Finding, report: Report): string[] {
  return saidOf(finding, report).flatMap(({ label, short }) => (label === undefined ? [printable(short)] : []));
}

/** Returns a rule in words as a row of the table of paths: its label, before, after. */
function wordCells(finding: Finding, report: Report): string[][] {
  const said = saidOf(finding, report).filter(({ label }) => label !== undefined);
  if (said.length === 0) return [];
  const cell = (wanted: "before" | "after"): string =>
    said.flatMap(({ side, short }) => (side === wanted ? [plain(printable(short))] : [])).join("<br>");
  return [["in words", cell("before"), cell("after")]];
}

/** Writes a rule as a whole, folded. Without an empty line in it, all of it is HTML to Markdown. */
function ruleBlock(name: string, { rule, title }: ShownRule): string {
  const lines = wholeLines(rule).map((line) => encoded(printable(line, mostOfLine)));
  return `\n<details><summary>${code(name)}: ${plain(title)}</summary>\n<pre>${lines.join("\n")}</pre>\n</details>\n`;
}

function tableOf({ title, columns, rows }: Table): string {
  const row = (cells: readonly string[]): string => rowOf(cells.map((cell) => plain(printable(cell, mostOfValue))));
  const head = `${row(columns)}${rowOf(columns.map(() => "---"))}`;
  return `\n**${plain(printable(title, mostOfName))}**\n\n${head}${rows.map((cells) => row(cells.map(cellOf))).join("")}`;
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |\n`;
}

function quoted(message: string): string {
  return linesOf(message, mostOfMessage).map(plain).join("<br>");
}

/** Writes a string as code, but not in backticks: a value may have those, and a bar in them would end a table's cell. */
function code(text: string): string {
  return text === "" ? "" : `<code>${encoded(text)}</code>`;
}

/** Writes words of ours with foreign text in them. A blank of no width keeps names and numbers from becoming links. */
function plain(text: string): string {
  return encoded(text.replace(/[@#!~%$&](?=\w)/g, "$&\u200b"));
}

/** Writes a string that means nothing to Markdown and HTML: whatever could is a character reference, which stays text. */
function encoded(text: string): string {
  return text
    .replace(/[\\`*_~[\]<>&|$@#]|:(?=\/\/|\S+:)/g, (character) => `&#${character.charCodeAt(0)};`)
    .replaceAll("www.", "www&#46;");
}

function countedAgain(findings: readonly Finding[], { sides }: Report): Pick<Report, "counts" | "sides"> {
  return { sides, counts: Object.fromEntries(groupsOf(findings).map(([change, group]) => [change, group.length])) };
}
