/** How one engine writes what the query needs. Every expression is one that all rows of a table can be held against. */
export interface Dialect {
  /** For people: `DuckDB`. */
  readonly name: string;
  /** The types of a text, a whole number, and a list of each. */
  readonly text: string;
  readonly int: string;
  listOf(type: string): string;
  /** A text, whatever is in it. */
  literal(text: string): string;
  /** The name of a table or a column. */
  identifier(name: string): string;
  /** The same text, which is compared by its bytes, whatever a column or a session says. */
  binary(text: string): string;
  list(items: readonly string[], type: string): string;
  /** A list that is written over several lines: what stands around its elements. */
  readonly brackets: readonly [string, string];
  /** The element at an index, from 1, which is there. */
  at(list: string, index: string): string;
  size(list: string): string;
  /** Of an element `x`. */
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
  /** Whether all of a text is of a pattern that RE2 and Java read alike. */
  isAll(text: string, pattern: string): string;
  /** Whether a part of a text is of such a pattern. */
  isPart(text: string, pattern: string): string;
  /** A group of a text that {@link isAll} is true of; empty where it is not there. */
  group(text: string, pattern: string, group: number): string;
  /** Two whole numbers that are not negative; rounded down. */
  quotient(one: string, other: string): string;
  /** Microseconds since 1970 of a column that is an instant. */
  micros(column: string): string;
  /** What a column of a table is: see {@link kinds}. */
  kindOfColumn(column: string): string;
  /** The elements of a column that is a list, as texts, and what each of them is. */
  elementsOf(column: string): string;
  kindOfElement(column: string): string;
  /** A row of a table as one value, whose fields are its columns. */
  packed(row: string): string;
  /** The payments of a file, one a line as JSON, with the column `line`. */
  linesOf(path: string): string;
  readonly json: JsonReader;
  /** What has to be said before the query. */
  readonly settings: readonly string[];
  /** Why a comparison with a pattern cannot be said; undefined where it can. */
  refusesPattern(source: string, isCommon: boolean): string | undefined;
}

/** Reads payments that are JSON in a text. */
export interface JsonReader {
  /** A value of the document that fields are read from; null where the text is no payment, or one on which readers do not agree. */
  document(text: string, pointers: readonly (readonly string[])[]): string;
  /** The field that has this number among the pointers, from 0; SQL null where there is none. */
  field(document: string, number: number, pointer: readonly string[]): string;
  /** See {@link kinds}; `m` also of what is not there. */
  kind(value: string): string;
  text(value: string): string;
  elements(value: string): string;
}

/**
 * The kinds of a value: missing or null, a JSON number, a number of which every digit counts, a text, true or false, microseconds, a list,
 * or anything else. SQL null: the payment could not be read.
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

/** A truth value that nobody can tell. */
export const unknown = "CAST(NULL AS BOOLEAN)";
export const isTrue = "TRUE";
export const isFalse = "FALSE";

/** SQL's and is Kleene's, as the evaluator's is. */
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
