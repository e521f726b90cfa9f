import { isJsonArray, type Json, type JsonObject } from "../../sdk/json/json.ts";
import { type Pointer, segmentsOf } from "../../sdk/json/pointer.ts";
import { printable } from "../../sdk/json/printable.ts";
import { type BadLine, mostBytesOfLine } from "./lines.ts";

/**
 * Reads records of CSV (RFC 4180) as payments. The header's delimiter counts: a comma, else a semicolon, else a tab. An empty cell
 * is missing; `""` is the empty string. Columns that nobody named are dropped.
 *
 * Why no library: csv-parse 7.0.3 looks at each byte in JavaScript, so that it needs 3.6 times the processor time for a million payments
 * without quotes, and 2.1 times where each cell has quotes (medians of 7 paired runs, without making objects of its records).
 */
export class CsvRecords {
  readonly #delimiter: string;
  readonly #width: number;
  readonly #fields: readonly Place[];
  /** Names of the columns that could be, and are not there. */
  readonly absent: readonly string[];
  #open: { readonly line: number; readonly text: string } | undefined;

  /** @throws CsvHeaderFault */
  constructor(header: string, columns: readonly PaymentColumn[]) {
    const text = withoutReturn(header);
    this.#delimiter = [",", ";", "\t"].find((each) => text.includes(each)) ?? ",";
    const cells = cellsOf(text, this.#delimiter);
    if (cells === "open")
      throw new CsvHeaderFault("has a quote in its header that is not closed there", text.length + 1);
    if ("why" in cells) throw new CsvHeaderFault(cells.why, cells.column);
    this.#width = cells.length;
    const found = columns.map((column) => ({ ...column, index: indexOf(column, cells) }));
    const lacking = found.filter(({ index, isNeeded }) => index < 0 && isNeeded).map(namesOf);
    if (lacking.length > 0)
      throw new CsvHeaderFault(`has no ${lacking.length === 1 ? "column" : "columns"} ${lacking.join(", ")}`, 1);
    this.absent = found.filter(({ index }) => index < 0).map(({ name }) => name);
    const there = found.filter(({ index }) => index >= 0);
    for (const { at, name } of there)
      for (const other of there)
        if (other.at.startsWith(`${at}/`))
          throw new CsvHeaderFault(`cannot hold ${other.name} (${other.at}) inside ${name} (${at})`, 1);
    this.#fields = placesOf(there.map((column) => ({ column, path: segmentsOf(column.at) })));
  }

  /** Takes the next line. Returns the payment that ends with it; undefined where the record goes on, or the line is blank. */
  next(line: string, number: number): Outcome | undefined {
    const open = this.#open;
    const text = open === undefined ? line : `${open.text}\n${line}`;
    const start = open?.line ?? number;
    if (open === undefined && line.trim() === "") return undefined;
    const cells = cellsOf(withoutReturn(text), this.#delimiter);
    if (cells === "open" && text.length <= mostBytesOfLine) {
      this.#open = { line: start, text };
      return undefined;
    }
    this.#open = undefined;
    if (cells === "open") return unclosed(start, number);
    if ("why" in cells) return { line: start, ...cells };
    if (cells.length !== this.#width)
      return { line: start, column: 1, why: `has ${cells.length} cells, and the header has ${this.#width}` };
    return { payment: objectOf(this.#fields, cells) };
  }

  /** Gives up the record that is open at a bad line, or at the end of the file. Returns its fault; undefined where none is open. */
  end(number: number): BadLine | undefined {
    const open = this.#open;
    this.#open = undefined;
    return open && unclosed(open.line, number);
  }
}

/** A field of payments that is wanted. Of CSV no other column is kept. */
export interface PaymentColumn {
  /** What people call it. */
  readonly name: string;
  readonly at: Pointer;
  /** The type of the field by the semantics; only `boolean` makes a difference. Default: text. */
  readonly type?: string;
  /** A list is written as JSON in CSV. Default: false. */
  readonly list?: boolean;
  /** A CSV without it is refused. */
  readonly isNeeded: boolean;
}

/** A payment, or a line that holds none. */
export type Outcome = { readonly payment: JsonObject } | BadLine;

/** A header without which no line can be read. */
export class CsvHeaderFault extends Error {
  readonly column: number;

  constructor(why: string, column: number) {
    super(why);
    this.column = column;
  }
}

interface FoundColumn extends PaymentColumn {
  /** The number of its cell. */
  readonly index: number;
}

/** A field of a payment's object: a cell, or an object with fields of its own. */
type Place = { readonly key: string } & ({ readonly column: FoundColumn } | { readonly fields: readonly Place[] });

/** The content of a cell; null of an empty one without quotes. */
type Cell = string | null;

function unclosed(start: number, end: number): BadLine {
  return {
    line: start,
    column: 1,
    why: `has a quote that is not closed${end > start ? `; the lines to ${end} are lost with it` : ""}`,
  };
}

function withoutReturn(text: string): string {
  return text.endsWith("\r") ? text.slice(0, -1) : text;
}

/** Splits a record into its cells. @returns `open` where a quote is not closed, and the fault of a misplaced quote */
function cellsOf(text: string, delimiter: string): Cell[] | "open" | Omit<BadLine, "line"> {
  if (!text.includes('"')) return text.split(delimiter).map((cell) => (cell === "" ? null : cell));
  const cells: Cell[] = [];
  let at = 0;
  while (at <= text.length) {
    if (text[at] !== '"') {
      const found = text.indexOf(delimiter, at);
      const end = found < 0 ? text.length : found;
      const cell = text.slice(at, end);
      const quote = cell.indexOf('"');
      if (quote >= 0) return { column: at + quote + 1, why: "has a quote within a cell that does not begin with one" };
      cells.push(cell === "" ? null : cell);
      at = end + 1;
      continue;
    }
    const end = closingQuote(text, at + 1);
    if (end < 0) return "open";
    if (end + 1 < text.length && text[end + 1] !== delimiter)
      return { column: end + 2, why: "has more behind the quote that closes a cell" };
    cells.push(text.slice(at + 1, end).replaceAll('""', '"'));
    at = end + 2;
  }
  return cells;
}

function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

/** Returns the index of a field's column, or -1. A header may have its name, pointer or path: `country`, `/card/country`, `card.country`. */
function indexOf({ name, at }: PaymentColumn, cells: readonly Cell[]): number {
  const names = [name, at, segmentsOf(at).join(".")];
  const found = cells.flatMap((cell, index) => (cell !== null && names.includes(cell.trim()) ? [index] : []));
  if (found.length > 1)
    throw new CsvHeaderFault(
      `has ${found.length} columns for ${name}: ${found.map((index) => printable(cells[index] ?? "")).join(", ")}`,
      1,
    );
  return found[0] ?? -1;
}

function namesOf({ name, at }: PaymentColumn): string {
  const path = segmentsOf(at).join(".");
  return path === name ? name : `${name} (or ${path})`;
}

/** Returns a cell as JSON: true and false for a boolean field, a JSON array for a list; any other cell as its string. */
function jsonOf(cell: string, { type, list }: PaymentColumn): Json {
  if (list === true) return listOf(cell);
  if (type === "boolean" && (cell === "true" || cell === "false")) return cell === "true";
  return cell;
}

function listOf(cell: string): Json {
  try {
    const value: Json = JSON.parse(cell);
    return isJsonArray(value) ? value : cell;
  } catch {
    return cell; // It is no list, which the evaluator says.
  }
}

function placesOf(columns: readonly { readonly column: FoundColumn; readonly path: readonly string[] }[]): Place[] {
  const keys = new Set(columns.map(({ path: [key = ""] }) => key));
  return [...keys].map((key): Place => {
    const inside = columns.filter(({ path }) => path[0] === key);
    const cell = inside.find(({ path }) => path.length === 1);
    if (cell !== undefined) return { key, column: cell.column };
    return { key, fields: placesOf(inside.map(({ column, path }) => ({ column, path: path.slice(1) }))) };
  });
}

function objectOf(places: readonly Place[], cells: readonly Cell[]): JsonObject {
  const object: Record<string, Json> = {};
  for (const place of places) {
    const cell = "column" in place ? (cells[place.column.index] ?? null) : null;
    if ("column" in place && cell === null) continue;
    const value = "fields" in place ? objectOf(place.fields, cells) : jsonOf(cell ?? "", place.column);
    // Not by assignment: a field can have the name __proto__.
    if (place.key === "__proto__") Object.defineProperty(object, place.key, { value, enumerable: true });
    else object[place.key] = value;
  }
  return object;
}
