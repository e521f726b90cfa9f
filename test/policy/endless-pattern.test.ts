import { expect, test, vi } from "vitest";
import { stringPatterns } from "../../policy/forms.ts";
import { evaluate, ruleSet } from "./evaluate.ts";

// The same, in less time.
vi.mock("../../policy/base/within-time.ts", async (importOriginal) => {
  const { withinTime } = await importOriginal<typeof import("../../policy/base/within-time.ts")>();
  return {
    withinTime: <Result>(work: () => Result, _: number, late: () => Error) => withinTime(work, 20, late),
  };
});

const declared = [ruleSet("all", { endless: { name: `${"a".repeat(60)}5` } })];

test("a pattern that does not end is named, with the rule and the place", async () => {
  const endless = evaluate(stringPatterns, declared, { patterns: { "/name": "^(a+)+$" } });
  await expect(endless).rejects.toThrow(
    'string-patterns: /^(a+)+$/u took longer than 5 s on rule "endless" at /name.\nWhat to do: write it without a repetition inside a repetition, such as (a+)+.',
  );
});

test("written without a repetition inside a repetition, it ends", async () => {
  expect((await evaluate(stringPatterns, declared, { patterns: { "/name": "^a+$" } })).violations).toHaveLength(1);
});
