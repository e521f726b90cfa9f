/**
 * A text that others wrote, safe to print: control characters, which terminals obey, become escapes, and more than
 * `most` characters are cut.
 */
export function printable(text: string, most = Number.POSITIVE_INFINITY): string {
  const kept = text.length > most ? `${text.slice(0, most - 3)}...` : text;
  return kept.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
