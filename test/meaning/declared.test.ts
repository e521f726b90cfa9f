import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import {
  defineSemantics,
  evaluate,
  loadSemantics,
  parsePayment,
  readRules,
  readValueLists,
  valueListsOf,
} from "../../meaning/index.ts";
import { publishedSemanticsSchema } from "../../meaning/language/schema.ts";
import { declaredSemantics } from "../../report/meaning/semantics-file.ts";
import { shippedSemantics } from "../../sdk/contract/index.ts";
import { isMerchantRulesError, type MerchantRulesError } from "../../sdk/errors.ts";
import { blindMask } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";

const semantics = {
  version: 1 as const,
  applies: {
    at: "/conditions",
    list: "all" as const,
    without: "always" as const,
    conditions: [{ field: "/field", operator: { at: "/operator" }, value: "/value", valueList: "/list" }],
    operators: { is: "eq" as const, in: "in" as const },
  },
  ignored: ["/name"],
  outcome: { at: "/action", words: { allow: "accept", block: "decline" } },
  wins: { by: "listed" as const },
  payment: { fields: { country: { at: "/country", type: "text" as const, ignoresCase: false } } },
  valueLists: [{ file: "./lists.yaml" }, { folder: "./lists" }, { name: "/listName", values: "/values" }],
};

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = newFolder(files);
  mkdirSync(join(folder, "lists"), { recursive: true });
  return folder;
}

function sourcesIn(folder: string, contract?: string) {
  const environment = contract === undefined ? {} : { MERCHANT_RULES_CONTRACT: contract };
  return { config: () => undefined, environment, folder };
}

