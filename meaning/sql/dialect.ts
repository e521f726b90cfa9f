/** The SQL of one engine. Each method returns SQL of an expression; no expression fails on any row of a table. */
export interface Dialect {
  /** For people: `DuckDB`. */
  readonly name: string;
  /** The names of the types of strings and integers. */
  readonly text: string;
  readonly int: string;
  /** Quotes a string, whatever is in it. */
  literal(text: string): string;
  /** Quotes the name of a table or a column. */
  identifier(name: string): string;
  /** Makes comparisons of a text compare its bytes, whatever the collation of a column or session. */
  binary(text: string): string;
  list(items: readonly string[], type: string): string;
  /** The brackets around a list that is written over several lines. */
  readonly brackets: readonly [string, string];
  /** Returns the element at an index, from 1, which must exist. */
  at(list: string, index: string): string;
  size(list: string): string;
  /** Keeps the elements for which a condition on `x` holds. */
  filter(list: string, condition: string, element?: string): string;
  transform(list: string, expression: string): string;
  exists(list: string, condition: string, element?: string): string;
  joined(one: string, other: string): string;
  distinct(list: string): string;
  sorted(list: string): string;
  smallest(list: string): string;
  largest(list: string): string;
  has(list: string, element: string): string;
  overlaps(list: string, other: string): string;
  textOf(list: string, separator: string): string;
  startsWith(text: string, part: string): string;
  endsWith(text: string, part: string): string;
  /** Tests whether a whole text matches a pattern that RE2 and Java read alike. */
  isAll(text: string, pattern: string): string;
  /** Tests whether a part of a text matches such a pattern. */
  isPart(text: string, pattern: string): string;
  /** Returns a group of a text that matches by {@link isAll}; empty where the group is absent. */
  group(text: string, pattern: string, group: number): string;
  /** Divides integers that are not negative, and rounds down. */
  quotient(one: string, other: string): string;
  /** Returns the microseconds since 1970 of a column that is an instant. */
  micros(column: string): string;
  /** Returns the kind of a column of a table: see {@link kinds}. */
  kindOfColumn(column: string): string;
  /** Returns the elements of a column that is a list, as texts. */
  elementsOf(column: string): string;
  kindOfElement(column: string): string;
  /** Packs a row of a table into one value, whose fields are its columns. */
  packed(row: string): string;
  /** Selects the lines of a file, each a payment as JSON, as the column `line`. */
  linesOf(path: string): string;
  readonly json: JsonReader;
  /** Statements to run before the query. */
  readonly settings: readonly string[];
  /** Returns why this engine cannot compare with a pattern, as the rest of a sentence; undefined where it can. */
  refusesPattern(source: string, isCommon: boolean): string | undefined;
}

/** Reads payments that are JSON. */
export interface JsonReader {
  /** Parses a text into a value from which fields are read; null where it is no payment, or one on which JSON parsers do not agree. */
  document(text: string, pointers: readonly (readonly string[])[]): string;
  /** Returns the field with this number among the pointers, from 0; SQL null where there is none. */
  field(document: string, number: number, pointer: readonly string[]): string;
  /** Returns the kind of a value, see {@link kinds}; `m` also for SQL null. */
  kind(value: string): string;
  text(value: string): string;
  elements(value: string): string;
}

/**
 * The kinds of a value: missing or null, a JSON number, a number of which every digit counts, a text, true or false, microseconds, a list,
 * or anything else. SQL null: the payment could not be parsed.
 */
export const kinds = {
  missing: "'m'",
  number: "'n'",
  exact: "'e'",
  text: "'t'",
  boolean: "'b'",
  micros: "'u'",
  list: "'l'",
  other: "'o'",
} as const;

/** An unknown boolean. */
export const unknown = "CAST(NULL AS BOOLEAN)";
export const isTrue = "TRUE";
export const isFalse = "FALSE";

/** Joins conditions. SQL's `AND` is Kleene's, as the evaluator's is. */
export function and(parts: readonly string[]): string {
  const open = [...new Set(parts)].filter((part) => part !== isTrue);
  if (open.includes(isFalse)) return isFalse;
  return open.length > 1 ? `(${open.join(" AND ")})` : (open[0] ?? isTrue);
}

export function or(parts: readonly string[]): string {
  const open = [...new Set(parts)].filter((part) => part !== isFalse);
  if (open.includes(isTrue)) return isTrue;
  return open.length > 1 ? `(${open.join(" OR ")})` : (open[0] ?? isFalse);
}

export function not(part: string): string {
  if (part === isTrue) return isFalse;
  if (part === isFalse) return isTrue;
  return part === unknown ? part : `NOT (${part})`;
}
