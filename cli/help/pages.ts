import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** A page of the documentation. */
export interface Page {
  /** The path below docs/ without its ending, such as `drift`; without `reference/` where no other page has the name. */
  readonly name: string;
  /** Its line in docs/README.md; empty where it is not listed there. */
  readonly about: string;
  /** Markdown. */
  readonly text: string;
}

/** Reads all pages of the installed package: those of docs/README.md first, in its order. */
export function pages(): Page[] {
  const root = dirname(createRequire(import.meta.url).resolve("pulumi-merchant-rules/package.json"));
  const below = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".md") && path !== index);
  const paths = [...below.sort(), ...atRoot.map((path) => `../${path}`)];
  const listed = [...readFileSync(join(root, "docs", index), "utf8").matchAll(row)].map(
    ([, about = "", path = ""]) => ({ path, about }),
  );
  const ranks = new Map(listed.map(({ path }, at) => [path, at]));
  const rankOf = (path: string): number => ranks.get(path) ?? ranks.size;
  return paths
    .toSorted((a, b) => rankOf(a) - rankOf(b))
    .map((path) => ({
      name: nameOf(path, paths),
      about: listed[rankOf(path)]?.about ?? "",
      text: readFileSync(join(root, "docs", path), "utf8"),
    }));
}

/** Finds the page of a name, as users write it: `drift`, `Drift`, `docs/drift.md`, `reference/errors`. */
export function pageCalled(name: string): Page | undefined {
  const wanted = pathOf(name);
  const all = pages();
  return all.find((page) => page.name === wanted) ?? all.find((page) => page.name === wanted.replace("reference/", ""));
}

/** Returns the headings of a page below its first, in order. */
export function sectionsOf(text: string): string[] {
  return headingsIn(text.split("\n"))
    .slice(1)
    .map(({ title }) => title);
}

/** Returns a section with its heading and what stands below it. @param wanted the heading, or the end of a link to it */
export function sectionOf(text: string, wanted: string): string | undefined {
  const lines = text.split("\n");
  const headings = headingsIn(lines);
  const at = headings.findIndex(({ title }) => anchorOf(title) === anchorOf(wanted));
  const found = headings[at];
  if (found === undefined) return undefined;
  const next = headings.slice(at + 1).find(({ level }) => level <= found.level);
  return lines.slice(found.line, next?.line).join("\n").trimEnd();
}

/** Returns the cells of each row of a page's tables, without heads. */
export function rowsIn(text: string): string[][] {
  const lines = text.split("\n");
  return lines.flatMap((line, at) => {
    const isRow = line.startsWith("| ") && !lines[at + 1]?.startsWith("|---");
    return isRow
      ? [
          line
            .split("|")
            .slice(1, -1)
            .map((cell) => cell.trim()),
        ]
      : [];
  });
}

const index = "README.md";
const atRoot = ["SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"];
/** A row of the table of docs/README.md. */
const row = /^\| ([^|*]+) \| \[[^\]]+\]\(([^)#]+)\) \|$/gm;

function nameOf(path: string, all: readonly string[]): string {
  const name = pathOf(path);
  const short = name.replace("reference/", "");
  return all.includes(`${short}.md`) ? name : short;
}

function pathOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/^(?:\.\.?\/)+/, "")
    .replace(/^docs\//, "")
    .replace(/(?:\/readme)?(?:\.md)?$/, "");
}

interface Heading {
  readonly line: number;
  readonly level: number;
  readonly title: string;
}

function headingsIn(lines: readonly string[]): Heading[] {
  let isCode = false;
  return lines.flatMap((text, line) => {
    if (text.startsWith("```")) isCode = !isCode;
    const [, marks = "", title = ""] = (isCode ? null : /^(#{1,6}) (.*)/.exec(text)) ?? [];
    return marks === "" ? [] : [{ line, level: marks.length, title: title.replaceAll("`", "") }];
  });
}

/** Returns the end of a link to a heading: `exit-codes` for `Exit codes`. */
export function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, "")
    .replaceAll(" ", "-");
}
