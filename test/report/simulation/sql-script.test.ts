import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { evaluate, loadSemantics, readRules, type Semantics } from "../../../meaning/index.ts";
import type { SideMeaning } from "../../../report/meaning/meaning.ts";
import { readColumns } from "../../../report/simulation/sql/columns-file.ts";
import { type Script, sqlScript } from "../../../report/simulation/sql/script.ts";
import { presetFile } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { inDuckDb, type Row } from "../../meaning/sql/in-duckdb.ts";
import { newFolder } from "../../support/folder.ts";

const folder = newFolder();

function presetSemantics(name: string): Semantics {
  return loadSemantics(join(dirname(presetFile("seed")), `${name}.semantics.yaml`));
}

function meaning(name: string, semantics: Semantics, definitions: readonly JsonObject[]): SideMeaning {
  const rules = definitions.flatMap((definition, number) =>
    readRules(definition, semantics).map((reading, index) => ({
      name: `${name} ${number}.${index}`,
      rule: { name: `${number}`, connection: "default", definition },
      reading,
    })),
  );
  return { name, semantics, rules, valueLists: new Map(), unlisted: new Map(), notes: [] };
}

/** The script's statements, run in DuckDB on a file of payments: each payment's row, or the matrix. */
async function rowsOf({ text }: Script, last: "rows" | "matrix"): Promise<Row[]> {
  const statements = text.split(/;\n/).filter((statement) => statement.replace(/^--.*$/gm, "").trim() !== "");
  const matrix = statements.pop() ?? "";
  return await inDuckDb([...statements, last === "matrix" ? matrix : "SELECT * FROM merchant_rules_decisions"]);
}

function fileOf(name: string, payments: readonly JsonObject[]): string {
  const path = join(folder, `${name}.ndjson`);
  writeFileSync(path, payments.map((payment) => `${JSON.stringify(payment)}\n`).join(""));
  return path;
}

const when = (field: string, operator: string, value: unknown) => ({ field, operator, value }) as JsonObject;

const presets: Readonly<Record<string, { rules: JsonObject[]; payments: JsonObject[] }>> = {
  illustrative: {
    rules: [
      {
        name: "large",
        priority: 10,
        isActive: true,
        conditions: [when("amount", "gt", 500)],
        actions: [{ type: "decline" }],
      },
      {
        name: "far",
        priority: 10,
        isActive: true,
        conditions: [when("card.country", "notIn", ["DE", "AT"])],
        actions: [{ type: "review" }],
      },
      {
        name: "trusted",
        priority: 90,
        isActive: true,
        conditions: [when("payer.trusted", "eq", true)],
        actions: [{ type: "accept" }],
      },
      {
        name: "case",
        priority: 50,
        isActive: true,
        conditions: [when("currency", "eq", "eur")],
        actions: [{ type: "review" }],
      },
      {
        name: "CASE",
        priority: 40,
        isActive: true,
        conditions: [when("currency", "eq", "EUR")],
        actions: [{ type: "decline" }],
      },
      { name: "off", priority: 99, isActive: false, conditions: [], actions: [{ type: "decline" }] },
      {
        name: "odd",
        priority: 1,
        isActive: true,
        conditions: [when("nobody", "eq", 1)],
        actions: [{ type: "decline" }],
      },
    ],
    payments: [
      { amount: 600, card: { country: "DE" }, payer: { trusted: true } },
      { amount: 5, card: { country: "DE" }, payer: { trusted: false }, currency: "EUR" },
      { amount: 5, card: { country: "DE" }, payer: { trusted: false }, currency: "GBP" },
      { amount: 600, card: { country: "DE" }, payer: { trusted: false } },
      { amount: 600, card: { country: "FR" }, payer: { trusted: false } },
      { amount: 5, card: { country: "de" }, payer: { trusted: false } },
      { amount: 5, card: { country: "DE" }, payer: { trusted: "yes" } },
      { amount: 5, payer: { trusted: false } },
      { amount: "500.0000000000000000000000000000000000001", card: { country: "DE" }, payer: { trusted: false } },
    ],
  },
  whop: {
    rules: [
      {
        name: "range",
        status: "active",
        action: "block",
        conditions: { all: [when("ip_address", "in_cidr", "10.0.0.0/8")] },
      },
      {
        name: "mail",
        status: "active",
        action: "review",
        conditions: { all: [when("customer_email", "ends_with", "@example.com")] },
      },
      {
        name: "risk",
        status: "active",
        action: "enforce_3ds",
        conditions: { all: [when("risk_score", "gte", 70), when("card_country", "neq", "US")] },
      },
      {
        name: "good",
        status: "active",
        action: "allow",
        conditions: { all: [when("card_country", "in", ["DE", "FR"])] },
      },
      { name: "none", status: "inactive", action: "allow", conditions: { all: [when("risk_score", "lt", 1)] } },
    ],
    payments: [
      { ip_address: "10.1.2.3", customer_email: "a@example.com", risk_score: 90, card_country: "GB" },
      { ip_address: "11.1.2.3", customer_email: "a@EXAMPLE.com", risk_score: 90, card_country: "GB" },
      { ip_address: "2001:db8::1", customer_email: "a@b", risk_score: 90, card_country: "GB" },
      { ip_address: "x", customer_email: "a@b", risk_score: 10, card_country: "DE" },
      { customer_email: "a@example.com" },
      { risk_score: "70.0", card_country: "us" },
    ],
  },
  "decision-engine": {
    rules: [
      {
        algorithm_data: {
          data: {
            rules: [
              rule("stripe", [
                ["amount", "greater_than", "number", 100],
                ["payment_method", "equal", "enum_variant", "card"],
              ]),
              rule("adyen", [["payment_method", "not_equal", "enum_variant_array", ["card", "wallet"]]]),
            ],
          },
        },
      },
    ],
    payments: [
      { amount: 101, payment_method: "card" },
      { amount: 100, payment_method: "card" },
      { amount: 5, payment_method: "transfer" },
      { amount: 500 },
      { amount: "101", payment_method: 5 },
    ],
  },
  wiremock: {
    rules: [
      stub(1, "decline", [{ matchesJsonPath: { expression: "$.card.country", equalTo: "ATLANTIS" } }]),
      stub(2, "review", [{ matchesJsonPath: { expression: "$.currency", contains: "U" } }]),
      stub(2, "review", [{ matchesJsonPath: "$.card.country" }]),
      stub(3, "allow", [{ matchesJsonPath: { expression: "$.currency", absent: "(absent)" } }]),
      stub(4, "decline", [{ matchesJsonPath: "$[?(@.amount > 100)]" }]),
    ],
    payments: [
      { card: { country: "ATLANTIS" }, currency: "EUR" },
      { card: { country: "DE" }, currency: "EUR" },
      { card: { country: "DE" } },
      { currency: "GBP", amount: 5 },
      { currency: 5 },
      {},
    ],
  },
};