function failureOf(run: () => unknown): MerchantRulesError {
  try {
    run();
  } catch (error) {
    if (isMerchantRulesError(error)) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("semantics in a contract", () => {
  test("are found from the contract's folder, and so are their value lists", () => {
    const folder = folderOf({
      "merchant-rules.contract.yaml": "version: 1\nsemantics: ./meaning.yaml\n",
      "meaning.yaml": JSON.stringify(semantics),
      "lists.yaml": "europe: [DE, FR]\ntwice: [XX]\n",
      "lists/america.json": '["US"]',
      "lists/twice.yaml": "- YY\n",
      "lists/.hidden.yaml": "}",
      "lists/README.md": "no list",
    });
    const declared = declaredSemantics(sourcesIn(folder), "test rules");
    const held = { listName: "asia", values: ["JP"] };
    const valueLists = valueListsOf([held, { name: "a rule" }], declared.semantics, declared.valueLists);
    expect([...valueLists].sort()).toEqual([
      ["america", ["US"]],
      ["asia", ["JP"]],
      ["europe", ["DE", "FR"]],
    ]);
    const ruleOn = (list: string) => ({ action: "block", conditions: [{ field: "country", operator: "in", list }] });
    const readings = ["europe", "twice"].flatMap((list) => readRules(ruleOn(list), declared.semantics, { valueLists }));
    expect(evaluate({ country: "FR" }, readings, declared.semantics).rules.map(({ applies }) => applies)).toEqual([
      "true",
      "unknown",
    ]);
  });

  test("which has none are answered by one sentence, and where the guide is", () => {
    const { message, code } = failureOf(() => declaredSemantics(sourcesIn(folderOf({}), "seed"), "test rules"));
    expect(code).toBe("UNSUPPORTED_BY_CONTRACT");
    expect(message).toBe(
      "test rules failed: the contract does not say what its rules mean. What to do: describe it in a file that `semantics` in the contract names; `npx --no-install merchant-rules help simulation` is the guide (UNSUPPORTED_BY_CONTRACT)",
    );
  });

  test.each(["illustrative", "whop", "wiremock"])("come with the preset %s", (preset) => {
    const { file, semantics: read } = declaredSemantics(sourcesIn(folderOf({}), preset), "test rules");
    expect(file).toMatch(new RegExp(`presets/${preset}\\.semantics\\.yaml$`));
    expect(Object.keys(read.payment.fields).length).toBeGreaterThan(1);
  });

  test("of another service that ship can be taken by their name", () => {
    const folder = folderOf({ "merchant-rules.contract.yaml": "version: 1\nsemantics: decision-engine\n" });
    expect(declaredSemantics(sourcesIn(folder), "test rules").semantics.rules?.at).toBe("/algorithm_data/data/rules");
  });

  test("that cannot be used, or whose lists cannot, are named with line and column", () => {
    const folder = folderOf({
      "merchant-rules.contract.yaml": "version: 1\nsemantics: ./meaning.yaml\n",
      "meaning.yaml": JSON.stringify(semantics),
      "lists.yaml": "europe:\n  - DE\n  - FR\nasia: JP\n",
    });
    const declared = () => declaredSemantics(sourcesIn(folder), "test rules");
    expect(failureOf(declared).message).toContain(
      `${join(folder, "lists.yaml")}:4:1: asia: found "JP"; allowed: array`,
    );
    rmSync(join(folder, "lists.yaml"));
    expect(failureOf(declared).message).toMatch(/read value lists .*lists\.yaml failed: it cannot be read: .*ENOENT/);
    writeFileSync(join(folder, "meaning.yaml"), "version: 1\napplies: {}\n");
    expect(failureOf(declared).message).toMatch(/meaning\.yaml:2:1: applies\.at: found nothing; allowed: /);
    rmSync(join(folder, "meaning.yaml"));
    expect(failureOf(declared).message).toMatch(/read semantics .*meaning\.yaml failed/);
  });
});

test("a rule whose place in the list is not known is neither before nor after others", () => {
  const read = defineSemantics({ ...semantics, valueLists: [] });
  const [block, allow] = ["block", "allow"].map((action) => ({ action, conditions: [] }));
  const readings = [block, allow].flatMap((rule) => (rule === undefined ? [] : readRules(rule, read)));
  const decide = (unlisted?: [number, number][]) =>
    evaluate({}, readings, read, unlisted === undefined ? {} : { unlisted: new Map(unlisted) }).decision;
  expect(decide()).toEqual({ kind: "decided", outcomes: ["decline"], by: [0] });
  expect(decide([[1, 1]])).toEqual({ kind: "unknown", possible: ["accept", "decline"], because: [0, 1] });
  expect(
    decide([
      [0, 7],
      [1, 7],
    ]),
  ).toEqual({ kind: "decided", outcomes: ["decline"], by: [0] });
});

test("a secret in a condition makes the rule unknown, and no message has more than its mask", () => {
  const read = defineSemantics({ ...semantics, valueLists: [] });
  const rule = { action: "block", conditions: [{ field: "country", operator: "is", value: blindMask }] };
  expect(readRules(rule, read)).toMatchObject([
    { kind: "unknown", faults: [{ at: "/conditions/0/value", why: 'is "[secret]", which is no text' }] },
  ]);
});

test.each([
  ["[1]", "p.json:1:1: the payment: found [1]; allowed: object"],
  ['{"a": 1,\n "a": 2}', "p.json:2:2: declares a field a second time"],
  ['{"a": 1', "p.json:1:8: "],
  ["a: &x\n  b: *x\n", "p.json"],
  [`{"a": ${"[".repeat(5000)}${"]".repeat(5000)}}`, "p.json:1:"],
  ['{"n": 12345678901234567890}', "p.json:1:7: "],
])("a payment that cannot be read is refused with line and column: %.20s", (text, said) => {
  const { code, message } = failureOf(() => parsePayment(text, "p.json"));
  expect(code).toBe("PAYMENTS_INVALID");
  expect(message).toContain(said);
});

describe("semantics.schema.json", () => {
  const published = readFileSync(new URL("../../meaning/language/semantics.schema.json", import.meta.url), "utf8");

  test("is the one that the code has (node scripts/write-semantics-schema.ts)", () => {
    expect(JSON.parse(published)).toEqual(JSON.parse(publishedSemanticsSchema()));
  });

  test.each(shippedSemantics)("takes %s, which names it", (preset) => {
    const file = new URL(`../../sdk/contract/presets/${preset}.semantics.yaml`, import.meta.url);
    const text = readFileSync(file, "utf8");
    const [, schema = ""] = /^# yaml-language-server: \$schema=(.*)$/m.exec(text) ?? [];
    expect(new URL(schema, file).pathname).toMatch(/meaning\/language\/semantics\.schema\.json$/);
    expect(readFileSync(new URL(schema, file), "utf8")).toBe(published);
    const validate = addFormats.default(new Ajv2020({ strict: false })).compile(JSON.parse(published));
    expect(validate(parse(text)), JSON.stringify(validate.errors)).toBe(true);
    expect(readValueLists(loadSemantics(file.pathname), file.pathname)).toEqual([]);
  });
});
