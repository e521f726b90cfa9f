import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { decisionQuery } from "../../../../sdk/semantics/sql/query.ts";
import { inSpark, installedSpark } from "../../../support/spark.ts";
import { heldAgainst, type SqlCase, sqlCases } from "./cases.ts";
import { valueCases } from "./values.ts";

const python = installedSpark();
const folder = mkdtempSync(join(tmpdir(), "spark-"));
afterAll(() => rmSync(folder, { recursive: true }));
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
  },
);
