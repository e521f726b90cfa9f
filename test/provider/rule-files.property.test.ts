import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { loadRules } from "../../provider/index.ts";
import { isMerchantRulesError } from "../../sdk/errors.ts";
import { findNotJson } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";
import { extremes, foreign, mutated } from "../support/fuzz/mutations.ts";
import { check, expectReadable, timeout } from "../support/fuzz/runs.ts";
import { rule } from "../support/rules.ts";

const folder = newFolder();

const json = JSON.stringify({ ...rule(1), note: null, ratio: 0.25, text: 'a "quoted" \\ text \u00e9' }, null, 2);
const yaml = `# a rule
name: &name limit-1
priority: 7
isActive: true
again: *name
conditions:
  - { field: amount, operator: gt, value: 1.5e3 }
  - field: country
    value: [DE, "NO", 'it''s']
note: >-
  two
  lines
actions: [{ type: decline, reason: |
  kept
  }]
`;

/** The rule is what another reader makes of the file, or a refusal names the file. */
function expectRightOrRefused(extension: "yaml" | "json", content: Buffer): boolean {
  const name = `fuzzed.${extension}`;
  writeFileSync(join(folder, name), content);
  let rules: ReturnType<typeof loadRules>;
  try {
    rules = loadRules(folder);
  } catch (error) {
    if (!isMerchantRulesError(error)) throw error;
    expect(error.code).toBe("RULE_INVALID");
    expect(error.message).toMatch(/fuzzed\.(yaml|json)(:\d+)?: \S/);
    expectReadable(error.message);
    return false;
  } finally {
    rmSync(join(folder, name));
  }
  const text = content.toString().replace(/^\uFEFF/, "");
  const expected: unknown =
    extension === "json" ? JSON.parse(text) : parse(text, { uniqueKeys: false, stringKeys: true });
  expect(Object.keys(rules)).toEqual(["fuzzed"]);
  expect(rules.fuzzed).toEqual(expected);
  expect(JSON.stringify(rules.fuzzed)).toBe(JSON.stringify(expected));
  expect(findNotJson(rules.fuzzed)).toBeUndefined();
  return true;
}

describe("a rule file, whatever is in it, gives the rule that it says, or a refusal that names it", { timeout }, () => {
  test.each([
    ["yaml", mutated(yaml, json)],
    ["json", mutated(json)],
  ] as const)("as %s, changed from one that is right", async (extension, contents) => {
    let right = 0;
    await check(200, contents, (content) => {
      if (expectRightOrRefused(extension, content)) right += 1;
    });
    expect(right).toBeGreaterThan(0);
  });

  test.each(["yaml", "json"] as const)("as %s, or anything at all", async (extension) => {
    await check(
      50,
      foreign,
      (content) => {
        expectRightOrRefused(extension, content);
      },
      extremes,
    );
  });

  test("and every JSON object comes back as it was written", async () => {
    await check(150, fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ maxDepth: 5 })), (definition) => {
      expect(expectRightOrRefused("json", Buffer.from(JSON.stringify(definition)))).toBe(true);
    });
  });
});
