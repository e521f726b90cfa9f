import { type Document, parse, visit } from "yaml";
import { escaped } from "../json/printable.ts";

/** Nobody sees these, and readers of YAML drop or change some of them. */
const invisible = /[\p{Cf}\u2028\u2029\u0085]|(?![\t\n])\p{Cc}/u;

/**
 * Puts quotes around strings that the library would write plainly, and that readers take for something else: << is a merge
 * key to some, and loadRules refuses it; a byte order mark at the beginning of a file is dropped; NO, 12:30 and 1_000 are
 * no strings in YAML 1.1.
 */
export function quoteWhereNeeded(document: Document): void {
  visit(document, {
    Scalar: (_key, scalar) => {
      const { value } = scalar;
      if (typeof value !== "string") return;
      // What a person wrote without quotes stays so.
      if (value === "<<" || invisible.test(value) || (scalar.source !== value && isOtherwise(value)))
        scalar.type = "QUOTE_DOUBLE";
    },
  });
}

/** Decides whether readers of YAML 1.1 take a plain text for something else than the string. */
function isOtherwise(text: string): boolean {
  if (text === "=") return true;
  if (!/^(?:[-+.\d][\w.:+ -]*|y|n|yes|no|on|off)$/i.test(text) || text.length > 50) return false;
  return /^[yn]$/i.test(text) || parse(text, { version: "1.1", logLevel: "silent" }) !== text;
}

/** Writes a string in double quotes, on one line, with invisible characters escaped. */
export function doubleQuoted(text: string): string {
  return JSON.stringify(text).replace(/[\p{Cf}\p{Cc}\u2028\u2029]/gu, escaped);
}
