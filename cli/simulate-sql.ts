import { UsageError } from "../contract-tools/usage-error.ts";
import { ownColumns, type Source } from "../meaning/sql/query.ts";
import { readColumns } from "../report/simulation/sql/columns-file.ts";
import { sqlScript } from "../report/simulation/sql/script.ts";
import type { Meanings } from "./meaning.ts";
import { type ReportOptions, writeOutput } from "./report-options.ts";

/** The options by which `simulate` writes SQL. */
export interface SqlOptions {
  readonly sql?: "duckdb" | "spark";
  readonly table?: string;
  readonly columns?: string;
}

interface Given extends SqlOptions, ReportOptions {
  readonly payments?: string;
  readonly strict?: boolean;
  readonly showValues?: boolean;
  readonly at?: string;
}

/** Refuses what does not go together. @throws UsageError */
export function checkSqlOptions(options: Given): void {
  const { sql, table, columns, payments } = options;
  if (sql === undefined) {
    if (table !== undefined || columns !== undefined)
      throw new UsageError("--table and --columns are for SQL: name the engine with --sql");
    return;
  }
  const { format = "text", comment, annotations, strict, showValues } = options;
  if (format !== "text" || comment !== undefined || annotations !== undefined || strict || showValues)
    throw new UsageError(
      "--sql writes SQL and no report: leave out --format, --json, --comment, --annotations, --strict and --show-values",
    );
  if ((payments === undefined) === (table === undefined))
    throw new UsageError(
      "--sql needs either --payments with a file of JSON, one payment a line, or --table with a table",
    );
  if (columns !== undefined && table === undefined)
    throw new UsageError("--columns is for a table: name it with --table");
  if (payments === "-") throw new UsageError("--sql names the file in the SQL: --payments cannot be standard input");
  if (payments !== undefined && /\.[ct]sv(\.[a-z0-9]+)?$/i.test(payments))
    throw new UsageError(
      "--sql reads files of JSON alone, one payment a line: load the CSV into a table, and name it with --table",
    );
  if (table !== undefined && partsOf(table) === undefined)
    throw new UsageError(`--table must be <table>, <schema>.<table> or <catalog>.<schema>.<table>, and is ${table}`);
}

/**
 * Writes the SQL that decides a table of payments by both sides.
 * @throws MerchantRulesError SETTINGS_INVALID: the file of columns is wrong, `at` is no instant, or the output cannot be written
 */
export async function writeSql({ before, after }: Meanings, options: Given): Promise<void> {
  const { sql = "duckdb", payments, table = "", columns, at, output } = options;
  const { semantics } = after;
  const source: Source =
    payments === undefined
      ? {
          kind: "table",
          table: partsOf(table) ?? [],
          columns: columns === undefined ? ownColumns(semantics) : readColumns(columns, semantics),
        }
      : { kind: "file", path: payments };
  const { text, title } = sqlScript(before, after, { dialect: sql, source, payments: payments ?? table, at });
  writeOutput(text, output, title);
}

function partsOf(table: string): readonly string[] | undefined {
  const parts = table.split(".");
  return parts.length <= 3 && parts.every((part) => /^[^\p{Cc}"`.]+$/u.test(part)) ? parts : undefined;
}
