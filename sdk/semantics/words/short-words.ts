/** Words on one line are no longer than this. */
export const mostOfWords = 300;

/** The words of a rule that could not be read begin so. */
export const unreadable = "cannot be read";

/** So many values of a long list are kept. */
const keptValues = 5;
const longList = 9;

/**
 * Words for one line: those of a rule that are longer than {@link mostOfWords} lose the ends of their lists of values, and then
 * their own end. What is left out is counted.
 */
export function shortWords(words: string, most: number = mostOfWords): string {
  if (words.length <= most) return words;
  const folded = withoutLongLists(words);
  if (folded.length <= most) return folded;
  const room = folded.slice(0, most - " ... (and 100000 more characters)".length);
  const blank = room.lastIndexOf(" ");
  const kept = blank > most / 2 ? room.slice(0, blank) : room;
  return `${kept.toWellFormed()} ... (and ${folded.length - kept.length} more characters)`;
}

/** A text as JSON, or anything else up to a blank or a comma: what the words of a value are made of. */
const piece = /"(?:[^"\\]|\\.)*"|[^\s",]+|, | +|[,"]/g;

function withoutLongLists(words: string): string {
  const pieces = words.match(piece) ?? [];
  const shown: string[] = [];
  for (let at = 0; at < pieces.length; ) {
    let end = at;
    while (pieces[end + 1] === ", " && pieces[end + 2] !== undefined) end += 2;
    const values = (end - at) / 2 + 1;
    if (values < longList) shown.push(...pieces.slice(at, end + 1));
    else shown.push(...pieces.slice(at, at + 2 * keptValues - 1), ` and ${values - keptValues} more`);
    at = end + 1;
  }
  return shown.join("");
}
