import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { decisionQuery } from "../../../meaning/sql/query.ts";
import { newFolder } from "../../support/folder.ts";
import { heldAgainst, type SqlCase, sqlCases } from "./cases.ts";
import { inDuckDb } from "./in-duckdb.ts";
import { valueCases } from "./values.ts";

const folder = newFolder();

const seed = Number(process.env.FUZZ_SEED ?? "1");

/** The payments of each case in a file, and what DuckDB makes of them. */
async function answered(cases: readonly SqlCase[], name: string): Promise<ReturnType<typeof heldAgainst>[]> {
  return await Promise.all(
    cases.map(async (each, number) => {
      const path = join(folder, `${name}-${number}.ndjson`);
      writeFileSync(path, each.payments.map((payment) => JSON.stringify(payment)).join("\n"));
      const query = decisionQuery(each.sides, { ...each, dialect: "duckdb", source: { kind: "file", path } });
      expect(query.refused).toEqual([]);
      const rows = await inDuckDb([...query.settings, query.select]);
      expect(rows).toHaveLength(each.payments.length);
      return heldAgainst(rows, each);
    }),
  );
}

test("DuckDB decides 20,000 random payments by 200 random rules as the evaluator does, however rules win and fields are missing", async () => {
  const held = await answered(sqlCases(seed, { rules: 200, payments: 2500 }), "rules");
  for (const { wrong, known, unknown, several, inexact } of held) {
    expect(wrong.slice(0, 2)).toEqual([]);
    expect(inexact).toBeLessThan(100);
    for (const count of [known, unknown, several]) expect(count).toBeGreaterThan(20);
  }
});

test("values of every type are compared as the evaluator does, at every border; what is not compared is unknown, and said", async () => {
  const cases = valueCases(seed, { rules: 60, payments: 800 });
  const held = await answered(cases, "values");
  for (const [number, { wrong, known, inexact }] of held.entries()) {
    expect(wrong.slice(0, 2), cases[number]?.type).toEqual([]);
    expect(known, cases[number]?.type).toBeGreaterThan(100);
    expect(inexact, cases[number]?.type).toBeLessThan(400);
  }
});
