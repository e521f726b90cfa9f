import { stripVTControlCharacters, styleText } from "node:util";

/** The width of a text, its colours, and the ends of its links. */
export interface LayOut {
  readonly width: number;
  readonly hasColor: boolean;
  /** The words after `merchant-rules help` for a link; undefined: it leads to no page. */
  linked(link: string): string | undefined;
}

/** A page in Markdown, as lines that a person reads on a terminal. */
export function laidOut(markdown: string, how: LayOut): string {
  const lines: string[] = [];
  for (const [block] of markdown.replace(/<!--.*?-->\n*/gs, "").matchAll(blocks)) {
    if (lines.length > 0) lines.push("");
    lines.push(...(block.trim() === "" ? [] : linesOf(block, how)));
  }
  return lines.join("\n").replace(/\n{3,}/g, "\n\n");
}

/** A block of code with its fence, else lines up to an empty one; a heading is a block by itself. */
const blocks = /^ *(`{3,})[^`\n]*\n[\s\S]*?^ *\1$|^#{1,6} .*$|(?:^(?!#{1,6} | *`{3,}).*\S.*$\n?)+/gm;

function linesOf(block: string, how: LayOut): string[] {
  const fence = /^ *(`{3,})/.exec(block);
  if (fence !== null)
    return block
      .split("\n")
      .slice(1, -1)
      .map((line) => `    ${line}`);
  const [, marks, title = ""] = /^(#{1,6}) (.*)/.exec(block) ?? [];
  if (marks !== undefined) return [styled(marks === "#" ? ["bold", "underline"] : ["bold"], plain(title), how)];
  if (block.startsWith("|")) return tableOf(block, how);
  return itemsOf(block).flatMap((item) => {
    const [, mark = ""] = /^(\s*(?:[-*]|\d+\.) |\s*)/.exec(item) ?? [];
    return wrapped(inline(item.slice(mark.length), how), mark, " ".repeat(mark.length), how.width);
  });
}

/** Paragraphs and items of a list, each on one line; what is indented below an item belongs to it. */
function itemsOf(block: string): string[] {
  return block
    .trimEnd()
    .split(/\n(?=\s*(?:[-*]|\d+\.) )/)
    .map((item) => item.replace(/\s*\n\s*/g, " "));
}

/** Columns side by side where they fit; else each row as a paragraph, and the cells after its first below it. */
function tableOf(block: string, how: LayOut): string[] {
  const [head = [], , ...rows] = block.trim().split("\n").map(cellsOf);
  const shown = [head, ...rows].map((row) => row.map((cell) => inline(cell, how)));
  const widths = head.map((_, column) => Math.max(...shown.map((row) => lengthOf(row[column] ?? ""))));
  if (widths.reduce((sum, width) => sum + width + 2, 0) <= how.width)
    return shown.map((row, at) => {
      const line = row.map((cell, column) => `${cell}${" ".repeat((widths[column] ?? 0) - lengthOf(cell))}`).join("  ");
      return at === 0 ? styled(["bold"], line.trimEnd(), how) : line.trimEnd();
    });
  return shown.slice(1).flatMap(([first = "", ...others]) => [
    ...wrapped(styled(["bold"], first, how), "", "", how.width),
    ...others.flatMap((cell, at) => {
      const name = plain(head[at + 1] ?? "");
      const label = others.length === 1 || name === "" ? "" : `${name}: `;
      return cell === "" ? [] : wrapped(`${label}${cell}`, "    ", "    ", how.width);
    }),
  ]);
}

function cellsOf(line: string): string[] {
  return line
    .replace(/^\|\s*|\s*\|$/g, "")
    .split(/\s*(?<!\\)\|\s*/)
    .map((cell) => cell.replaceAll("\\|", "|"));
}

/** The words of a text on lines of at most that width, but for a word that is longer. */
function wrapped(text: string, first: string, indent: string, width: number): string[] {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of text.split(" ").filter((each) => each !== "")) {
    if (!isEmpty && lengthOf(line) + 1 + lengthOf(word) > width) {
      lines.push(line);
      line = indent;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}

/** Bold, code and links of a line. Code without a colour keeps its marks. */
function inline(text: string, how: LayOut): string {
  return text
    .replace(/!?\[((?:[^\]`]|`[^`]*`)*)\]\(([^)\s]*)\)/g, (_, words: string, link: string) => {
      const page = how.linked(link);
      if (page !== undefined) return `${words} [help ${page}]`;
      return /^https?:/.test(link) && words !== link ? `${words} (${link})` : words;
    })
    .replace(/(`+)(.+?)\1|\*\*(.+?)\*\*|\*([^\s*][^*]*)\*/g, (whole, _marks, code, bold?: string, italic?: string) => {
      if (bold !== undefined) return styled(["bold"], bold, how);
      if (italic !== undefined) return styled(["italic"], italic, how);
      return how.hasColor ? styled(["cyan"], String(code), how) : whole;
    });
}

function plain(text: string): string {
  return text.replaceAll("`", "");
}

function styled(styles: Parameters<typeof styleText>[0], text: string, { hasColor }: LayOut): string {
  // The caller has asked the stream.
  return hasColor ? styleText(styles, text, { validateStream: false }) : text;
}

function lengthOf(text: string): number {
  return stripVTControlCharacters(text).length;
}
