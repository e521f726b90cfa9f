import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Drift } from "../../report/drift/drift.ts";
import { driftReport } from "../../report/drift/drift-report.ts";
import { type Format, formats, leastOfComment } from "../../report/formats/formats.ts";
import { markerOf } from "../../report/formats/markdown.ts";
import { errorsOf, type Finding, githubAnnotations, type Report, render, reportOf } from "../../report/index.ts";
import { changes } from "../../report/model/kinds.ts";
import { publishedSchema } from "../../report/model/report.ts";
import { asWritten, blindMask, maskOf } from "../../sdk/json/index.ts";
import { elementsOf } from "./markup.ts";

const report = reportOf({
  report: "plan",
  subject: "stack dev",
  rules: 1000,
  unchanged: 995,
  warnings: ["many rules would be deleted"],
  notes: ["one secret cannot be compared"],
  findings: [
    finding("create", "new"),
    finding("update", "large", [
      { path: "priority", before: 100, after: 99 },
      { path: "note", after: null },
      { path: "token", secret: true, before: "masked-1", after: "masked-2" },
    ]),
    finding("delete", "old"),
    { ...finding("rename", "kept"), key: "kept-2", formerKey: "kept", ruleId: "r-7" },
  ],
});

function finding(change: Finding["change"], name: string, paths: Finding["paths"] = []): Finding {
  return { change, name, key: name, resource: "MerchantRuleSet all", paths };
}

describe("a report as text", () => {
  test("has what is lost first, a line for each rule, its paths below, and the counts at the end", () => {
    expect(render(report, "text")).toBe(
      [
        "warning: many rules would be deleted",
        "",
        "  - delete  old  MerchantRuleSet all",
        "  ~ update  large  MerchantRuleSet all",
        "      priority: 100 → 99",
        "      note: (absent) → null",
        "      token: [secret] → [another secret]",
        "  + create  new  MerchantRuleSet all",
        "  = rename  kept  MerchantRuleSet all, key kept-2, before: kept, id r-7",
        "",
        "note: one secret cannot be compared",
        "",
        "Plan for stack dev: 1 to delete, 1 to update, 1 to create, 1 to rename, 995 unchanged",
        "",
      ].join("\n"),
    );
  });

  test("has colours only when told", () => {
    expect(render(report, "text")).not.toContain("\u001b");
    expect(render(report, "text", { color: true })).toContain("\u001b[31m- delete\u001b[39m  old");
  });

  test("says which side a rule is on in a difference, and the service in a drift", () => {
    const sides = { before: "sandbox", after: "production" };
    const findings = [finding("only-in-from", "a"), finding("only-in-to", "b"), finding("changed", "c")];
    const diff = reportOf({ report: "diff", subject: "shop", rules: 4, unchanged: 1, sides, findings });
    expect(render(diff, "text")).toContain(
      "Difference of shop: 1 only in sandbox, 1 only in production, 1 changed, 1 the same\n",
    );
    const drift = reportOf({ report: "drift", subject: "stack dev", rules: 3, unchanged: 3, findings: [] });
    expect(render(drift, "text")).toBe("Drift of stack dev: none, 3 unchanged\n");
  });
});

test("a rule that was removed and is still in force is a finding of a drift, so that the command exits with 7", () => {
  const names = {
    naturalKey: "old",
    key: "old",
    ruleId: "r-9",
    resource: "MerchantRuleSet all",
    connection: "default",
    declared: { name: "old", priority: 7, token: blindMask },
  };
  const drift: Drift = {
    ...{ rules: 2, changed: [], missing: [], same: [], unmanaged: [], withoutList: [], unreadable: 0, notOurs: [] },
    ...{ unfinished: [], stillInForce: [names], undeclared: [], unlooked: 0, mayBeCut: [], read: [] },
  };
  const about = { subject: "stack dev", hasRules: true, looksForUnmanaged: true, ignoring: [] };
  expect(render(driftReport(drift, about), "text")).toBe(
    [
      "  ! still in force  old  MerchantRuleSet all, id r-9, the program does not declare it any more; the next `pulumi up` deletes it",
      '      name: "old"',
      "      priority: 7",
      '      token: "[secret]"',
      "",
      "Drift of stack dev: 1 still in force, 2 unchanged",
      "",
    ].join("\n"),
  );
});

