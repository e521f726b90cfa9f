import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { decisionQuery } from "../../../meaning/sql/query.ts";
import { newFolder } from "../../support/folder.ts";
import { answerIn, answersOf } from "./cases.ts";
import { inDuckDb } from "./in-duckdb.ts";
import { expectedOfLine, lines, linesCase, tableCase, tableSource } from "./sources.ts";

const folder = newFolder();

test("a line is read as every reader of JSON does, or not at all", async () => {
  const path = join(folder, "lines.ndjson");
  writeFileSync(path, lines.join("\n"));
  const query = decisionQuery(linesCase.sides, { ...linesCase, dialect: "duckdb", source: { kind: "file", path } });
  const rows = await inDuckDb([...query.settings, query.select]);
  const read = new Set<string>();
  const written = lines.filter((line) => line.trim() !== "");
  expect(rows.map(({ line }) => line)).toEqual(written);
  for (const [index, line] of written.entries()) {
    const row = rows[index] ?? {};
    const expected = expectedOfLine(line);
    if (row.mr_is_read !== true) {
      expect(row.mr_before_outcome, line).toBeNull();
      continue;
    }
    read.add(line);
    expect(expected, line).toBeDefined();
    if (row.mr_is_exact === true || row.mr_before_is_known === true)
      expect(answerIn(row, "before"), line).toEqual(expected);
  }
  // What is JSON everywhere, and is not read.
  expect(written.filter((line) => expectedOfLine(line) !== undefined && !read.has(line))).toEqual([
    '{"x":1,"x":5}',
    '{"x":1,"\\u0078":5}',
    '{"a":{"b":"d","b":"c"}}',
    '{"t":"\\ud800"}',
    '{"t":"\\u0000"}',
    '{"t":"a\\u0000"}',
  ]);
});

test("columns are read by their types, whatever collation a column or the session has", async () => {
  const query = decisionQuery(tableCase.sides, { ...tableCase, dialect: "duckdb", source: tableSource("payments") });
  const rows = await inDuckDb([
    ...query.settings,
    "SET default_collation = 'nocase'",
    `CREATE TABLE payments ("Amount (EUR)" DECIMAL(18, 4), n BIGINT, ccy VARCHAR COLLATE NOCASE, ok BOOLEAN, "made at" TIMESTAMP WITH TIME ZONE, tags VARCHAR[], score DOUBLE, payload VARCHAR, s VARCHAR, x VARCHAR)`,
    `INSERT INTO payments VALUES
      (12.5, 7, 'eur', true, '2026-01-31 13:00:00.5+01', ['a'], NULL, '{"country": "DE"}', 's', 'x'),
      (0.0001, -1, 'EUR', false, '1969-12-31 23:59:59.999999+00', [], NULL, '{"country": "de", "amount": 99}', 's', 'x'),
      (12345678901234.5678, 12, 'é', true, '2026-01-31 12:00:00+00', ['A', 'b'], NULL, '{"country": "FR"}', 's', 'x'),
      (NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{}', NULL, NULL)`,
    "SET TimeZone = 'Asia/Kathmandu'",
    query.select,
  ]);
  const [side] = tableCase.sides;
  if (side === undefined) throw new TypeError("there is no side");
  expect(rows.map((row) => answerIn(row, "before"))).toEqual(answersOf(tableCase, side));
  expect(rows.map(({ mr_is_exact }) => mr_is_exact)).toEqual([true, true, true, true]);
  expect(rows.map(({ mr_amount, mr_currency }) => [mr_amount, mr_currency])).toEqual([
    ["12.500000", "eur"],
    ["0.000100", "EUR"],
    [null, null],
    [null, null],
  ]);
});
