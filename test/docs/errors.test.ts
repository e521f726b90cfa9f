import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { errorCodes, MerchantRulesError } from "../../sdk/errors.ts";
import { EngineError, engineErrorCodes } from "../../stack/errors.ts";
import { engineExamples, examples, steady } from "./error-examples.ts";
import { blocksOf, codeIn, pageAt, root, rowsOf, sectionOf } from "./page.ts";

const page = pageAt("docs/reference/errors.md");

/** The example of a code as the page has it, on one line. */
function exampleOf(code: string): string {
  return (blocksOf(sectionOf(page, code), "text")[0] ?? "").trim().replace(/\s+/g, " ");
}

describe("docs/reference/errors.md", () => {
  test("has each code once, in the order of the code, and no other", () => {
    const headings = [...page.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual([...errorCodes, ...engineErrorCodes]);
  });

  test.each([...errorCodes, ...engineErrorCodes])("says of %s when, what to do, and has an example", (code) => {
    expect(sectionOf(page, code)).toMatch(
      /^\n\*\*When\.\*\* [A-Z`].*\.\n\n\*\*What to do\.\*\* [A-Z].*\.\n\n```text\n/s,
    );
    expect(exampleOf(code)).not.toBe("");
  });

  test.each(errorCodes)("shows %s as it really reads", async (code) => {
    const message = steady(await examples[code]());
    expect(message).toMatch(new RegExp(`\\(${code}\\)$`));
    expect(exampleOf(code)).toBe(message);
  });

  test.each(Object.entries(engineExamples))(
    "shows %s of the local engine as it really reads",
    async (code, produce) => {
      expect(exampleOf(code)).toBe(steady(await produce()));
    },
  );

  test("shows the others of the local engine in words that its code has", () => {
    const sources = readdirSync(`${root}local/engine`, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => readFileSync(`${root}local/engine/${name}`, "utf8"))
      .join("\n");
    for (const code of engineErrorCodes.filter((each) => engineExamples[each] === undefined)) {
      const words = exampleOf(code)
        .replace(/ exit code \d$/, "")
        .split(/: (?=whether|nothing|the program)| night-limit /);
      expect(sources, code).toContain(words.at(-1));
    }
  });

  test("has the exit code of each code of the local engine", () => {
    const shown = rowsOf(page).filter((cells) => cells.length === 2);
    expect(shown).toEqual(
      engineErrorCodes.map((code) => [
        `[\`${code}\`](#${code.toLowerCase()})`,
        String(new EngineError(code, "").exitCode),
      ]),
    );
  });

  test("names every field of an error", () => {
    const error = new MerchantRulesError("REJECTED", "no");
    const own = Object.keys(error).filter((name) => name !== "name");
    const named = rowsOf(page).filter((cells) => cells.length === 3);
    expect(named.map(([name]) => name?.replaceAll("`", "")).sort()).toEqual([...own, "message"].sort());
    expect(codeIn(page)).toContain("serviceCode");
  });
});
