import { describe, expect, test } from "vitest";
import { compiled, exportsOf, faultsOf, propertiesOf } from "./compile.ts";
import { blocksOf, codeIn, pageAt, root, rowsOf, sectionOf } from "./page.ts";

const pages = ["README.md", "docs/reference/resources.md", "docs/reference/errors.md"];
const blocks = Object.fromEntries(
  pages.flatMap((path) =>
    blocksOf(pageAt(path), "ts").map((text, at) => [`${path.replace(/\W/g, "-")}-${at + 1}`, text]),
  ),
);
const program = compiled(blocks);
const provider = `${root}provider/index.ts`;
const page = pageAt("docs/reference/resources.md");

/** The first columns of a table: the names, and whether each must be given. */
function said(section: string, columns: number): { name: string; isRequired: boolean }[] {
  return rowsOf(section)
    .filter((cells) => cells.length === columns)
    .flatMap(([names = "", , value]) => codeIn(names).map((name) => ({ name, isRequired: value === "needed" })));
}

function byName<T extends { name: string }>(properties: readonly T[]): T[] {
  return properties.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

describe("docs/reference/resources.md", () => {
  test.each(Object.keys(blocks))("has only TypeScript that compiles: %s", (name) => {
    expect(faultsOf(program, name)).toEqual([]);
  });

  test.each(["MerchantRule", "MerchantRuleSet"])("has every argument of %s", (name) => {
    const declared = propertiesOf(program, provider, `${name}Args`);
    expect(byName(said(sectionOf(page, `Arguments of ${name}`), 5))).toEqual(byName(declared));
  });

  test.each(["MerchantRule", "MerchantRuleSet"])("has every output of %s", (name) => {
    const own = propertiesOf(program, provider, name, false).map((property) => property.name);
    const named = said(sectionOf(page, `Outputs of ${name}`), 3).map((output) => output.name);
    expect(named.sort()).toEqual([...own, "id", "urn"].sort());
  });

  test("has every argument and result of the functions", () => {
    const four = (heading: string) => said(sectionOf(page, heading), 4).map(({ name }) => name);
    const names = (type: string) => propertiesOf(program, provider, type).map(({ name }) => name);
    expect(four("loadRules").filter((name) => name !== "folder")).toEqual(names("LoadRulesOptions"));
    expect([...new Set(four("getMerchantRule"))].sort()).toEqual(
      [...new Set([...names("GetMerchantRuleArgs"), "naturalKey", "ruleId"])].sort(),
    );
    expect(four("listMerchantRules")).toEqual(names("ListMerchantRulesArgs"));
    const results = said(sectionOf(page, "getMerchantRule"), 3).map(({ name }) => name);
    expect(results).toEqual(names("LiveMerchantRule"));
  });

  test("names everything that the package exports, in code", () => {
    const named = new Set(codeIn(page).map((text) => text.replace(/\(.*/, "")));
    const missing = exportsOf(program, provider).filter((name) => !named.has(name));
    expect(missing).toEqual([]);
  });

  test("says of every resource option of Pulumi what it does, and of no other", () => {
    const sdk = `${root}node_modules/@pulumi/pulumi/resource.d.ts`;
    const options = ["CustomResourceOptions", "ComponentResourceOptions"].flatMap((type) =>
      propertiesOf(program, sdk, type).map(({ name }) => name),
    );
    const rows = rowsOf(sectionOf(page, "Options of Pulumi"));
    expect(rows.every((cells) => cells.length === 3)).toBe(true);
    expect(rows.flatMap(([names = ""]) => codeIn(names)).sort()).toEqual([...new Set(options)].sort());
  });
});