function rule(gateway: string, compared: readonly (readonly [string, string, string, unknown])[]): JsonObject {
  const condition = compared.map(([lhs, comparison, type, value]) => ({
    lhs,
    comparison,
    value: { type, value },
    metadata: {},
  }));
  return JSON.parse(
    JSON.stringify({
      name: gateway,
      routing_type: "priority",
      output: { single: { gateway_name: gateway } },
      statements: [{ condition }],
    }),
  );
}

function stub(priority: number, decision: string, bodyPatterns: readonly JsonObject[]): JsonObject {
  return {
    priority,
    request: { method: "POST", urlPath: "/payments", bodyPatterns: [...bodyPatterns] },
    response: { status: 200, jsonBody: { decision } },
  };
}

test.each(Object.entries(presets))(
  "the semantics %s become SQL that decides as the evaluator does",
  async (name, { rules, payments }) => {
    const semantics = presetSemantics(name);
    const [before, after] = [meaning("before", semantics, rules), meaning("after", semantics, rules.slice(0, -1))];
    const path = fileOf(name, payments);
    const script = sqlScript(before, after, { dialect: "duckdb", source: { kind: "file", path }, payments: path });
    expect(script.refusedRules).toBe(0);
    const rows = await rowsOf(script, "rows");
    for (const [index, payment] of payments.entries())
      for (const [side, { rules: own }] of [
        ["before", before],
        ["after", after],
      ] as const) {
        const { decision } = evaluate(
          payment,
          own.map(({ reading }) => reading),
          semantics,
        );
        const by = decision.kind === "decided" ? decision.by : decision.because;
        const found = [rows[index]?.[`mr_${side}_outcome`], new Set(rows[index]?.[`mr_${side}_rules`] as string[])];
        const outcome = decision.kind === "decided" ? decision.outcomes.join(" and ") : "unknown";
        expect(found, `${side} ${JSON.stringify(payment)}`).toEqual([
          outcome,
          new Set(by.map((each) => own[each]?.name)),
        ]);
      }
    const counted = await rowsOf(script, "matrix");
    expect(counted.reduce((sum, row) => sum + Number(row.payments), 0)).toBe(payments.length);
    const spark = sqlScript(before, after, { dialect: "spark", source: { kind: "file", path }, payments: path });
    expect(spark.refusedRules).toBe(0);
  },
);

