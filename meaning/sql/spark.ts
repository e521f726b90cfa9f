import { isCommonPattern } from "../language/pattern.ts";
import { type Dialect, kinds } from "./dialect.ts";

/** Spark SQL from 4.0 on. Its patterns are Java's. */
export const spark: Dialect = {
  name: "Spark SQL",
  text: "STRING",
  int: "INT",
  literal: quoted,
  identifier: (name) => `\`${name.replaceAll("`", "``")}\``,
  binary: (text) => `(${text}) COLLATE UTF8_BINARY`,
  list: (items, type) => `CAST(array(${items.join(", ")}) AS ARRAY<${type}>)`,
  brackets: ["array(", ")"],
  at: (list, index) => `element_at(${list}, ${index})`,
  size: (list) => `size(${list})`,
  filter: (list, condition, element = "x") => `filter(${list}, ${element} -> ${condition})`,
  transform: (list, expression) => `transform(${list}, x -> ${expression})`,
  exists: (list, condition, element = "x") => `exists(${list}, ${element} -> ${condition})`,
  joined: (one, other) => `concat(${one}, ${other})`,
  distinct: (list) => `array_distinct(${list})`,
  sorted: (list) => `sort_array(${list})`,
  smallest: (list) => `array_min(${list})`,
  largest: (list) => `array_max(${list})`,
  has: (list, element) => `array_contains(${list}, ${element})`,
  overlaps: (list, other) => `arrays_overlap(${list}, ${other})`,
  textOf: (list, separator) => `array_join(${list}, ${quoted(separator)})`,
  startsWith: (text, part) => `startswith(${text}, ${part})`,
  endsWith: (text, part) => `endswith(${text}, ${part})`,
  // Java's $ is also before a line end; \z is not.
  isAll: (text, pattern) => `regexp_like(${text}, ${quoted(`^(?:${pattern})\\z`)})`,
  isPart: (text, pattern) => `regexp_like(${text}, ${quoted(pattern)})`,
  group: (text, pattern, group) => `regexp_extract(${text}, ${quoted(`^(?:${pattern})`)}, ${group})`,
  quotient: (one, other) => `(${one}) div (${other})`,
  micros: (column) => `unix_micros(${column})`,
  kindOfColumn: (column) =>
    [
      `CASE WHEN ${column} IS NULL THEN ${kinds.missing} WHEN startswith(typeof(${column}), 'string') THEN ${kinds.text}`,
      `WHEN typeof(${column}) = 'boolean' THEN ${kinds.boolean}`,
      `WHEN regexp_like(typeof(${column}), '^(tinyint|smallint|int|bigint|decimal)') THEN ${kinds.exact}`,
      `WHEN startswith(typeof(${column}), 'array<') THEN ${kinds.list} ELSE ${kinds.other} END`,
    ].join(" "),
  elementsOf: (column) => `transform(${column}, x -> CAST(x AS STRING))`,
  kindOfElement: (column) =>
    [
      `CASE WHEN startswith(typeof(${column}), 'array<string') THEN ${kinds.text} WHEN typeof(${column}) = 'array<boolean>' THEN ${kinds.boolean}`,
      `WHEN regexp_like(typeof(${column}), '^array<(tinyint|smallint|int|bigint|decimal)') THEN ${kinds.exact} ELSE ${kinds.other} END`,
    ].join(" "),
  packed: (row) => `struct(${row}.*)`,
  linesOf: (path) => `(SELECT value AS line FROM text.\`${path.replaceAll("`", "``")}\` WHERE trim(value) <> '')`,
  json: {
    // Text behind a document is not seen by the parser: within one kind of brackets it can hide, within two it cannot.
    document: (text) =>
      [
        `CASE WHEN regexp_like(regexp_replace(${text}, ${quoted(pairs)}, ''), ${quoted(halves)})`,
        `OR try_parse_json(concat('{"p":', ${text}, '}')) IS NULL`,
        `OR try_variant_get(try_parse_json(concat('[', ${text}, ']')), '$[1]') IS NOT NULL`,
        `OR NOT coalesce(startswith(schema_of_variant(try_variant_get(try_parse_json(concat('[', ${text}, ']')), '$[0]')), 'OBJECT'), FALSE)`,
        `THEN NULL ELSE try_variant_get(try_parse_json(concat('[', ${text}, ']')), '$[0]') END`,
      ].join(" "),
    field: (document, _, pointer) => {
      const paths = pathsOf(pointer).map((path) => `try_variant_get(${document}, ${quoted(path)})`);
      return paths.length === 1 ? (paths[0] ?? "NULL") : `coalesce(${paths.join(", ")})`;
    },
    kind: (value) => {
      const type = `schema_of_variant(${value})`;
      return [
        `CASE WHEN ${type} IS NULL OR ${type} = 'VOID' THEN ${kinds.missing} WHEN ${type} = 'STRING' THEN ${kinds.text}`,
        `WHEN ${type} = 'BOOLEAN' THEN ${kinds.boolean} WHEN ${type} IN ('BIGINT', 'DOUBLE') OR startswith(${type}, 'DECIMAL') THEN ${kinds.number}`,
        `WHEN startswith(${type}, 'ARRAY') THEN ${kinds.list} ELSE ${kinds.other} END`,
      ].join(" ");
    },
    text: (value) => `try_variant_get(${value}, '$', 'string')`,
    elements: (value) => `try_variant_get(${value}, '$', 'array<variant>')`,
  },
  settings: [],
  refusesPattern: (source, isCommon) =>
    isCommon && isCommonPattern(source) ? undefined : "is a pattern on which Java in Spark and RE2 may not agree",
};

/** Pairs of escapes that are one character, and halves of such. */
const pairs = String.raw`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`;
const halves = String.raw`\\u[dD][89a-fA-F]`;

/** Returns the paths that a pointer may mean: a segment that is a number names an element of a list, or a field. */
function pathsOf(segments: readonly string[]): string[] {
  return segments.reduce<string[]>(
    (paths, segment) =>
      paths.flatMap((path) =>
        /^(0|[1-9]\d*)$/.test(segment) ? [`${path}["${segment}"]`, `${path}[${segment}]`] : [`${path}["${segment}"]`],
      ),
    ["$"],
  );
}

/** Quotes a string; as bytes where it has a \ or ${name}, whose meaning depends on settings of the session. */
function quoted(text: string): string {
  return /^[ -~]*$/.test(text) && !/['\\]|\$\{/.test(text)
    ? `'${text}'`
    : `CAST(X'${Buffer.from(text, "utf8").toString("hex")}' AS STRING)`;
}
