import { segmentsOf } from "../../sdk/json/pointer.ts";
import type { PaymentField } from "../language/schema-payment.ts";
import { cased, readValue } from "../language/values.ts";
import { type Dialect, kinds } from "./dialect.ts";
import type { FieldSql, Fields, Source } from "./fields.ts";
import { decimalParts, keySql, misfit, type SqlValue } from "./key-sql.ts";
import { keyOf } from "./keys.ts";

/** A step of the query: the name of a table, and the select that makes it. */
export type Step = readonly [name: string, select: string];

/**
 * Returns the steps from the source to `mr_payments`, which has the columns of each field that is used; `mr_payment`, the row as it is in the
 * source; `mr_is_read`, false where that is no payment; and `mr_is_exact`, false where a value could not be compared here.
 */
export function fieldSteps(fields: Fields, source: Source, dialect: Dialect): readonly Step[] {
  const { used } = fields;
  const fromJson = used.filter(({ column }) => column === undefined);
  // A query may need no field at all; still it must decide whether the text is a payment.
  const pointers = fromJson.length === 0 ? [["-"]] : fromJson.map(({ described }) => segmentsOf(described.at));
  const [from, json] = rowsOf(source, dialect);
  const document = json === undefined ? "1" : dialect.json.document(`${row}.${json}`, pointers);
  const isExact = used.flatMap((field) => misfitIn(field, dialect));
  return [
    ["mr_read", select([`${dialect.packed(row)} AS mr_payment`, `${document} AS mr_document`], `${from} ${row}`)],
    [
      "mr_raw",
      select(
        [
          "*",
          "mr_document IS NOT NULL AS mr_is_read",
          ...used.flatMap((field) => rawColumns(field, fromJson, dialect)),
        ],
        "mr_read",
      ),
    ],
    ["mr_parts", select(["*", ...used.flatMap((field) => partColumns(field, dialect))], "mr_raw")],
    ["mr_keys", select(["*", ...used.map((field) => `${keyColumn(field, dialect)} AS ${field.value}`)], "mr_parts")],
    [
      "mr_payments",
      select(
        [
          "*",
          ...used.flatMap((field) => factColumns(field, fields, dialect)),
          `${isExact.length === 0 ? "mr_is_read" : `mr_is_read AND NOT coalesce(${isExact.join(" OR ")}, FALSE)`} AS mr_is_exact`,
        ],
        "mr_keys",
      ),
    ],
  ];
}

/** The name of the source in the first step. No column of a table may have it, or it would be taken for the row. */
const row = "mr_row";

export function select(columns: readonly string[], from: string): string {
  return `SELECT\n  ${columns.join(",\n  ")}\nFROM ${from}`;
}

/** Returns the table, and its column of JSON; undefined where it has none. */
function rowsOf(source: Source, { linesOf, identifier }: Dialect): readonly [string, string | undefined] {
  if (source.kind === "file") return [linesOf(source.path), identifier("line")];
  const { json } = source.columns;
  return [source.table.map(identifier).join("."), json === null ? undefined : identifier(json)];
}

function columnOf({ column }: FieldSql, { identifier }: Dialect): string | undefined {
  return column && `mr_payment.${identifier(column.column)}`;
}

function rawColumns(field: FieldSql, fromJson: readonly FieldSql[], dialect: Dialect): string[] {
  const { json, kindOfColumn, elementsOf, micros, text } = dialect;
  const { list, at } = field.described;
  const columns = (kind: string, one: string, elements: () => string): string[] => [
    `${kind} AS ${field.kind}`,
    `${list ? `CASE WHEN ${kind} = ${kinds.list} THEN ${elements()} END` : one} AS ${field.text}`,
  ];
  const column = columnOf(field, dialect);
  if (column === undefined) {
    const value = json.field("mr_document", fromJson.indexOf(field), segmentsOf(at));
    const kind = `CASE WHEN mr_document IS NOT NULL THEN ${json.kind(value)} END`;
    return columns(kind, json.text(value), () => json.elements(value));
  }
  if (field.column?.isInstant !== true)
    return columns(kindOfColumn(column), `CAST(${column} AS ${text})`, () => elementsOf(column));
  const kind = `CASE WHEN ${column} IS NULL THEN ${kinds.missing} ELSE ${kinds.micros} END`;
  return columns(kind, `CAST(${micros(column)} AS ${text})`, () => dialect.list([], text));
}

