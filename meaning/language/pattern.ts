import { createRequire } from "node:module";
import type * as Re2 from "re2js";
import { reasonOf } from "../../sdk/json/json.ts";

// Loaded on first use, so that rules without patterns do not pay for it.
const require = createRequire(import.meta.url);

/** The most characters of a pattern. */
const mostCharacters = 1000;

/**
 * What RE2, Java, PCRE and ECMAScript all read alike, on common characters: letters, digits and a few signs, a point, escaped signs, \d and
 * \w, classes of those, groups, alternatives, ^ and $, and counts. No flags, no look-around, no back-references, no possessive counts.
 */
const common =
  /^(?:(?:[A-Za-z0-9 _@#%&=:;,<>"'/~!.-]|\\[dDwW]|\\[.^$*+?()[\]{}|\\/-]|\[\^?(?:[A-Za-z0-9](?:-[A-Za-z0-9])?|[_@#%=:;,.!+*?]|\\[dw]|\\[.^$*+?()[\]{}|\\/-])+\]|\((?:\?:|(?!\?))|\))(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})?\??(?![*+?{])|[|^$])*$/;

/** Returns whether other dialects read a pattern as RE2 does. */
export function isCommonPattern(source: string): boolean {
  return common.test(source);
}

/**
 * Returns whether all dialects agree on a text: printable ASCII. They do not agree on whether a point or $ matches line ends, nor on
 * whether a letter beyond ASCII is one character, several bytes, or two halves.
 */
export function isCommonText(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

/** Returns why RE2 cannot read a pattern; undefined where it can. */
export function patternFault(source: string): string | undefined {
  if (source.length > mostCharacters) return `is longer than ${mostCharacters} characters`;
  try {
    compiled(source, false);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** Returns whether a pattern matches the whole text, or a part of it. The time depends on the lengths alone (RE2). */
export function matchesPattern(
  source: string,
  text: string,
  options: { isWhole: boolean; ignoresCase: boolean },
): boolean {
  const pattern = compiled(source, options.ignoresCase);
  return options.isWhole ? pattern.matches(text) : pattern.matcher(text).find();
}

const known = new Map<string, Re2.RE2JS>();
const mostKnown = 10_000;

function compiled(source: string, ignoresCase: boolean): Re2.RE2JS {
  const key = `${ignoresCase ? "i" : ""}/${source}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const { RE2JS }: typeof Re2 = require("re2js");
  const made = RE2JS.compile(source, ignoresCase ? RE2JS.CASE_INSENSITIVE : 0);
  if (known.size >= mostKnown) known.clear();
  known.set(key, made);
  return made;
}
