import { globSync } from "node:fs";
import { expect, test } from "vitest";
import { codeIn, pageAt, root } from "./page.ts";

/** Folders that commands make. */
const made = ["site/", ".spark/"];

/** The paths of this repository that a page names in `code`, or in a block as a test to run; `<name>` stands for any name. */
function pathsIn(page: string): string[] {
  const words = [...codeIn(page), ...(page.match(/ test\/\S+/g) ?? [])].flatMap((code) => code.split(/[\s(),]+/));
  const paths = words.filter((word) => /^\.?[\w-]+\/[\w./<>*{}-]*$/.test(word) && !word.startsWith("pulumi-merchant"));
  return [...new Set(paths)].filter((path) => !made.includes(path));
}

test.each(["CONTRIBUTING.md", "docs/architecture.md"])("%s names only paths that there are", (name) => {
  const paths = pathsIn(pageAt(name));
  expect(paths.length).toBeGreaterThan(20);
  const missing = paths.filter((path) => globSync(path.replaceAll(/<\w+>/g, "*"), { cwd: root }).length === 0);
  expect(missing).toEqual([]);
});
