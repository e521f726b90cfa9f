import { describe, expect, test } from "vitest";
import { defineSemantics, type SemanticsInput } from "../../meaning/index.ts";
import { type Format, formats } from "../../report/formats/formats.ts";
import { type Finding, githubAnnotations, type Report, render, reportOf } from "../../report/index.ts";
import { wordingBy } from "../../report/meaning/wording.ts";
import { catalog } from "../../report/page/catalog.ts";
import { withRuleWords } from "../../report/words/rule-words.ts";
import { defineContract } from "../../sdk/contract/index.ts";
import type { Json, JsonObject } from "../../sdk/json/index.ts";

const contract = defineContract({
  version: 1,
  operations: { delete: { identifyBy: { in: "query", name: "ruleId" } } },
  rule: { owner: { at: "/owner" } },
});
const described = {
  version: 1,
  applies: {
    at: "/if",
    list: "all",
    without: "always",
    conditions: [{ field: "/f", operator: { at: "/is" }, value: "/v", valueList: "/list" }],
    operators: { over: "gt", in: "in" },
  },
  ignored: ["/name"],
  outcome: { at: "/do", words: { block: "decline", pass: "accept" } },
  wins: { by: "order", order: { at: "/priority", first: "highest" } },
  payment: { fields: { amount: { at: "/amount", type: "decimal" }, card_country: { at: "/c", type: "text" } } },
  valueLists: [{ name: "/listName", values: "/values" }],
  force: { clock: "now" },
} satisfies SemanticsInput;
const wording = wordingBy({ semantics: defineSemantics(described), file: "s.yaml", valueLists: [] }, contract);

const over = (v: Json): JsonObject => ({ f: "amount", is: "over", v });
const rule = (conditions: Json[], more: JsonObject = {}): JsonObject => ({
  name: "large",
  priority: 20,
  do: "block",
  if: conditions,
  ...more,
});

function said(...findings: Finding[]): Report {
  return withRuleWords(
    reportOf({ report: "plan", subject: "stack dev", rules: 10, unchanged: 9, findings }),
    () => wording,
  );
}

function update(before: JsonObject, after: JsonObject, name = "large"): Finding {
  return { change: "update", name, rule: { before, after }, paths: [{ path: "if[0].v", before: 1, after: 2 }] };
}

const changed = said(
  update(
    rule([over(5000)], { owner: "shop" }),
    rule([over(10_000), { f: "card_country", is: "in", v: ["DE", "a, b"] }]),
  ),
);
const [was, is] = [
  "declines when amount > 5000 (priority 20)",
  'declines when amount > 10,000 and card country is one of DE, "a, b" (priority 20)',
];

describe("a changed rule", () => {
  test("has its words on both sides, before the paths that differ", () => {
    expect(changed.findings[0]?.words).toEqual({ before: was, after: is });
    expect(render(changed, "text")).toContain(
      `  ~ update  large\n      now:      ${was}\n      after up: ${is}\n      if[0].v: 1 → 2\n`,
    );
    expect(render(changed, "markdown")).toContain(
      `| <code>large</code> |  | in words | ${was.replace(">", "&#62;")} | ${is.replace(">", "&#62;")} |\n|  |  | <code>if&#91;0&#93;.v</code> | <code>1</code> | <code>2</code> |`,
    );
    expect(render(changed, "html")).toContain(
      `<p class="words"><span class="side">after up:</span> ${is.replace(">", "&gt;").replaceAll('"', "&quot;")}</p>`,
    );
    expect(githubAnnotations(changed, false, (file) => file)).toEqual([
      `::warning title=large%3A update::now: ${was}%0Aafter up: ${is}%0Aif[0].v: 1 → 2`,
    ]);
    expect(JSON.parse(render(changed, "json")).findings[0].words).toEqual({ before: was, after: is });
  });

  test("has none where both sides say the same", () => {
    const same = said(update(rule([over(5)], { name: "a" }), rule([over("5.0")], { name: "b" })));
    expect(same.findings[0]).not.toHaveProperty("words");
    for (const format of formats) expect(render(same, format)).not.toContain("declines");
  });

  test("is said once to be unknown where neither side can be read, with the place", () => {
    const phrase = 'cannot be read: /if/0/is is the operator "near", which applies.operators does not have';
    const odd = (v: number): JsonObject => rule([{ f: "amount", is: "near", v }]);
    expect(render(said(update(odd(1), odd(2))), "text")).toContain(
      `update  large\n      ${phrase}\n      if[0].v: 1 → 2`,
    );
    expect(render(said(update(odd(1), odd(2))), "markdown")).toContain(
      `| <code>large</code> | ${phrase} | <code>if&#91;0&#93;.v</code> | <code>1</code> | <code>2</code> |`,
    );
    expect(render(said(update(odd(1), rule([over(2)]))), "text")).toContain(
      `      now:      ${phrase}\n      after up: declines when amount > 2 (priority 20)\n`,
    );
  });
});

