/**
 * A JSON number that a double would round, such as 12345678901234.567 or 9007199254740993, as its text. It is part of what is
 * read as JSON, and JSON.stringify writes it as it came. `Number(exact)` is the nearest double.
 */
export class ExactNumber {
  /** The number, as it was read. */
  readonly source: string;

  /** @param source a JSON number */
  constructor(source: string) {
    this.source = source;
  }

  /** Returns the number as it was read. */
  toString(): string {
    return this.source;
  }

  /** Returns what JSON.stringify writes without quotes. */
  toJSON(): unknown {
    return rawJson.rawJSON(this.source);
  }
}

/** Node has it since version 21; the types of TypeScript lack it. */
const rawJson = JSON as JSON & { rawJSON(text: string): unknown };

/** Decides whether a JSON value is a number that no double holds. */
export function isExactNumber(value: unknown): value is ExactNumber {
  return value instanceof ExactNumber;
}

/** Returns a whole JSON number in digits; undefined for any other value. */
export function wholeNumberText(value: unknown): string | undefined {
  const text = numberText(value);
  return text !== undefined && /^-?\d+$/.test(text) ? text : undefined;
}

/** Returns a JSON number in digits, as it came where a double would round it; undefined for any other value. */
export function numberText(value: unknown): string | undefined {
  return typeof value === "number" || isExactNumber(value) ? String(value) : undefined;
}
