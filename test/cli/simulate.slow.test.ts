import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { formats } from "../../report/formats/formats.ts";
import type { Report, Table } from "../../report/model/report.ts";
import { presetFile } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { inDuckDb } from "../meaning/sql/in-duckdb.ts";
import { newFolder } from "../support/folder.ts";
import { openCommandStack } from "../support/stack/commands.ts";
import { contractOf } from "../support/stack/contracts.ts";

const semantics = readFileSync(presetFile("illustrative").replace(".contract.", ".semantics."), "utf8")
  .replace(
    "amount: { field: amount, currency: currency, unit: major }",
    [
      "time: madeAt",
      "  actual: { at: /outcome, words: { approved: accept, refused: decline } }",
      "  label: { at: /chargeback, words: { true: fraud, false: good } }",
      "  amount: { field: amount, currency: currency, unit: major }",
    ].join("\n"),
  )
  .replace("  fields:\n", "  fields:\n    madeAt: { at: /madeAt, type: instant }\n");

function rule(name: string, priority: number, type: string, conditions: readonly JsonObject[]): JsonObject {
  return { name, priority, isActive: true, conditions: [...conditions], actions: [{ type }] };
}

const over = (value: number) => ({ field: "amount", operator: "gt", value });
const is = (field: string, value: string) => ({ field, operator: "eq", value });

/** amount, currency, country, outcome, chargeback */
const payments = [
  [40, "EUR", "DE", "approved", "false"],
  [60.1, "EUR", "DE", "approved", "false"],
  ["70.2", "EUR", "DE", "approved", "true"],
  [1000, "USD", "DE", "refused", "true"],
  [2000, "USD", "ATLANTIS", "refused", "false"],
  [80, "EUR", "ATLANTIS", "approved", "false"],
] as const;
const lines = payments.map(([amount, currency, country, outcome, chargeback], index) => ({
  amount,
  currency,
  country,
  outcome,
  chargeback,
  madeAt: `2026-01-0${index + 1}T12:00:00+01:00`,
}));
const ndjson = [...lines.map((line) => JSON.stringify(line)), '{"amount": 5', "[1]"].join("\n");
const csv = [
  "country,chargeback,madeAt,outcome,currency,amount",
  ...lines.map((line) =>
    [line.country, line.chargeback, line.madeAt, line.outcome, line.currency, line.amount].join(","),
  ),
].join("\n");

const folder = newFolder();
const file = (name: string): string => join(folder, name);
writeFileSync(file("semantics.yaml"), semantics);
writeFileSync(file("payments.ndjson"), ndjson);
writeFileSync(file("payments.csv.gz"), gzipSync(csv));

/** A stack of which two rules are live, beside one by hand; its program changes one, removes one and adds one. */
async function changedStack() {
  const { project, service, succeeds } = await openCommandStack("local", {
    contract: contractOf({ semantics: file("semantics.yaml"), rule: { naturalKey: "/name" } }),
  });
  const rules = {
    large: rule("large", 10, "decline", [over(500)]),
    gone: rule("gone", 30, "review", [is("country", "ATLANTIS")]),
  };
  project.declare({ all: { rules } });
  await succeeds("up");
  service.put(undefined, rule("by-hand", 40, "decline", [over(1500)]));
  project.declare({
    all: { rules: { large: rule("large", 10, "decline", [over(50)]), made: rule("made", 20, "review", [over(75)]) } },
  });
  const at = ["--cwd", project.folder, "--stack", project.stack, "--engine", "local"];
  return async (command: string, ...words: string[]) => await project.merchantRules(command, ...at, ...words);
}

function table(report: Report, title: string): Table["rows"] {
  const found = report.tables.find((each) => each.title.startsWith(title));
  expect(report.tables.map((each) => each.title).join("\n")).toContain(title);
  return found?.rows ?? [];
}

