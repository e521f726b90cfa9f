import { DuckDBInstance } from "@duckdb/node-api";

export type Row = Record<string, unknown>;

/** Runs statements in a database of their own; the rows of the last, as JSON. */
export async function inDuckDb(statements: readonly string[]): Promise<Row[]> {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  try {
    for (const statement of statements.slice(0, -1)) await connection.run(statement);
    const reader = await connection.runAndReadAll(statements.at(-1) ?? "");
    return reader.getRowObjectsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
