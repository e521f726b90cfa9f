import type { Document, Scalar } from "yaml";

/** Nobody sees these, and readers of YAML drop or change some of them. */
const invisible = /[\p{Cf}\u2028\u2029\u0085]|(?![\t\n])\p{Cc}/u;

/**
 * Puts quotes around strings that the library would write plainly, and that readers take for something else: << is a merge
 * key to some, and loadRules refuses it; a byte order mark at the beginning of a file is dropped.
 * @param visit the library's, which is loaded on first use
 */
export function quoteWhereNeeded(document: Document, visit: typeof import("yaml").visit): void {
  visit(document, {
    Scalar: (_key, scalar) => {
      if (needsQuotes(scalar)) scalar.type = "QUOTE_DOUBLE";
    },
  });
}

/** Writes a string in double quotes, on one line, with invisible characters escaped. */
export function doubleQuoted(text: string): string {
  const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text).replace(/[\p{Cf}\p{Cc}\u2028\u2029]/gu, (each) =>
    [...each]
      .flatMap((c) => c.split(""))
      .map(escaped)
      .join(""),
  );
}

function needsQuotes({ value }: Scalar): boolean {
  return typeof value === "string" && (value === "<<" || invisible.test(value));
}
