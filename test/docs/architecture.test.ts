import { expect, test } from "vitest";
import { codeIn, pageAt, rowsOf, sectionOf } from "./page.ts";

const section = sectionOf(pageAt("docs/architecture.md"), "Words of a create");

/** The names that a file imports from other files of the provider, by the folder that has them. */
function wordsOf(file: string): Map<string, string[]> {
  const words = new Map<string, string[]>();
  for (const [, names = "", from = ""] of pageAt(file).matchAll(/^import (?:type )?\{([^}]*)\} from "(\.[^"]+)";$/gm)) {
    const folder = /^\.\.\/(\w+)\//.exec(from)?.[1] ?? (from.startsWith("./") ? "steps" : undefined);
    if (folder === undefined) continue;
    const imported = names.split(",").flatMap((name) => name.trim().replace(/^type /, "") || []);
    words.set(folder, [...(words.get(folder) ?? []), ...imported]);
  }
  return words;
}

test("docs/architecture.md names each word that the create takes from elsewhere, and no other", () => {
  const named = rowsOf(section).map(([folder = "", names = ""]) => [codeIn(folder)[0], codeIn(names).sort()]);
  const words = [...wordsOf("provider/steps/create.ts")].map(([folder, names]) => [
    `provider/${folder}/`,
    names.toSorted(),
  ]);
  expect(Object.fromEntries(named)).toEqual(Object.fromEntries(words));
});

test("the words of a create are at most 40", () => {
  expect([...wordsOf("provider/steps/create.ts").values()].flat().length).toBeLessThanOrEqual(40);
});