describe("a report as JSON", () => {
  const validate = new Ajv2020({ strict: false }).compile(JSON.parse(publishedSchema()));

  test("is as the published schema says (node scripts/write-report-schema.ts)", () => {
    const file = new URL("../../report/report.schema.json", import.meta.url);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(JSON.parse(publishedSchema()));
    expect(validate(JSON.parse(render(report, "json"))), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ ...report, version: 1 })).toBe(false);
  });

  test("counts the findings of each kind", () => {
    const { counts, sides } = JSON.parse(render(report, "json"));
    expect(counts).toEqual({ delete: 1, update: 1, create: 1, rename: 1 });
    expect(sides).toEqual({ before: "now", after: "after up" });
  });

  test("whatever is in it", () => {
    fc.assert(
      fc.property(hostileReport(), (hostile) => {
        expect(validate(JSON.parse(render(hostile, "json"))), JSON.stringify(validate.errors)).toBe(true);
      }),
      { numRuns: 20 },
    );
  });
});

describe("a report as Markdown", () => {
  test("begins with the line by which a job finds its comment, which depends on kind and subject alone", () => {
    const [marker, heading] = render(report, "markdown").split("\n");
    expect(marker).toBe("<!-- merchant-rules plan: stack%20dev -->");
    expect(heading).toBe("### Plan for stack dev: 1 to delete, 1 to update, 1 to create, 1 to rename, 995 unchanged");
    expect(render({ ...report, findings: [], counts: {} }, "markdown").split("\n")[0]).toBe(marker);
    expect(markerOf({ report: "drift", subject: "a --> b" })).toBe("<!-- merchant-rules drift: a%20%2D%2D%3E%20b -->");
    expect(markerOf({ report: "plan", subject: "stack prod", project: "shop-1" })).toBe(
      "<!-- merchant-rules plan: stack%20prod of project%20shop%2D1 -->",
    );
  });

  test("has warnings in bold above all, and one row for each path", () => {
    expect(render(report, "markdown")).toContain("\n> **Warning: many rules would be deleted**\n");
    expect(render(report, "markdown")).toContain(
      [
        "**&#126; update (1)**",
        "",
        "| Rule | Where | Path | now | after up |",
        "| --- | --- | --- | --- | --- |",
        "| <code>large</code> | MerchantRuleSet all | <code>priority</code> | <code>100</code> | <code>99</code> |",
        "|  |  | <code>note</code> | <code>(absent)</code> | <code>null</code> |",
        "|  |  | <code>token</code> | <code>&#91;secret&#93;</code> | <code>&#91;another secret&#93;</code> |",
        "",
      ].join("\n"),
    );
  });

  test("folds long tables, but shows what is deleted", () => {
    const many = (change: Finding["change"]) => Array.from({ length: 30 }, (_, n) => finding(change, `rule-${n}`));
    const long = reportOf({
      report: "plan",
      subject: "stack dev",
      rules: 100,
      unchanged: 0,
      findings: [...many("create"), ...many("delete")],
    });
    expect(render(long, "markdown")).toContain("<details open><summary><b>- delete (30)</b></summary>\n\n| Rule");
    expect(render(long, "markdown")).toContain("<details><summary><b>+ create (30)</b></summary>\n\n| Rule");
  });

  test("names nobody: people, issues and addresses in it are not linked", () => {
    const warnings = ["ask @octocat about #12, !7 and www.example.com or https://example.com"];
    const named = { ...report, warnings, findings: [finding("delete", "@octocat #12")] };
    expect(render(named, "markdown")).not.toMatch(/[@#!](octocat|12|7)|www\.|https:/);
    expect(render(named, "markdown")).toContain("<code>&#64;octocat &#35;12</code>");
  });

  test("cut to a limit keeps deletions and counts the rest", () => {
    const findings = [
      ...Array.from({ length: 500 }, (_, n) => finding("create", `new-${n}`)),
      ...Array.from({ length: 20 }, (_, n) => finding("delete", `old-${n}`)),
    ];
    const long = reportOf({ report: "plan", subject: "stack dev", rules: 20, unchanged: 0, findings });
    const cut = render(long, "markdown", { limit: 10_000 });
    expect(cut.length).toBeLessThanOrEqual(10_000);
    for (let n = 0; n < 20; n++) expect(cut).toContain(`<code>old-${n}</code>`);
    const shown = [...cut.matchAll(/<code>new-/g)].length;
    expect(shown).toBeGreaterThan(50);
    expect(cut).toContain(`**Not shown, for want of room: ${500 - shown} to create.**`);
    expect(cut.match(/<details>/g)).toHaveLength(cut.match(/<\/details>/g)?.length ?? 0);
    expect(render(long, "markdown")).not.toContain("Not shown");
  });

  test("is a table with the right number of columns and at most as long as the limit, whatever is in it", () => {
    fc.assert(
      fc.property(hostileReport(), fc.integer({ min: leastOfComment, max: 70_000 }), (hostile, limit) => {
        const page = render(hostile, "markdown", { limit });
        expect(page.length).toBeLessThanOrEqual(limit);
        const isRule = /^<pre>/;
        let isInRule = false;
        let columns = 0;
        const [, , ...lines] = page.split("\n");
        for (const line of lines) {
          if (isRule.test(line)) {
            isInRule = !line.endsWith("</pre>");
            continue;
          }
          if (isInRule) {
            // Whatever is in a rule neither ends the block of HTML nor is markup.
            expect(line.replace(/<\/pre>$/, "")).toMatch(/^[^<>`*_[\]\\|]+$/);
            isInRule = !line.endsWith("</pre>");
            continue;
          }
          expect(line).toMatch(/^(\||> |\*\*|<details( open)?>|<\/details>$|$)/);
          if (!line.startsWith("|")) continue;
          const cells = line.split("|").length - 2;
          if (/^\| (Rule|Left) \|/.test(line)) columns = cells;
          expect(cells).toBe(columns);
          expect(line).not.toMatch(/[`*_[\]\\]|<(?!\/?code>|br>)/);
        }
        const left = hostile.findings.length - countRows(lines);
        expect(/Not shown, for want of room/.test(page)).toBe(left > 0);
      }),
    );
  });
});

/** The rows that begin a rule. */
function countRows(lines: readonly string[]): number {
  return lines.filter((line) => line.startsWith("| <code>")).length;
}

describe("a report as HTML", () => {
  test("fetches nothing, runs nothing, and has everything in it", () => {
    const page = render(report, "html");
    expect(page).not.toMatch(/<script|src=|href=|url\(|@import|https?:/);
    const texts = elementsOf(page).map(({ text }) => text);
    for (const said of ["large", "priority", "100", "99", "[secret]", "many rules would be deleted"])
      expect(texts, said).toContainEqual(expect.stringContaining(said));
  });

  test("is well-formed, whatever is in it", () => {
    const known =
      "html head meta title style body h1 h2 h3 p strong details summary span article table thead tbody tr th td code pre section";
    fc.assert(
      fc.property(hostileReport(), (hostile) => {
        for (const { name } of elementsOf(render(hostile, "html"))) expect(known.split(" ")).toContain(name);
      }),
    );
  });
});

describe("the rule of a finding", () => {
  const long = {
    name: "long",
    tags: Array.from({ length: 60 }, (_, n) => `tag-${n}`),
    a: { b: [1, 2, 3, 4, 5, 6, 7] },
  };
  const findings: Finding[] = [
    { ...finding("create", "made"), rule: { after: { name: "made", priority: 1 } } },
    { ...finding("delete", "gone"), rule: { before: { name: "gone", action: "decline" } } },
    {
      ...finding("update", "other", [{ path: "action", before: "decline", after: "accept" }]),
      formerName: "former",
      rule: { before: { name: "former", action: "decline" }, after: { name: "other", action: "accept", beside: 17 } },
    },
    { ...finding("unmanaged", "by hand"), rule: { after: long } },
  ];
  const about = ["now is the state of yesterday"];
  const whole = reportOf({ report: "plan", subject: "stack dev", rules: 4, unchanged: 0, findings, about });

  test("stands below its line in text, a field a line, long arrays folded", () => {
    expect(render(whole, "text").split("\n")).toEqual([
      "now is the state of yesterday",
      "",
      "  - delete  gone  MerchantRuleSet all",
      '      name: "gone"',
      '      action: "decline"',
      "  ~ rename and update  other  name before: former, MerchantRuleSet all",
      '      action: "decline" → "accept"',
      "  + create  made  MerchantRuleSet all",
      '      name: "made"',
      "      priority: 1",
      "  ? unmanaged  by hand  MerchantRuleSet all",
      '      name: "long"',
      expect.stringMatching(/^ {6}tags: \["tag-0", .*, and \d+ more\]$/),
      '      a: {"b":[1,2,3,4,5,6,7]}',
      "",
      expect.stringContaining("Plan for stack dev"),
      "",
    ]);
    const many = Array.from({ length: 60 }, (_, n) => ({ ...finding("create", `n${n}`), rule: { after: { n } } }));
    const text = render(reportOf({ report: "plan", subject: "s", rules: 0, unchanged: 0, findings: many }), "text");
    expect(text).toContain("  + create  n59");
    expect(text).toContain("(the fields of 10 more of these are in the other formats, such as html)");
  });

  test("stands as a whole in HTML, closed where it is long or where its paths are told", () => {
    const blocks = elementsOf(render(whole, "html")).filter(({ attributes }) => attributes.class === "rule");
    expect(blocks.map(({ attributes }) => "open" in attributes)).toEqual([true, false, true, false]);
    const shown = elementsOf(render(whole, "html")).filter(({ name }) => name === "code");
    const texts = shown.map(({ text }) => text).filter((text) => text.startsWith("{"));
    expect(texts.map((text) => JSON.parse(text))).toEqual([
      { name: "gone", action: "decline" },
      { name: "other", action: "accept", beside: 17 },
      { name: "made", priority: 1 },
      long,
    ]);
  });

  test("is the same in Markdown, JUnit and JSON", () => {
    const markdown = render(whole, "markdown").replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
    const [failures] = [elementsOf(render(whole, "junit")).filter(({ name }) => name === "failure")];
    const json: Report = JSON.parse(render(whole, "json"));
    for (const { name, rule } of json.findings) {
      const lines = JSON.stringify(rule?.after ?? rule?.before, null, 2);
      expect(markdown, name).toContain(`<pre>${lines}</pre>`);
      expect(failures.map(({ text }) => text).some((text) => text.endsWith(lines))).toBe(true);
    }
    for (const format of formats) expect(render(whole, format)).toContain("now is the state of yesterday");
  });

  test("gives way to names where a comment has no room", () => {
    const many = Array.from({ length: 60 }, (_, n) => ({
      ...finding("create", `new-${n}`),
      rule: { after: { name: `new-${n}`, note: "x".repeat(500) } },
    }));
    const large = reportOf({ report: "plan", subject: "s", rules: 0, unchanged: 0, findings: many });
    const cut = render(large, "markdown", { limit: 12_000 });
    for (let n = 0; n < 60; n++) expect(cut).toContain(`| <code>new-${n}</code>`);
    const shown = cut.match(/<pre>/g)?.length ?? 0;
    expect(shown).toBeGreaterThan(3);
    expect(cut).toContain(`**What is in ${60 - shown} of these rules is not shown, for want of room.**`);
    expect(cut.length).toBeLessThanOrEqual(12_000);
  });

  test("has no secret in any format: a mask is its text everywhere", () => {
    const masked = {
      ...finding("create", "m"),
      rule: { after: { token: blindMask, list: [maskOf("s3cret-value", asWritten)] } },
    };
    const report = reportOf({ report: "plan", subject: "s", rules: 0, unchanged: 0, findings: [masked] });
    const hash = Object.values(maskOf("s3cret-value", asWritten))[0];
    for (const format of formats) {
      expect(render(report, format)).not.toMatch(/s3cret-value/);
      expect(render(report, format)).not.toContain(String(hash));
    }
    expect(JSON.parse(render(report, "json")).findings[0].rule.after).toEqual({
      token: "[secret]",
      list: ["[secret]"],
    });
  });
});

test("what policies say is in every format, with the file and the line, and a mandatory one fails the report", () => {
  const about = { policy: "number-ranges", resource: "MerchantRuleSet all", key: "large", path: "priority" };
  const place = { file: "rules/large.yaml", line: 8 };
  const refused = { ...about, level: "mandatory" as const, message: "In range.\nlarge: found 5000", ...place };
  const advised = { ...about, level: "advisory" as const, message: "Odd.\nlarge: found 7", ...place, line: 9 };
  const report = reportOf({
    ...{ report: "plan", subject: "stack dev", rules: 0, unchanged: 0, findings: [] },
    ...{ errors: [{ message: "preview failed" }], violations: [advised, refused] },
  });
  for (const format of formats) {
    const shown =
      format === "json"
        ? [/"line": 8/, /"line": 9/]
        : [/rules\/large\.yaml(:|&#58;|" line=")8/, /rules\/large\.yaml(:|&#58;)9/];
    for (const place of shown) expect(render(report, format), format).toMatch(place);
  }
  expect(render(report, "text")).toBe(
    [
      "error: the mandatory policy number-ranges is violated by MerchantRuleSet all (rules/large.yaml:8): In range.",
      "  large: found 5000",
      "error: preview failed",
      "warning: the advisory policy number-ranges is violated by MerchantRuleSet all (rules/large.yaml:9): Odd.",
      "  large: found 7",
      "",
      "Plan for stack dev: failed",
      "",
    ].join("\n"),
  );
  expect(render(report, "markdown")).toMatch(/^> \*\*Error:\*\* the mandatory policy .*found 5000$/m);
  expect(render(report, "html")).toMatch(/<p class="warning"><strong>Warning:<\/strong> the advisory policy/);
  expect(render(report, "junit")).toMatch(/name="error 1" file="rules\/large\.yaml" line="8" time="0"><error /);
  expect(githubAnnotations(report, false, (file) => `shop/${file}`).map((line) => line.replace(/::the.*/, ""))).toEqual(
    [
      "::error file=shop/rules/large.yaml,line=8",
      "::error::preview failed",
      "::warning file=shop/rules/large.yaml,line=9",
    ],
  );
});

test("a table that is no finding is in every format", () => {
  const tables = [
    { title: "Who wins", columns: ["rule", "over"], rows: [["large", "small"] as string[], ["a|b", "c"]] },
  ];
  const report = reportOf({ report: "plan", subject: "s", rules: 0, unchanged: 0, findings: [], tables });
  for (const format of formats)
    for (const said of ["Who wins", "large", "small"]) expect(render(report, format)).toContain(said);
});

describe("a report as JUnit", () => {
  test("has a failed case for each rule that differs, with its paths, and one that passed for the others", () => {
    const elements = elementsOf(render(report, "junit"));
    const suite = elements.find(({ name }) => name === "testsuite");
    expect(suite?.attributes).toMatchObject({ tests: "5", failures: "4", errors: "0" });
    const cases = elements.filter(({ name }) => name === "testcase").map(({ attributes }) => attributes.name);
    expect(cases).toEqual(["old", "large", "new", "kept", "995 unchanged"]);
    const failures = elements.filter(({ name }) => name === "failure");
    expect(failures[1]).toMatchObject({
      attributes: {
        type: "update",
        message: "update; priority: 100 → 99; note: (absent) → null; token: [secret] → [another secret]",
      },
      text: "MerchantRuleSet all\npriority: 100 → 99\nnote: (absent) → null\ntoken: [secret] → [another secret]",
    });
  });

  test("has an error for each error", () => {
    const failed = reportOf({
      report: "plan",
      subject: "stack dev",
      rules: 0,
      unchanged: 0,
      errors: [{ message: "a\nb <c>" }],
      findings: [],
    });
    const error = elementsOf(render(failed, "junit")).find(({ name }) => name === "error");
    expect(error).toMatchObject({ attributes: { message: "a" }, text: "a\nb <c>" });
  });

  test("is well-formed XML whose cases have names of their own, whatever is in it", () => {
    fc.assert(
      fc.property(hostileReport(), (hostile) => {
        const page = render(hostile, "junit");
        // Characters that XML 1.0 has not.
        expect(page).not.toMatch(/(?![\t\n])\p{Cc}|\p{Cs}|[\uFFFE\uFFFF]/u);
        const cases = elementsOf(page).filter(({ name }) => name === "testcase");
        expect(cases).toHaveLength(hostile.findings.length + errorsOf(hostile).length + 1);
        const names = cases.map(({ attributes }) => `${attributes.classname}\n${attributes.name}`);
        expect(new Set(names).size).toBe(names.length);
      }),
    );
  });
});

describe("in every format", () => {
  test.each(formats)("%s never has a secret", (format) => {
    expect(render(report, format)).not.toMatch(/masked-/);
    fc.assert(
      fc.property(hostileReport("s3cret-value"), (hostile) => {
        expect(render(hostile, format)).not.toContain("s3cret-value");
      }),
      { numRuns: 30 },
    );
  });

  test.each(formats.filter((format): format is Exclude<Format, "json"> => format !== "json"))(
    "%s has nothing that a terminal obeys or that turns the direction of text",
    (format) => {
      fc.assert(
        fc.property(hostileReport(), (hostile) => {
          expect(render(hostile, format)).not.toMatch(obeyed);
        }),
        { numRuns: 50 },
      );
    },
  );
});

/** Controls but for the line break, those that turn the direction of text, and halves of characters. */
const obeyed = /(?!\n)\p{Cc}|[\u202A-\u202E\u2066-\u2069]|\p{Cs}/u;

/** Reports with what others could put into names and values. */
function hostileReport(secret?: string): fc.Arbitrary<Report> {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 30 }),
    fc.constantFrom(
      "]]>",
      "<script>alert(1)</script>",
      "&lt;",
      "a|b\\|c\\",
      "`x` ``",
      "\u001b[31mred",
      "\u0000\u0008\u000b\uffff\ufffe",
      "\ud800",
      "x\udfff",
      "line\nbreak\r\n| --- |",
      "\u202eevil\u2066",
      "-->",
      "@octocat",
      "[a](javascript:b)",
      "'\"",
      "| --- |",
      "</td></table>",
      "x".repeat(10_000),
      "|".repeat(10_000),
      "😀".repeat(200),
      "",
    ),
  );
  const value = fc.oneof(text, fc.constant(null), fc.double(), fc.dictionary(text, text, { maxKeys: 3 }));
  const path = fc.record({ path: text, before: value, after: value }, { requiredKeys: ["path"] });
  const rule = fc.dictionary(text, value, { maxKeys: 3 });
  const hidden = text.map((name) => ({
    path: name,
    before: secret ?? "x",
    after: { inside: [secret ?? "y"] },
    secret: true as const,
  }));
  const some = fc.record(
    {
      change: fc.constantFrom(...changes),
      name: text,
      key: text,
      formerKey: text,
      ruleId: text,
      resource: text,
      connection: text,
      owner: text,
      formerName: text,
      reason: text,
      changedBy: text,
      changedAt: text,
      rule: fc.record({ before: rule, after: rule }, { requiredKeys: [] }),
      paths: fc.array(fc.oneof(path, hidden), { maxLength: 4 }),
    },
    { requiredKeys: ["change", "name", "paths"] },
  );
  const messages = fc.array(text, { maxLength: 3 });
  const violation = fc.record(
    {
      level: fc.constantFrom("mandatory" as const, "advisory" as const),
      policy: text,
      ...{ pack: text, resource: text, key: text, path: text },
      message: text,
      file: text,
      line: fc.integer({ min: 1 }),
    },
    { requiredKeys: ["level", "policy", "message"] },
  );
  return fc
    .record({
      report: fc.constantFrom("drift" as const, "plan" as const, "diff" as const),
      subject: text,
      sides: fc.record({ before: text, after: text }),
      rules: fc.nat(),
      unchanged: fc.nat(),
      findings: fc.array(some, { maxLength: 8 }),
      about: messages,
      tables: fc.array(
        fc.record({
          title: text,
          columns: fc.constant<string[]>(["Left", "Right"]),
          rows: fc.array(fc.tuple(text, fc.double({ noNaN: true, noDefaultInfinity: true })), { maxLength: 2 }),
        }),
        { maxLength: 1 },
      ),
      errors: fc.array(
        fc.record({ message: text, file: text, line: fc.nat().map((line) => line + 1) }, { requiredKeys: ["message"] }),
        { maxLength: 3 },
      ),
      project: text,
      violations: fc.array(violation, { maxLength: 3 }),
      warnings: messages,
      notes: messages,
    })
    .map(reportOf);
}
