import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { inflateSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { newFolder } from "../support/folder.ts";
import { root } from "./page.ts";

let site = "";
/** The generator's output. */
let output = "";
/** The pages of the site, by their path in it. */
const pages = new Map<string, string>();

beforeAll(() => {
  site = newFolder();
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["node_modules/typedoc/bin/typedoc", "--out", site, "--logLevel", "Warn"],
    { cwd: root, encoding: "utf8" },
  );
  output = `${stdout}${stderr}${status === 0 ? "" : `exit code ${status}`}`;
  for (const path of readdirSync(site, { recursive: true, encoding: "utf8" }))
    if (path.endsWith(".html")) pages.set(path, readFileSync(join(site, path), "utf8"));
});

describe("npm run docs", () => {
  test("makes the site without a warning", () => {
    expect(output).toBe("");
  });

  test("makes a page of every page of docs/, of every example and of every door of the API", () => {
    const docs = readdirSync(`${root}docs`, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".md"),
    );
    const examples = readdirSync(`${root}examples`).filter((name) => statSync(`${root}examples/${name}`).isDirectory());
    for (const page of [...docs.map((name) => `docs/${name}`), ...examples.map((name) => `examples/${name}.md`)])
      expect([...pages.keys()], page).toContain(page.replace(/(?:\/README)?\.md$/, ".html"));
    for (const door of ["pulumi-merchant-rules", "pulumi-merchant-rules_sdk", "pulumi-merchant-rules_policy"])
      expect([...pages.keys()]).toContain(`api/modules/${door}.html`);
    expect(pages.get("examples/quickstart.html")).toContain("large-amounts");
  });

  test("calls each page as its first heading does, in the navigation too", () => {
    expect(pages.get("docs/ci.html")).toContain("<title>Payment rules in CI | pulumi-merchant-rules</title>");
  });

  test("has no link to something that is not in it", () => {
    const dead = [...pages].flatMap(([page, text]) =>
      addressesIn(text)
        .filter((address) => !isThere(page, address))
        .map((address) => `${page} → ${address}`),
    );
    expect(dead).toEqual([]);
    expect(addressesIn(pages.get("docs/ci.html") ?? "")).toContain("../examples/environments.html");
    expect(pages.get("docs/architecture.html")).toContain('<img src="../media/architecture.svg"');
  });

  test("has a menu that leads to every page", () => {
    const paths = [...JSON.stringify(dataIn("navigation.js")).matchAll(/"path":"([^"#]+)/g)].map(
      ([, path = ""]) => path,
    );
    expect(paths).toEqual(expect.arrayContaining(["docs/ci.html", "docs/reference/errors.html", "examples/ci.html"]));
    for (const [page, text] of pages) {
      // The menu is made in the browser: each path of the data behind this address.
      const [, base] = /<html[^>]* data-base="([^"]*)"/.exec(text) ?? [];
      for (const path of paths) expect(isThere(page, `${base}${path}`), `${page} → ${base}${path}`).toBe(true);
    }
  });

  test("finds words of a page's text, not only of its title", () => {
    const index = JSON.stringify(dataIn("search.js"));
    for (const word of ["merchant_rules_former_names", "rule_outcome_unknown"]) expect(index).toContain(word);
  });

  test("fetches nothing from elsewhere", () => {
    const assets = readdirSync(join(site, "assets")).map((name) => readFileSync(join(site, "assets", name), "utf8"));
    for (const text of [...pages.values(), ...assets])
      expect(text).not.toMatch(/(?:\ssrc=|<link[^>]*\shref=|@import |url\(|fetch\(|import\()\s*["']?(?:https?:)?\/\//);
  });
});

/** The compressed JSON in a script of TypeDoc. */
function dataIn(script: string): unknown {
  const [, packed = ""] = /"([A-Za-z0-9+/=]{100,})"/.exec(readFileSync(join(site, "assets", script), "utf8")) ?? [];
  return JSON.parse(inflateSync(Buffer.from(packed, "base64")).toString("utf8"));
}

/** The addresses that a page of the site links or shows, but for those elsewhere. */
function addressesIn(text: string): string[] {
  return [...text.matchAll(/\s(?:href|src)="([^"]*)"/g)].flatMap(([, address = ""]) =>
    /^[a-z]+:/.test(address) ? [] : [address.replaceAll("&amp;", "&")],
  );
}

function isThere(page: string, address: string): boolean {
  const [path = "", anchor = ""] = address.split("#");
  const file = path === "" ? join(site, page) : resolve(site, dirname(page), decodeURIComponent(path));
  if (!existsSync(file) || statSync(file).isDirectory()) return false;
  const target = pages.get(relative(site, file));
  return anchor === "" || target === undefined || target.includes(`id="${decodeURIComponent(anchor)}"`);
}
