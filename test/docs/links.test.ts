import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { expect, test } from "vitest";
import { root, withoutBlocks } from "./page.ts";

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...readdirSync(`${root}docs`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
  "examples/README.md",
  ...readdirSync(`${root}examples`)
    .map((name) => `examples/${name}/README.md`)
    .filter((page) => existsSync(root + page)),
];

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of withoutBlocks(text).matchAll(/^#{1,6} (.*)$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\- ]/gu, "")
      .replaceAll(" ", "-");
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** The links of a page that lead to this repository, without what stands in code. */
function linksOf(text: string): string[] {
  const prose = withoutBlocks(text).replace(/``.*?``/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => (/^[a-z]+:/.test(link) ? [] : [link]));
}

test("there are pages, with links to each other", () => {
  expect(pages).toContain("README.md");
  expect(pages).toContain("docs/reference/contract.md");
  expect(pages.flatMap((page) => linksOf(readFileSync(root + page, "utf8"))).length).toBeGreaterThan(80);
});

test.each(pages)("%s links only to what is there", (page) => {
  const text = readFileSync(root + page, "utf8");
  const dead = linksOf(text).filter((link) => {
    const [path = "", anchor] = link.split("#");
    const file = path === "" ? root + page : resolve(root, dirname(page), path);
    if (!existsSync(file)) return true;
    if (anchor === undefined) return false;
    return statSync(file).isDirectory() || !anchorsOf(readFileSync(file, "utf8")).has(anchor);
  });
  expect(dead).toEqual([]);
});

test("the pages of the reference are linked from the README and from each other", () => {
  const reference = pages.filter((page) => page.startsWith("docs/reference/"));
  const readme = linksOf(readFileSync(`${root}README.md`, "utf8"));
  expect(reference.length).toBeGreaterThanOrEqual(5);
  for (const page of reference) {
    expect(readme, page).toContain(page);
    const name = page.replace("docs/reference/", "");
    const others = reference.filter((other) => other !== page);
    const from = others.filter((other) =>
      linksOf(readFileSync(root + other, "utf8")).some((link) => link.startsWith(name)),
    );
    expect(from.length, page).toBeGreaterThan(0);
  }
});