describe("a rule that is on one side alone", () => {
  const created = said({ change: "create", name: "large", rule: { after: rule([over(10_000)]) }, paths: [] });

  test("has its words above its fields, and in Markdown a column of their own", () => {
    const words = "declines when amount > 10,000 (priority 20)";
    expect(render(created, "text")).toContain(`  + create  large\n      ${words}\n      name: "large"\n`);
    expect(render(created, "markdown")).toContain(
      `| Rule | In words | Where |\n| --- | --- | --- |\n| <code>large</code> | ${words.replace(">", "&#62;")} |  |\n`,
    );
  });

  test("names a value list that another rule holds, whatever is in it", () => {
    const listed = rule([{ f: "card_country", is: "in", list: "eu" }]);
    expect(said({ change: "delete", name: "x", rule: { before: listed }, paths: [] }).findings[0]?.words).toEqual({
      before: 'declines when card country is in the list "eu" (priority 20)',
    });
    const list: Finding = {
      change: "create",
      name: "eu",
      rule: { after: { listName: "eu", values: ["DE"] } },
      paths: [],
    };
    expect(said(list).findings[0]).not.toHaveProperty("words");
  });
});

test("what a report masks is in no words", () => {
  const secret = said(
    { change: "create", name: "a", rule: { after: rule([over("[secret]")]) }, paths: [] },
    {
      change: "create",
      name: "b",
      rule: { after: rule([{ f: "card_country", is: "in", v: ["DE", "[secret]"] }]) },
      paths: [],
    },
    { change: "create", name: "c", rule: { after: rule([{ f: "card_country", is: "[secret]", v: "DE" }]) }, paths: [] },
    { change: "create", name: "d", rule: { after: rule([over("(known after up)")]) }, paths: [] },
    { change: "create", name: "e", rule: { after: rule([over(5)], { name: "[secret]" }) }, paths: [] },
  );
  expect(secret.findings.map(({ words }) => words?.after)).toEqual([
    "cannot be read: /if/0/v is a secret",
    'cannot be read: /if/0/v is ["DE","[secret]"], which is no list of text',
    "cannot be read: /if/0/is is a secret",
    "cannot be read: /if/0/v is known only after up",
    "declines when amount > 5 (priority 20)",
  ]);
});

test("words of any length are whole in JSON and HTML, and cut on one line, with how much is left out", () => {
  const bins = Array.from({ length: 400 }, (_, index) => 400_000 + index);
  const numbers = Array.from({ length: 400 }, (_, index) => ({ f: "amount", is: "over", v: index }));
  const long = said(
    { change: "create", name: "a", rule: { after: rule([{ f: "amount", is: "in", v: bins }]) }, paths: [] },
    { change: "create", name: "b", rule: { after: rule(numbers) }, paths: [] },
  );
  const whole = long.findings.map(({ words }) => words?.after ?? "");
  const has = (format: Format, ...texts: string[]): boolean[] =>
    texts.map((each) => render(long, format).includes(each));
  expect(whole.map((words) => words.length > 3_000)).toEqual([true, true]);
  expect(has("json", ...whole)).toEqual([true, true]);
  expect(has("html", ...whole.map((words) => words.replaceAll(">", "&gt;")))).toEqual([true, true]);
  for (const format of ["text", "markdown"] as const) {
    expect(render(long, format)).toContain("400000, 400001, 400002, 400003, 400004 and 395 more (priority 20)");
    expect(render(long, format)).toMatch(/ \.\.\. \(and \d+ more characters\)/);
  }
});

