/** A text that others wrote, fit for a message: control characters, which terminals obey, as escapes, and not longer than `most`. */
export function printable(text: string, most = Number.POSITIVE_INFINITY): string {
  const kept = text.length > most ? `${text.slice(0, most - 3)}...` : text;
  return kept.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
