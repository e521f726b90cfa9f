import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { wordingsOf } from "../../cli/rule-words.ts";
import { newFolder } from "../support/folder.ts";

test("semantics that cannot be used are a note that says what is wrong with them, and no failure of the report", async () => {
  const preset = readFileSync(
    new URL("../../sdk/contract/presets/illustrative.contract.yaml", import.meta.url),
    "utf8",
  );
  const folder = newFolder({
    "contract.yaml": preset.replace("semantics: illustrative", "semantics: ./semantics.yaml"),
    "semantics.yaml": "version: 1\nforce: { without: enabled }\n",
  });
  const sources = { config: () => undefined, environment: { MERCHANT_RULES_CONTRACT: "contract.yaml" }, folder };
  const { of, notes } = await wordingsOf([undefined], { sources });
  expect(of(undefined)).toBeUndefined();
  expect(notes).toHaveLength(1);
  expect(notes[0]).toMatch(
    /^Rules are not in words: .*semantics\.yaml cannot work: .*semantics\.yaml:\d+:\d+: .* \(and \d+ more\)\. `npx --no-install merchant-rules contract check` shows all/,
  );
});
