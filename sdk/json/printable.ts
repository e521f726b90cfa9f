/**
 * Characters that a reader of a line obeys instead of showing: a terminal (controls, escapes), whatever lays out text
 * (direction, no width, halves of characters), an XML parser (U+FFFE, U+FFFF), a build log, which takes
 * `##vso[`, `##[` and `##teamcity[` for commands wherever they stand, and the Pulumi engine (`<{%red%}>`).
 */
const obeyedAnywhere = String.raw`[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\uFFFE\uFFFF]|(?<=#)#(?=\w*\[)|<(?=\{%)`;

/** Beside these, `::`, with which a command of a build log begins, but for blanks; the second `:` may be ours. */
const obeyedInLine = new RegExp(String.raw`${obeyedAnywhere}|(?<=^\s*):(?=:|$)`, "gu");

/** The line breaks of indented JSON stay; in its strings there are none. */
const obeyedInJson = new RegExp(String.raw`(?!\n)(?:${obeyedAnywhere})`, "gu");

/**
 * Makes a string that others wrote safe to print on one line: what a terminal, a browser, a build log or the engine would
 * obey becomes an escape (`\u{1b}`), line breaks too. A string of more than `most` characters is cut.
 */
export function printable(text: string, most = Number.POSITIVE_INFINITY): string {
  const kept = text.length > most ? `${text.slice(0, most - 3)}...` : text;
  return kept.replace(obeyedInLine, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Splits a text of programs or engines into lines, each made safe by {@link printable}, with blanks for tabs. */
export function printableLines(text: string): string[] {
  return text.split(/\r?\n/).map((line) => printable(line.replaceAll("\t", "    ")));
}

/** Writes a value as JSON that is safe to print, and is read as the same value. Default: on one line. */
export function printableJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(obeyedInJson, escaped);
}

/** Writes each UTF-16 unit of a string as JSON escapes it: `\u000a`. */
export function escaped(text: string): string {
  return text.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
