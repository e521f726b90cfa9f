import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { decisionQuery } from "../../../meaning/sql/query.ts";
import { newFolder } from "../../support/folder.ts";
import { inSpark, installedSpark } from "../../support/spark.ts";
import { answerIn, answersOf, heldAgainst, type SqlCase, sqlCases } from "./cases.ts";
import { expectedOfLine, lines, linesCase, tableCase, tableSource } from "./sources.ts";
import { valueCases } from "./values.ts";

const python = installedSpark();
const folder = newFolder();
const seed = Number(process.env.FUZZ_SEED ?? "1");
const timeoutMs = 3_600_000;

/** The payments of each case in a file, and what Spark makes of them. */
function answered(cases: readonly SqlCase[], name: string): ReturnType<typeof heldAgainst>[] {
  const queries = cases.map((each, number) => {
    const path = join(folder, `${name}-${number}.ndjson`);
    writeFileSync(path, each.payments.map((payment) => JSON.stringify(payment)).join("\n"));
    const query = decisionQuery(each.sides, { ...each, dialect: "spark", source: { kind: "file", path } });
    expect(query.refused).toEqual([]);
    return [...query.settings, query.select];
  });
  return inSpark(python ?? "", queries, folder).map((rows, number) => {
    const each = cases[number];
    if (each === undefined) throw new TypeError(`there is no case ${number}`);
    expect(rows).toHaveLength(each.payments.length);
    return heldAgainst(rows, each);
  });
}

describe.skipIf(python === undefined)(
  "in Spark's local mode (npm run test:spark installs it; needs Java 17 or newer)",
  () => {
    test("20,000 random payments are decided by 200 random rules as the evaluator does", { timeout: timeoutMs }, () => {
      for (const { wrong, known, unknown, several, inexact } of answered(
        sqlCases(seed, { rules: 200, payments: 2500 }),
        "rules",
      )) {
        expect(wrong.slice(0, 2)).toEqual([]);
        expect(inexact).toBeLessThan(100);
        for (const count of [known, unknown, several]) expect(count).toBeGreaterThan(20);
      }
    });

    test("values of every type are compared as the evaluator does, at every border", { timeout: timeoutMs }, () => {
      const cases = valueCases(seed, { rules: 60, payments: 800 });
      for (const [number, { wrong, known, inexact }] of answered(cases, "values").entries()) {
        expect(wrong.slice(0, 2), cases[number]?.type).toEqual([]);
        expect(known, cases[number]?.type).toBeGreaterThan(100);
        expect(inexact, cases[number]?.type).toBeLessThan(400);
      }
    });

    test("lines are read as every reader of JSON does, or not at all; columns by their types", {
      timeout: timeoutMs,
    }, () => {
      const path = join(folder, "lines.ndjson");
      writeFileSync(path, lines.join("\n"));
      const ofLines = decisionQuery(linesCase.sides, {
        ...linesCase,
        dialect: "spark",
        source: { kind: "file", path },
      });
      const ofTable = decisionQuery(tableCase.sides, {
        ...tableCase,
        dialect: "spark",
        source: tableSource("payments"),
      });
      const statements = [[ofLines.select], [sparkTable, "SET TIME ZONE 'Asia/Kathmandu'", ofTable.select]];
      const [read = [], rows = []] = inSpark(python ?? "", statements, folder);
      for (const row of read) {
        const line = String(row.line);
        const expected = expectedOfLine(line);
        if (row.mr_is_read !== true) continue;
        expect(expected, line).toBeDefined();
        if (row.mr_is_exact === true || row.mr_before_is_known === true)
          expect(answerIn(row, "before"), line).toEqual(expected);
      }
      const unread = read.filter(({ mr_is_read }) => mr_is_read !== true).map(({ line }) => String(line));
      expect(unread.filter((line) => expectedOfLine(line) !== undefined)).toEqual([
        '{"x":1,"x":5}',
        '{"x":1,"\\u0078":5}',
        '{"a":{"b":"d","b":"c"}}',
        '{"t":"\\ud800"}',
      ]);
      const [side] = tableCase.sides;
      expect(rows.map((row) => answerIn(row, "before"))).toEqual(side && answersOf(tableCase, side));
      expect(rows.map(({ mr_is_exact }) => mr_is_exact)).toEqual([true, true, true, true]);
    });
  },
);

const sparkTable = `CREATE TEMPORARY VIEW payments AS SELECT * FROM VALUES
  (CAST(12.5 AS DECIMAL(18, 4)), 7L, 'eur' COLLATE UTF8_LCASE, true, TIMESTAMP '2026-01-31 13:00:00.5+01:00', array('a'), CAST(NULL AS DOUBLE), '{"country": "DE"}'),
  (CAST(0.0001 AS DECIMAL(18, 4)), -1L, 'EUR' COLLATE UTF8_LCASE, false, TIMESTAMP '1969-12-31 23:59:59.999999+00:00', CAST(array() AS ARRAY<STRING>), CAST(NULL AS DOUBLE), '{"country": "de", "amount": 99}'),
  (CAST(12345678901234.5678 AS DECIMAL(18, 4)), 12L, 'é' COLLATE UTF8_LCASE, true, TIMESTAMP '2026-01-31 12:00:00+00:00', array('A', 'b'), CAST(NULL AS DOUBLE), '{"country": "FR"}'),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{}')
  AS t(\`Amount (EUR)\`, n, ccy, ok, \`made at\`, tags, score, payload)`;