/** Returns the columns of the parts of a decimal, so that it is parsed once; none for other fields and for lists. */
function partColumns(field: FieldSql, dialect: Dialect): string[] {
  const { parts } = sqlValueOf(field);
  if (parts === undefined) return [];
  const from = decimalParts({ kind: field.kind, text: field.text }, dialect);
  return (["digits", "behind", "exponent"] as const).map((part) => `${from[part]} AS ${parts[part]}`);
}

function sqlValueOf({ kind, text, described, number }: FieldSql): SqlValue {
  if (described.type !== "decimal" || described.list) return { kind, text };
  return {
    kind,
    text,
    parts: { digits: `mr_digits_${number}`, behind: `mr_behind_${number}`, exponent: `mr_exponent_${number}` },
  };
}

function keyColumn(field: FieldSql, dialect: Dialect): string {
  const { described, missing, kind } = field;
  const own = described.list ? keysOfList(field, dialect) : keySql(sqlValueOf(field), described.type, dialect);
  const whole =
    typeof missing === "object"
      ? `CASE WHEN ${kind} = ${kinds.missing} THEN ${givenKey(missing.value, described, dialect)} ELSE ${own} END`
      : own;
  return described.list ? whole : dialect.binary(whole);
}

function keysOfList(field: FieldSql, dialect: Dialect): string {
  const { described, kind, text } = field;
  const each = keySql(elementOf(field, dialect), described.type, dialect);
  return `CASE WHEN ${kind} = ${kinds.list} AND NOT (${dialect.exists(text, `(${each}) IS NULL`)}) THEN ${dialect.transform(text, each)} END`;
}

/** Returns the kind and the text of an element `x` of a list. */
function elementOf(field: FieldSql, dialect: Dialect): SqlValue {
  const column = columnOf(field, dialect);
  return column === undefined
    ? { kind: dialect.json.kind("x"), text: dialect.json.text("x") }
    : { kind: dialect.kindOfElement(column), text: "x" };
}

/** Returns the key of the value that a missing field has; SQL null where that value is of another type. */
function givenKey(value: string | number | boolean, { type, list }: PaymentField, dialect: Dialect): string {
  const read = list ? undefined : readValue(value, type);
  return read === undefined ? "NULL" : dialect.literal(keyOf(read, { ignoresCase: false }));
}

function factColumns(field: FieldSql, fields: Fields, dialect: Dialect): string[] {
  const { kind, value, is, has, missing, described, folded } = field;
  const isMissing = typeof missing === "string" ? ` WHEN ${kind} = ${kinds.missing} THEN FALSE` : "";
  const fold = (text: string): string =>
    `translate(${text}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')`;
  const asFolded = described.list ? dialect.transform(value, fold("x")) : dialect.binary(fold(value));
  return [
    ...(fields.isFolded(field) ? [`${asFolded} AS ${folded}`] : []),
    `CASE${isMissing} WHEN ${value} IS NOT NULL THEN TRUE END AS ${is}`,
    `${kind} <> ${kinds.missing} AS ${has}`,
    ...isLikeColumn(field, asFolded, fields.textsOf(field), dialect),
  ];
}

/** Returns the column that is true of texts for which case matters: a named text in another case, or one of two that differ in case alone. */
function isLikeColumn(
  { value, isLike }: FieldSql,
  folded: string,
  texts: readonly string[],
  { literal }: Dialect,
): string[] {
  if (texts.length === 0) return [];
  const byFolded = Map.groupBy(texts, (text) => cased(text, { ignoresCase: true }));
  const single = [...byFolded.values()].flatMap((alike) => (alike.length === 1 ? alike : []));
  const isFolded = `(${folded}) IN (${[...byFolded.keys()].map(literal).join(", ")})`;
  const isSingle = single.length === 0 ? "FALSE" : `${value} IN (${single.map(literal).join(", ")})`;
  return [`coalesce(${isFolded} AND NOT (${isSingle}), FALSE) AS ${isLike}`];
}

function misfitIn(field: FieldSql, dialect: Dialect): string[] {
  const { described, kind, text } = field;
  const is = misfit(described.list ? elementOf(field, dialect) : sqlValueOf(field), described.type, dialect);
  if (is === undefined) return [];
  return [described.list ? `(${kind} = ${kinds.list} AND ${dialect.exists(text, is)})` : is];
}