test("the matrix has sums for each currency; what could not be read stands without an outcome", async () => {
  const semantics = presetSemantics("illustrative");
  const large = (over: number): JsonObject[] => [
    {
      name: "large",
      priority: 10,
      isActive: true,
      conditions: [when("amount", "gt", over)],
      actions: [{ type: "decline" }],
    },
  ];
  const path = fileOf("matrix", [
    { amount: 60.1, currency: "EUR" },
    { amount: "70.2", currency: "EUR" },
    { amount: 80, currency: "USD" },
    { amount: 80, currency: "not a currency" },
    { amount: 0.1234567, currency: "EUR" },
    { amount: 1 / 3, currency: "EUR" },
  ]);
  writeFileSync(path, "{broken\n", { flag: "a" });
  const [before, after] = [meaning("live", semantics, large(500)), meaning("new", semantics, large(65))];
  const script = sqlScript(before, after, { dialect: "duckdb", source: { kind: "file", path }, payments: path });
  const counted = await rowsOf(script, "matrix");
  const cells = counted.map((row) => Object.values(row).map((cell) => (cell === null ? null : String(cell))));
  expect(new Set(cells.map((row) => row.join(" ")))).toEqual(
    new Set([
      "accept accept EUR 1 60.100000 0",
      "accept decline EUR 1 70.200000 0",
      "accept decline USD 1 80.000000 0",
      "accept decline  1  0",
      "accept accept  1  0",
      "unknown unknown  1  1",
      "   1  1",
    ]),
  );
});

test("the head says by which rules and semantics it was made, and what is not known", () => {
  const semantics = presetSemantics("illustrative");
  const { rules } = presets.illustrative ?? { rules: [] };
  const [before, after] = [meaning("live", semantics, rules), meaning("new", semantics, rules.slice(1))];
  const source = { kind: "table" as const, table: ["lake", "payments"], columns: { json: null, fields: {} } };
  const { text, refusedRules, title } = sqlScript(before, after, {
    dialect: "spark",
    source,
    payments: "lake.payments",
  });
  const head = text.split("\n").filter((line) => line.startsWith("--"));
  expect(head.slice(0, 2)).toEqual([
    "-- Payments decided by rules, before and after a run. SQL of Spark SQL, written by merchant-rules simulate --sql spark",
    "-- Payments: lake.payments",
  ]);
  expect(head[2]).toMatch(/^-- Before: live, 7 rules, SHA-256 [0-9a-f]{64}$/);
  expect(head[3]).toMatch(/^-- After: new, 6 rules, SHA-256 [0-9a-f]{64}$/);
  expect(head[2]?.slice(-64)).not.toBe(head[3]?.slice(-64));
  expect(head.join("\n")).toContain("/conditions/0/field is nobody, which payment.fields does not have");
  // No field has a column, so each rule that compares one is refused, on each side.
  expect(refusedRules).toBe(9);
  expect(title).toBe("SQL of Spark SQL for lake.payments; 9 rules cannot be said in full");
  expect(head.join("\n")).toContain("before, live 0.0: /conditions/0 compares amount has no column");
});

test("a file of columns is read, and refused with the place of each fault", () => {
  const semantics = presetSemantics("illustrative");
  const path = join(folder, "columns.yaml");
  writeFileSync(path, "version: 1\njson: payload\ncolumns: { amount: amt }\n");
  expect(readColumns(path, semantics)).toEqual({
    json: "payload",
    fields: { amount: { column: "amt", isInstant: false } },
  });
  writeFileSync(path, "version: 1\ncolumns:\n  amont: amt\n  amount: { column: amt, is: instant }\n");
  expect(() => readColumns(path, semantics)).toThrow(
    /columns\.yaml:3:3: columns\.amont: found a field that the semantics do not have/,
  );
  expect(() => readColumns(path, semantics)).toThrow(/columns\.yaml:4:\d+: columns\.amount: found is: instant/);
  writeFileSync(path, "version: 1\n");
  expect(() => readColumns(path, semantics)).toThrow(/found no column; allowed: json, or columns, or both/);
  expect(() => readColumns(join(folder, "nothing.yaml"), semantics)).toThrow(/read columns/);
});
