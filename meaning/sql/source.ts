import type { Semantics } from "../language/schema.ts";

/** Where payments stand, and how their fields are found. */
export type Source =
  /** A file of JSON, one payment a line. */
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "table"; readonly table: readonly string[]; readonly columns: Columns };

/** The columns of a table. */
export interface Columns {
  /** A column that has the payment as JSON: fields without a column of their own are read from it. null: there is none. */
  readonly json: string | null;
  /** Each field of the semantics that has a column of its own. */
  readonly fields: Readonly<Record<string, Column>>;
}

export interface Column {
  readonly column: string;
  /** Whether it is an instant (TIMESTAMP WITH TIME ZONE in DuckDB, TIMESTAMP in Spark). Any other type is found by the query itself. */
  readonly isInstant: boolean;
}

/** Returns columns that have the names of the fields. */
export function ownColumns({ payment }: Semantics): Columns {
  const names = Object.keys(payment.fields);
  return { json: null, fields: Object.fromEntries(names.map((column) => [column, { column, isInstant: false }])) };
}
