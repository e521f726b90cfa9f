import { existsSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import type { CommentDisplayPart } from "typedoc";

/** The places of pages in the navigation. Paths are relative to the repository's folder. */
export interface Contents {
  /** Returns the group of a page. */
  groupOf(path: string): string;
  /** Returns the place of a page in its group, from 0; pages of one number are in the order of their names. */
  rankOf(path: string): number;
  /** Returns the place of a group, from 0. */
  rankOfGroup(group: string): number;
}

const index = "docs/README.md";
/** Groups that have pages of their own, in the order in which they follow those of the index. */
const groups = ["Guides", "Examples", "Reference", "API", "Decisions", "Project"];

/**
 * Reads the contents from docs/README.md: its headings are the groups (or rows in bold of its table), and its links are the pages, each where it is linked
 * first. A page that it does not link stands last, in a group by its folder.
 */
export function contentsOf(root: string): Contents {
  const listed = existsSync(join(root, index)) ? linksIn(readFileSync(join(root, index), "utf8")) : new Map();
  const ranks = new Map([...listed.keys()].map((path, at) => [path, at]));
  const order = [...new Set<string>([untitled, ...listed.values(), ...groups])];
  return {
    groupOf: (path) => (path === index ? untitled : (listed.get(path) ?? groupOfFolder(path))),
    rankOf: (path) => ranks.get(path) ?? ranks.size,
    rankOfGroup: (group) => order.indexOf(group),
  };
}

/** TypeDoc shows the entries of a group with this name first and without a heading. */
const untitled = "none";

/** Finds the heading above the first link to each page. */
function linksIn(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let heading = "Guides";
  for (const line of text.split("\n")) {
    heading = headingIn(line) ?? heading;
    for (const [, link = ""] of line.matchAll(/\]\(([^)#\s]+)/g)) {
      const path = normalize(join("docs", link)).replace(/\/$/, "");
      if (!found.has(path) && path !== "README.md") found.set(path, heading);
    }
  }
  return found;
}

/** Returns the words of a heading, or of a row of a table that has nothing but words in bold; undefined for any other line. */
function headingIn(line: string): string | undefined {
  const text = /^##+ (.*)/.exec(line)?.[1] ?? /^\| *\*\*([^*]+)\*\* *\|[ |]*$/.exec(line)?.[1];
  return text === undefined ? undefined : text.charAt(0).toUpperCase() + text.slice(1);
}

function groupOfFolder(path: string): string {
  const [folder = "", inner] = path.split("/");
  if (folder === "examples") return "Examples";
  if (folder !== "docs") return "Project";
  const named = groups.find((group) => group.toLowerCase() === inner);
  return named ?? "Guides";
}

/** Returns the words of the heading with which a page begins. */
export function titleOf(content: readonly CommentDisplayPart[]): string | undefined {
  const [line = ""] = content
    .map(({ text }) => text)
    .join("")
    .split("\n");
  return line.startsWith("# ") ? line.slice(2).replaceAll("`", "") : undefined;
}