test("of long words that changed, what differs is on the line", () => {
  const bins = Array.from({ length: 400 }, (_, index) => 400_000 + index);
  const lines = render(
    said(
      update(
        rule([{ f: "amount", is: "in", v: bins }]),
        rule([{ f: "amount", is: "in", v: [...bins.slice(1), 7] }]),
        "a",
      ),
      update(rule(bins.slice(0, 60).map(over)), rule([...bins.slice(0, 50), 9, ...bins.slice(51, 60)].map(over)), "b"),
    ),
    "text",
  ).split("\n");
  expect(lines.filter((line) => /^ +(?:now|after up):/.test(line)).map((line) => line.trim())).toEqual([
    "now:      declines when amount is one of 400000, 400001, 400002, 400003, 400004 and 395 more (priority 20)",
    "after up: declines when amount is one of 7, 400001, 400002, 400003, 400004 and 395 more (priority 20)",
    expect.stringMatching(
      /^now: +declines when amount > 400,000 and \.\.\. \(\d+ characters alike\) \.\.\. amount > 400,050 and amount > 400,051 and .*\(priority 20\)$/,
    ),
    expect.stringMatching(
      /^after up: declines when amount > 400,000 and \.\.\. \(\d+ characters alike\) \.\.\. amount > 9 and amount > 400,051 and .*\(priority 20\)$/,
    ),
  ]);
});

test("a definition that holds several rules has a line for each, of a changed one for those that differ", () => {
  const several = wordingBy(
    {
      semantics: defineSemantics({ ...described, rules: { at: "/rules", ignored: ["/title"] } }),
      file: "s.yaml",
      valueLists: [],
    },
    contract,
  );
  const [a, b, c] = [1, 2, 3].map((value) => rule([over(value)]));
  const findings = [update({ rules: [a ?? {}, b ?? {}] }, { rules: [b ?? {}, c ?? {}] })];
  const report = reportOf({ report: "plan", subject: "stack dev", rules: 1, unchanged: 0, findings });
  expect(withRuleWords(report, () => several).findings[0]?.words).toEqual({
    before: "rule 1: declines when amount > 1 (priority 20)",
    after: "rule 2: declines when amount > 3 (priority 20)",
  });
});

test("a rule that violates a policy is in words where the policy names it", () => {
  const violation = {
    level: "mandatory",
    policy: "number-ranges",
    resource: "MerchantRuleSet all",
    key: "large",
    message: "too large",
  } as const;
  const report = reportOf({
    report: "plan",
    subject: "stack dev",
    rules: 1,
    unchanged: 1,
    findings: [],
    violations: [violation],
  });
  const words = "declines when amount > 5000 (priority 20)";
  const worded = withRuleWords(
    report,
    () => wording,
    ({ key }) => (key === "large" ? { definition: rule([over(5000)]), connection: "default" } : undefined),
  );
  expect(worded.violations).toEqual([{ ...violation, words }]);
  expect(render(worded, "text")).toContain(
    `error: the mandatory policy number-ranges is violated by MerchantRuleSet all: too large\n  the rule ${words}\n`,
  );
});

test("the catalog has the rules in the order in which they are asked, each in words", () => {
  const declared = (name: string, priority: number, more: JsonObject = {}) => ({
    naturalKey: name,
    key: name,
    ruleId: `id-${name}`,
    resource: "MerchantRuleSet all",
    connection: "default",
    declared: rule([over(priority)], { name, priority, ...more }),
  });
  const drift = reportOf({ report: "drift", subject: "stack dev", rules: 4, unchanged: 4, findings: [] });
  const parts = {
    same: [declared("a", 5), declared("b", 70), declared("odd", 90, { more: 1 }), declared("c", 40)],
    placeOf: () => undefined,
    at: new Date("2026-01-31T12:00:00Z"),
  };
  const rowsIn = (page: string): { name: string; words?: string }[] => {
    const [, data = ""] = /id="data">(.*?)<\/script>/s.exec(page) ?? [];
    return JSON.parse(data);
  };
  const page = catalog(drift, { ...parts, wordingOf: () => wording });
  expect(rowsIn(page).map(({ name, words }) => [name, words])).toEqual([
    ["b", "declines when amount > 70 (priority 70)"],
    ["c", "declines when amount > 40 (priority 40)"],
    ["a", "declines when amount > 5 (priority 5)"],
    ["odd", "cannot be read: /more is a field that the semantics do not explain"],
  ]);
  expect(page).toContain("Rules are asked by their number in the order; the first that applies decides.");
  const plain = catalog(drift, parts);
  expect(rowsIn(plain).map(({ name, words }) => [name, words])).toEqual(
    ["a", "b", "c", "odd"].map((name) => [name, undefined]),
  );
  expect(plain).not.toContain("Rules are asked");
});

test("without semantics a report is as it was", () => {
  const plain = reportOf({
    report: "plan",
    subject: "stack dev",
    rules: 1,
    unchanged: 0,
    findings: [update(rule([over(1)]), rule([over(2)]))],
  });
  const same = withRuleWords(plain, () => undefined);
  for (const format of formats) expect(render(same, format)).toBe(render(plain, format));
});
