import { getOrMake } from "../../sdk/get-or-make.ts";
import { type Pointer, segmentsOf } from "../../sdk/json/pointer.ts";
import { fieldIn, type Semantics } from "../language/schema.ts";
import type { Missing, PaymentField } from "../language/schema-payment.ts";

/** Where payments stand, and how their fields are found. */
export type Source =
  /** A file of JSON, one payment a line. */
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "table"; readonly table: readonly string[]; readonly columns: Columns };

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

/** A field of payments, and the columns of the query that it is read into. */
export interface FieldSql {
  readonly name: string;
  /** The number in the names of its columns. */
  readonly number: number;
  readonly described: PaymentField;
  readonly missing: Missing;
  /** Its own column of the source; undefined where it is read from JSON. */
  readonly column: Column | undefined;
  /** The columns of its kind (see `kinds`) and of its text. */
  readonly kind: string;
  readonly text: string;
  /** Its key, or the list of its keys; SQL null where it has none. */
  readonly value: string;
  /** The same with A to Z as a to z. */
  readonly folded: string;
  /** True where it has a value, false where it is missing, SQL null where it is of another type. */
  readonly is: string;
  /** True where the payment has it, of whatever type. */
  readonly has: string;
  /** True where the text is like one that a rule names but for the case of letters. */
  readonly isLike: string;
}

export class Fields {
  readonly #semantics: Semantics;
  readonly #source: Source;
  readonly #used = new Map<string, FieldSql>();
  readonly #folded = new Set<string>();
  readonly #texts = new Map<string, Set<string>>();

  constructor(semantics: Semantics, source: Source) {
    this.#semantics = semantics;
    this.#source = source;
  }

  get used(): readonly FieldSql[] {
    return [...this.#used.values()];
  }

  /** Returns a field, and adds it to those in use; or returns why it cannot be read from the source. */
  use(name: string): FieldSql | string {
    const known = this.#used.get(name);
    if (known !== undefined) return known;
    const described = fieldIn(this.#semantics, name);
    const column = this.#columnOf(name);
    const fault = column === undefined ? this.#fault(described.at) : undefined;
    if (fault !== undefined) return `${name} ${fault}`;
    const number = this.#used.size;
    const made: FieldSql = {
      name,
      number,
      described,
      missing: described.missing ?? this.#semantics.missing,
      column,
      kind: `mr_kind_${number}`,
      text: `mr_text_${number}`,
      value: `mr_value_${number}`,
      folded: `mr_folded_${number}`,
      is: `mr_is_${number}`,
      has: `mr_has_${number}`,
      isLike: `mr_is_like_${number}`,
    };
    this.#used.set(name, made);
    return made;
  }

  /** Returns the column of a field's texts in small letters (A to Z). The column is made only where this is called. */
  fold({ name, folded }: FieldSql): string {
    this.#folded.add(name);
    return folded;
  }

  /** Adds texts with which a field is compared, and returns the column {@link FieldSql.isLike}. */
  nameTexts(field: FieldSql, texts: readonly string[]): string {
    this.fold(field);
    const named = getOrMake(this.#texts, field.name, () => new Set<string>());
    for (const text of texts) named.add(text);
    return field.isLike;
  }

  /** Returns the texts that rules compare with a field where it is unknown whether case counts. */
  textsOf({ name }: FieldSql): readonly string[] {
    return [...(this.#texts.get(name) ?? [])];
  }

  isFolded({ name }: FieldSql): boolean {
    return this.#folded.has(name);
  }

  #columnOf(name: string): Column | undefined {
    if (this.#source.kind === "file") return undefined;
    const { fields } = this.#source.columns;
    return Object.hasOwn(fields, name) ? fields[name] : undefined;
  }

  #fault(at: Pointer): string | undefined {
    if (this.#source.kind === "table" && this.#source.columns.json === null) return "has no column";
    const segments = segmentsOf(at);
    const isPlain = segments.length > 0 && segments.every((segment) => /^[A-Za-z0-9_.@ -]+$/.test(segment));
    return isPlain ? undefined : `stands at ${at}, a path that is not written alike everywhere`;
  }
}
