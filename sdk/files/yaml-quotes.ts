import { type Document, visit } from "yaml";
import { escaped } from "../json/printable.ts";

/** Nobody sees these, and readers of YAML drop or change some of them. */
const invisible = /[\p{Cf}\u2028\u2029\u0085]|(?![\t\n])\p{Cc}/u;

/**
 * Puts quotes around strings that the library would write plainly, and that readers take for something else: << is a merge
 * key to some, and loadRules refuses it; a byte order mark at the beginning of a file is dropped.
 */
export function quoteWhereNeeded(document: Document): void {
  visit(document, {
    Scalar: (_key, scalar) => {
      const { value } = scalar;
      if (typeof value === "string" && (value === "<<" || invisible.test(value))) scalar.type = "QUOTE_DOUBLE";
    },
  });
}

/** Writes a string in double quotes, on one line, with invisible characters escaped. */
export function doubleQuoted(text: string): string {
  return JSON.stringify(text).replace(/[\p{Cf}\p{Cc}\u2028\u2029]/gu, escaped);
}
