import { isCommonPattern } from "../language/pattern.ts";
import { type Dialect, kinds } from "./dialect.ts";

/** DuckDB. Its patterns are RE2's. */
export const duckdb: Dialect = {
  name: "DuckDB",
  text: "VARCHAR",
  int: "INTEGER",
  literal: quoted,
  identifier: (name) => `"${name.replaceAll('"', '""')}"`,
  binary: (text) => `(${text}) COLLATE "binary"`,
  list: (items, type) => `CAST([${items.join(", ")}] AS ${type}[])`,
  brackets: ["[", "]"],
  at: (list, index) => `list_extract(${list}, ${index})`,
  size: (list) => `len(${list})`,
  filter: (list, condition, element = "x") => `list_filter(${list}, lambda ${element}: ${condition})`,
  transform: (list, expression) => `list_transform(${list}, lambda x: ${expression})`,
  exists: (list, condition, element = "x") => `len(list_filter(${list}, lambda ${element}: ${condition})) > 0`,
  joined: (one, other) => `list_concat(${one}, ${other})`,
  distinct: (list) => `list_distinct(${list})`,
  sorted: (list) => `list_sort(${list})`,
  smallest: (list) => `list_min(${list})`,
  largest: (list) => `list_max(${list})`,
  has: (list, element) => `list_contains(${list}, ${element})`,
  overlaps: (list, other) => `list_has_any(${list}, ${other})`,
  textOf: (list, separator) => `array_to_string(${list}, ${quoted(separator)})`,
  startsWith: (text, part) => `starts_with(${text}, ${part})`,
  endsWith: (text, part) => `suffix(${text}, ${part})`,
  isAll: (text, pattern) => `regexp_full_match(${text}, ${quoted(pattern)})`,
  isPart: (text, pattern) => `regexp_matches(${text}, ${quoted(pattern)})`,
  group: (text, pattern, group) => `regexp_extract(${text}, ${quoted(pattern)}, ${group})`,
  quotient: (one, other) => `(${one}) // (${other})`,
  micros: (column) => `epoch_us(${column})`,
  kindOfColumn: (column) =>
    [
      `CASE WHEN ${column} IS NULL THEN ${kinds.missing} WHEN typeof(${column}) = 'VARCHAR' THEN ${kinds.text}`,
      `WHEN typeof(${column}) = 'BOOLEAN' THEN ${kinds.boolean}`,
      `WHEN regexp_full_match(typeof(${column}), 'U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL.*') THEN ${kinds.exact}`,
      `WHEN ends_with(typeof(${column}), '[]') THEN ${kinds.list} ELSE ${kinds.other} END`,
    ].join(" "),
  elementsOf: (column) => `list_transform(${column}, lambda x: CAST(x AS VARCHAR))`,
  kindOfElement: (column) =>
    [
      `CASE WHEN typeof(${column}) = 'VARCHAR[]' THEN ${kinds.text} WHEN typeof(${column}) = 'BOOLEAN[]' THEN ${kinds.boolean}`,
      `WHEN regexp_full_match(typeof(${column}), '(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL[^\\[]*)[\\[][\\]]') THEN ${kinds.exact} ELSE ${kinds.other} END`,
    ].join(" "),
  packed: (row) => row,
  linesOf: (path) =>
    `(SELECT line FROM read_csv(${quoted(path)}, columns = {'line': 'VARCHAR'}, auto_detect = false, header = false, delim = chr(1), quote = '', escape = '', new_line = '\\n', max_line_size = 2097152) WHERE trim(line) <> '')`,
  json: {
    document: (text, pointers) => {
      const objects = [
        ...new Set(pointers.flatMap((pointer) => pointer.map((_, depth) => pathOf(pointer.slice(0, depth))))),
      ];
      const hasTwice = objects.map(
        (path) => `len(list_filter([json_keys(${text}, ${quoted(path)})], lambda k: len(k) <> list_unique(k))) > 0`,
      );
      return [
        `CASE WHEN NOT json_valid(${text}) OR NOT starts_with(ltrim(${text}, ${quoted(" \t\r\n")}), '{') OR regexp_matches(${text}, ${quoted(lenient)})`,
        ...hasTwice.map((each) => `OR ${each}`),
        `THEN NULL ELSE json_extract(${text}, [${pointers.map((pointer) => quoted(pathOf(pointer))).join(", ")}]) END`,
      ].join(" ");
    },
    field: (document, number) => `list_extract(${document}, ${number + 1})`,
    kind: (value) =>
      [
        `CASE json_type(${value}) WHEN 'VARCHAR' THEN ${kinds.text} WHEN 'BOOLEAN' THEN ${kinds.boolean}`,
        `WHEN 'BIGINT' THEN ${kinds.number} WHEN 'UBIGINT' THEN ${kinds.number} WHEN 'DOUBLE' THEN ${kinds.number}`,
        `WHEN 'HUGEINT' THEN ${kinds.number} WHEN 'ARRAY' THEN ${kinds.list} WHEN 'OBJECT' THEN ${kinds.other} ELSE ${kinds.missing} END`,
      ].join(" "),
    text: (value) => `json_extract_string(${value}, '$')`,
    elements: (value) => `CAST(${value} AS JSON[])`,
  },
  // This optimizer makes joins of lists of values, which takes several times as long as to search them.
  settings: ["SET disabled_optimizers = 'in_clause';"],
  refusesPattern: (source) =>
    isCommonPattern(source) ? undefined : "is a pattern on which RE2 in DuckDB and here may not agree",
};

/** Matches what DuckDB accepts as JSON though it is not, and U+0000; also inside strings, so such a payment is not read either. */
const lenient = String.raw`,\s*[}\]]|(?i)(nan|inf|infinity)\s*[,}\]]|\\u0000`;

function pathOf(segments: readonly string[]): string {
  return segments.map((segment) => `/${segment.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("") || "$";
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
