import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The repository's folder, with a slash at its end. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** A page by its path from the repository's folder. */
export function pageAt(path: string): string {
  return readFileSync(root + path, "utf8");
}

/** The blocks of code of a page in one language, in order. */
export function blocksOf(page: string, language: string): string[] {
  return [...page.matchAll(/^ *```(\w*)\n(.*?)^ *```$/gms)].flatMap(([, found, text = ""]) =>
    found === language ? [text] : [],
  );
}

/** The cells of every row of a page's tables, as they are written; heads are left out. */
export function rowsOf(page: string): string[][] {
  const lines = withoutBlocks(page).split("\n");
  return lines.flatMap((line, at) => {
    const isHead = isRule(lines[at + 1]);
    if (!line.startsWith("|") || isRule(line) || isHead) return [];
    const cells = line.slice(1, line.lastIndexOf("|")).split(/(?<!\\)\|/);
    return [cells.map((cell) => cell.trim().replaceAll("\\|", "|"))];
  });
}

/** The section below a heading of a page, up to the next heading of the same depth or above. */
export function sectionOf(page: string, heading: string): string {
  const lines = page.split("\n");
  const from = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, "") === heading);
  if (from === -1) throw new Error(`the page has no heading ${heading}`);
  const depth = lines[from]?.indexOf(" ") ?? 0;
  const length = lines.slice(from + 1).findIndex((line) => new RegExp(`^#{1,${depth}} `).test(line));
  return lines.slice(from + 1, length === -1 ? undefined : from + 1 + length).join("\n");
}

/** The texts that a page has in `code`, outside its blocks. */
export function codeIn(page: string): string[] {
  return [...withoutBlocks(page).matchAll(/`([^`\n]+)`/g)].map(([, text = ""]) => text.replaceAll("\\|", "|"));
}

export function withoutBlocks(page: string): string {
  return page.replace(/^ *```.*?^ *```$/gms, "");
}

function isRule(line = ""): boolean {
  return /^\|(?: *:?-+:? *\|)+$/.test(line);
}