test("a run is simulated on payments: by outcome, rule and label, and against what really happened", async () => {
  const run = await changedStack();
  const { stdout, stderr, code } = await run("simulate", "--payments", file("payments.ndjson"), "--json");
  expect(code, stderr).toBe(0);
  const report: Report = JSON.parse(stdout);
  expect(report.simulation).toEqual({
    sha256: createHash("sha256").update(ndjson).digest("hex"),
    payments: 6,
    badLines: 2,
    from: "2026-01-01T11:00:00Z",
    until: "2026-01-06T11:00:00Z",
    flipped: 3,
    matrix: [
      { before: "accept", after: "decline", payments: 2, sums: { EUR: "130.3" } },
      { before: "decline", after: "review", payments: 1, sums: { USD: "1000" } },
      { before: "accept", after: "accept", payments: 1, sums: { EUR: "40" } },
      { before: "decline", after: "decline", payments: 1, sums: { USD: "2000" } },
      { before: "review", after: "review", payments: 1, sums: { EUR: "80" } },
    ],
  });
  expect(report.tables[0]?.title).toBe("The live rules, so read, against what really happened");
  expect(table(report, "The live rules")).toEqual([
    ["the same", 5, "83.33 %"],
    ["another outcome", 1, "16.67 %"],
    ["unknown by these rules", 0, "0 %"],
    ["no actual outcome in the payment", 0, ""],
  ]);
  expect(table(report, "Rules with which they do not agree")).toEqual([["gone", "review", "accept", 1]]);
  expect(table(report, "Payments by outcome")).toEqual([
    ["accept", 1, 2, 0, 3],
    ["decline", 0, 1, 1, 2],
    ["review", 0, 0, 1, 1],
    ["all", 1, 3, 2, 6],
  ]);
  expect(table(report, "Flips")).toEqual([
    ["accept", "no rule", "decline", "large", 2, "33.33 %", "EUR 130.30"],
    ["decline", "large", "review", "made", 1, "16.67 %", "USD 1,000"],
  ]);
  expect(table(report, "What each rule decides")).toEqual([
    ["made", 0, 2, 2],
    ["large", 1, 2, 1],
    ["gone", 1, 0, -1],
    ["by-hand", 1, 1, 0],
  ]);
  expect(table(report, "Fraud and good")).toEqual([
    ["accept", 1, 0, 2, 1],
    ["decline", 1, 1, 1, 2],
    ["review", 0, 1, 1, 1],
  ]);
  expect(table(report, "Rules that do not accept")).toContainEqual([
    "large",
    1,
    1,
    0,
    1,
    "100 %",
    "50 %",
    "50 %",
    "50 %",
  ]);
  expect(report.notes).toEqual([
    expect.stringMatching(/^the live rules at 127\.0\.0\.1:\d+, read /),
    "2 lines hold no payment and are left out: line 7, column 13: it is not JSON; line 8, column 1: it is a list, and no payment",
    "A payment that was declined has no later fate: whether it would have been fraud cannot be told by this history",
  ]);

  const packed = await run("simulate", "--payments", file("payments.csv.gz"), "--json");
  const other: Report = JSON.parse(packed.stdout);
  expect({ ...other.simulation, sha256: "" }).toEqual({ ...report.simulation, sha256: "", badLines: 0 });
  expect(other.tables).toEqual(report.tables);

  for (const format of formats) {
    const shown = await run("simulate", "--payments", file("payments.ndjson"), "--format", format);
    expect(shown.stdout).toContain(format === "json" ? '"flipped": 3' : "3 of 6 payments have another outcome");
    expect(shown.stdout).not.toMatch(/ATLANTIS|60\.1|70\.2/);
  }
  const values = await run("simulate", "--payments", file("payments.ndjson"), "--show-values");
  expect(values.stdout).toMatch(/2 +accept, no rule +decline, large +60\.1 +"DE"/);
  expect(await run("simulate", "--payments", file("payments.ndjson"), "--show-values", "--comment")).toMatchObject({
    code: 2,
  });
  expect(await run("simulate", "--payments", file("payments.ndjson"), "--strict")).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("line 7, column 13: it is not JSON. What to do: correct the line"),
  });
  expect((await run("simulate")).code).toBe(2);

  const written = await run(
    "simulate",
    "--sql",
    "duckdb",
    "--payments",
    file("payments.ndjson"),
    "--output",
    file("a.sql"),
  );
  expect(written, written.stderr).toMatchObject({ code: 0, stdout: "" });
  const statements = readFileSync(file("a.sql"), "utf8").split(/;\n/).slice(0, -1);
  const cells = await inDuckDb(statements);
  expect(new Set(cells.map((cell) => Object.values(cell).join(" ")))).toEqual(
    new Set([
      "accept decline EUR 2 130.300000 0",
      "decline review USD 1 1000.000000 0",
      "accept accept EUR 1 40.000000 0",
      "decline decline USD 1 2000.000000 0",
      "review review EUR 1 80.000000 0",
      "   2  2",
    ]),
  );
  const printed = await run("simulate", "--sql", "spark", "--table", "lake.payments");
  expect(printed.stdout).toContain("FROM `lake`.`payments` mr_row");

  const plan = await run("plan", "--payments", file("payments.csv.gz"), "--comment");
  expect(plan.code, plan.stderr).toBe(0);
  expect(plan.stdout).not.toMatch(/60\.1|70\.2/);
  const places = ["Each outcome before and after", "to delete", "to update", "to create"].map((text) =>
    plan.stdout.indexOf(text),
  );
  expect(places).not.toContain(-1);
  const json: Report = JSON.parse((await run("plan", "--payments", file("payments.csv.gz"), "--json")).stdout);
  expect(json.tables[0]).toMatchObject({ title: "Each outcome before and after", isFirst: true });
  expect(json.findings.map(({ name, change, details }) => [name, change, details])).toEqual([
    ["gone", "delete", ["of 6 payments none of this rule has another outcome; it decides 1 before and 0 after"]],
    [
      "large",
      "update",
      [
        "of 6 payments 2 go from accept to decline (33.33 %, EUR 130.30), 1 goes from decline to review (16.67 %, USD 1,000); it decides 1 before and 2 after",
      ],
    ],
    [
      "made",
      "create",
      ["of 6 payments 1 goes from decline to review (16.67 %, USD 1,000); it decides 0 before and 2 after"],
    ],
  ]);
  expect(json.simulation).toEqual(other.simulation);
}, 300_000);
