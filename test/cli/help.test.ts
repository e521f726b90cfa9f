import { readdirSync, readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { errorCodes } from "../../sdk/errors.ts";
import { engineErrorCodes } from "../../stack/errors.ts";
import { root } from "../docs/page.ts";
import { command } from "./command.ts";

const { isTTY, columns } = process.stdout;

afterEach(() => void Object.assign(process.stdout, { isTTY, columns }));

describe("merchant-rules help", () => {
  test("lists the pages of docs/README.md, and prints each of them as it is", async () => {
    const { code, stdout } = await command("help");
    expect(code).toBe(0);
    const names = [...stdout.matchAll(/^ {2}(\S+) {2}/gm)].map(([, name = ""]) => name);
    expect(names.length).toBeGreaterThan(25);
    expect(names).toEqual(expect.arrayContaining(["drift", "contract", "reference/contract", "errors", "security"]));
    const texts: string[] = [];
    for (const name of names) texts.push((await command("help", name)).stdout);
    expect(new Set(texts).size).toBe(names.length);
    expect(texts[names.indexOf("drift")]).toBe(readFileSync(`${root}docs/drift.md`, "utf8"));
    expect(texts[names.indexOf("reference/contract")]).toMatch(/^# Contract reference\n/);
  });

  test("knows every page below docs by its path too", async () => {
    const paths = readdirSync(`${root}docs`, { recursive: true, encoding: "utf8" });
    const pages = paths.filter((path) => path.endsWith(".md") && path !== "README.md");
    expect(pages.length).toBeGreaterThan(25);
    for (const page of pages)
      expect((await command("help", `docs/${page}`)).stdout, page).toBe(readFileSync(`${root}docs/${page}`, "utf8"));
  });

  test("prints the section of each error code", async () => {
    for (const code of [...errorCodes, ...engineErrorCodes]) {
      const { stdout } = await command("help", code.toLowerCase());
      expect(stdout).toMatch(new RegExp(`^### ${code}\\n\\n\\*\\*When\\.\\*\\* `));
      expect(stdout.match(/^### /gm)).toHaveLength(1);
    }
  });

  test("prints one section of a page, by its heading or as a link names it", async () => {
    const byHeading = await command("help", "reliability", "For", "one", "run");
    expect(byHeading.stdout).toMatch(/^## For one run\n.*MERCHANT_RULES_MOVED=3fa9.*\n$/s);
    expect(byHeading.stdout.match(/^## /gm)).toHaveLength(1);
    expect(await command("help", "reliability#for-one-run")).toEqual(byHeading);
  });

  test.each([
    ["same-or-moved", "Same or moved", "MERCHANT_RULES_SAME=3fa9"],
    ["adopt", "Adopt", 'adopt: "r-17"'],
    ["former-names", "Former names", "MERCHANT_RULES_FORMER_NAMES=shop/dev"],
    ["recover", "Recover", "MERCHANT_RULES_RECOVER=3fa9"],
  ])("prints the topic %s, which errors name: short, and with the word to say", async (name, heading, word) => {
    const { code, stdout } = await command("help", name);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^## ${heading}\\n`));
    expect(stdout).toContain(word);
    expect(stdout.split("\n").length).toBeLessThanOrEqual(35);
    for (const line of stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(120);
    expect(await command("help", heading)).toEqual(await command("help", name));
  });

  test("lists the topics, each with what an error says, and has no other", async () => {
    const { stdout } = await command("help");
    const [, listed = ""] = stdout.split("\n\nWhat an error says, ");
    const topics = [...listed.matchAll(/^ {2}(\S+) {2,}(\S.*)$/gm)];
    expect(topics.map(([, name]) => name)).toEqual(["same-or-moved", "adopt", "former-names", "recover"]);
  });

  test("prints the options of a command that has no page of its own", async () => {
    const { code, stdout } = await command("help", "local", "up");
    expect([code, stdout]).toEqual([0, (await command("local", "up", "--help")).stdout]);
  });

  test.each([
    [["drft"], 'there is no page "drft". Did you mean drift?'],
    [["same-or-move"], 'there is no page "same-or-move". Did you mean same-or-moved?'],
    [["rule_conflct"], 'there is no page "rule_conflct". Did you mean RULE_CONFLICT?'],
    [["lagMs"], 'there is no page "lagMs"; the word stands on these: '],
    [["there-is-no-such-word"], 'there is no page "there-is-no-such-word". What to do: take a page of the list that '],
    [["drift", "patern"], 'the page drift has no section "patern". What to do: take one of these:\n'],
  ])("refuses %j, and says what there is", async (words, said) => {
    const { code, stdout, stderr } = await command("help", ...words);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(said);
    expect(stderr).toContain("What to do: ");
  });

  test("prints a page as it is on a terminal, too", async () => {
    Object.assign(process.stdout, { isTTY: true, columns: 60 });
    expect((await command("help", "drift")).stdout).toBe(readFileSync(`${root}docs/drift.md`, "utf8"));
  });
});
