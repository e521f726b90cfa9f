import { expect, test } from "vitest";
import { run } from "./command.ts";

test.each([
  [["--table", "payments"], "--table and --columns are for SQL: name the engine with --sql"],
  [
    ["--sql", "duckdb"],
    "--sql needs either --payments with a file of JSON, one payment a line, or --table with a table",
  ],
  [["--sql", "duckdb", "--payments", "p.ndjson", "--table", "t"], "--sql needs either --payments"],
  [["--sql", "duckdb", "--payments", "-"], "--payments cannot be standard input"],
  [["--sql", "duckdb", "--payments", "p.csv.gz"], "load the CSV into a table, and name it with --table"],
  [["--sql", "duckdb", "--payments", "p.ndjson", "--columns", "c.yaml"], "--columns is for a table"],
  [["--sql", "spark", "--table", "a.b.c.d"], "--table must be <table>, <schema>.<table> or <catalog>.<schema>.<table>"],
  [["--sql", "spark", "--table", "t", "--json"], "--sql writes SQL and no report"],
  [["--sql", "spark", "--table", "t", "--show-values"], "--sql writes SQL and no report"],
  [["--sql", "oracle", "--table", "t"], "Allowed choices are duckdb, spark"],
])("simulate %j is refused before anything is read", async (words, why) => {
  const { code, stderr, stdout } = await run(["simulate", ...words]);
  expect(stderr).toContain(why);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
});
