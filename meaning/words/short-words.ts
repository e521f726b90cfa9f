/** Words on one line are no longer than this. */
export const mostOfWords = 300;

/** The words of a rule that could not be read begin so. */
export const unreadable = "cannot be read";

/** So many values of a long list are kept. */
const keptValues = 5;
const longList = 9;

/**
 * Shortens the words of a rule for one line: words longer than `most` characters lose the ends of their lists of values, and then
 * their own end. They say how much was left out.
 */
export function shortWords(words: string, most: number = mostOfWords): string {
  return words.length <= most ? words : withoutEnd(withoutLongLists(words), most);
}

/**
 * Shortens the words of a rule before and after, each for one line, so that the difference is visible: values that the other side does
 * not have come first in long lists, and a long common beginning is left out.
 */
export function shortSides(
  before: string,
  after: string,
  most: number = mostOfWords,
): readonly [before: string, after: string] {
  if (Math.max(before.length, after.length) <= most) return [before, after];
  const [was, is] = [withoutLongLists(before, after), withoutLongLists(after, before)];
  const alike = alikeIn(was, is);
  const isFar = Math.max(was.length, is.length) > most && alike > most / 2;
  const head = was.slice(0, was.lastIndexOf(" ", keptHead) + 1);
  const short = (words: string): string =>
    isFar ? `${head}... (${alike - head.length} characters alike) ... ${words.slice(alike)}` : words;
  return [withoutEnd(short(was), most), withoutEnd(short(is), most)];
}

/** So much of what is alike stays in front. */
const keptHead = 40;

/** Returns the length of the common beginning, up to the condition that differs. */
function alikeIn(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const joiner = / (?:and|or) (?!.* (?:and|or) )/.exec(one.slice(0, at));
  return joiner === null ? one.lastIndexOf(" ", at - 1) + 1 : joiner.index + joiner[0].length;
}

function withoutEnd(words: string, most: number): string {
  if (words.length <= most) return words;
  const room = words.slice(0, most - " ... (and 100000 more characters)".length);
  const blank = room.lastIndexOf(" ");
  const kept = blank > most / 2 ? room.slice(0, blank) : room;
  return `${kept.toWellFormed()} ... (and ${words.length - kept.length} more characters)`;
}

/** A text as JSON, or anything else up to a blank or a comma: what the words of a value are made of. */
const piece = /"(?:[^"\\]|\\.)*"|[^\s",]+|, | +|[,"]/g;

/** Shortens long lists of values. @param other words whose values come last. Default: the first values are kept */
function withoutLongLists(words: string, other = ""): string {
  const pieces = words.match(piece) ?? [];
  const known = new Set(other.match(piece));
  const shown: string[] = [];
  for (let at = 0; at < pieces.length; ) {
    let end = at;
    while (pieces[end + 1] === ", " && pieces[end + 2] !== undefined) end += 2;
    const list = pieces.slice(at, end + 1);
    const values = list.filter((_, index) => index % 2 === 0);
    if (values.length < longList) shown.push(...list);
    else {
      const first = [...values.filter((each) => !known.has(each)), ...values.filter((each) => known.has(each))];
      shown.push(`${first.slice(0, keptValues).join(", ")} and ${values.length - keptValues} more`);
    }
    at = end + 1;
  }
  return shown.join("");
}
