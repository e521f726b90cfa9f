/** A text that must not be seen. */
export interface Hidden {
  readonly text: string;
  /** What stands in its place. Default: `[redacted]`. */
  readonly mark?: string;
  /** Hidden only as a whole word or number, not within a longer one; encoded, it is always hidden. Default: false. */
  readonly isWord?: boolean;
}

/** How many tokens are remembered. An answer repeats one of the last few. */
const mostTokens = 16;

/** How many encodings on top of each other are looked through. */
const mostLayers = 6;

/**
 * Takes secrets out of texts of others, such as the message of a service that repeats what it was sent. It finds them
 * plain, in hexadecimal and in Base64, also as a part of a longer encoded text, and each of these URL-encoded or
 * escaped as JSON, also several times. No regular expression is made of a secret: its errors would print it.
 */
export class Redactor {
  readonly #kept = new Set<string>();
  readonly #tokens = new Set<string>();

  /** Hides a secret as long as there is this redactor. */
  keep(secret: string): void {
    this.#kept.add(secret);
  }

  /** Hides a token, until many others have come after it. */
  add(token: string): void {
    this.#tokens.delete(token);
    this.#tokens.add(token);
    const [oldest] = this.#tokens;
    if (this.#tokens.size > mostTokens && oldest !== undefined) this.#tokens.delete(oldest);
  }

  /** The text without the secrets kept and the tokens added, nor those of `more`. */
  redact(text: string, more: readonly Hidden[] = []): string {
    const needles = needlesOf([...[...this.#kept, ...this.#tokens].map((secret) => ({ text: secret })), ...more]);
    if (needles.length === 0) return text;
    const found: Range[] = [];
    let layer: Layer | undefined = plainLayer(text);
    for (let depth = 0; depth < mostLayers && layer !== undefined; depth += 1) {
      for (const needle of needles) found.push(...occurrences(layer, needle));
      layer = decoded(layer);
    }
    return without(text, found);
  }
}

/** One of the forms that a secret may have, as bytes, one character each. */
interface Needle {
  readonly bytes: string;
  readonly mark: string;
  readonly isWord: boolean;
}

/** A part of the original text and what replaces it. */
interface Range {
  readonly start: number;
  readonly end: number;
  readonly mark: string;
}

function needlesOf(hidden: readonly Hidden[]): Needle[] {
  const needles = new Map<string, Needle>();
  for (const { text, mark = "[redacted]", isWord = false } of hidden) {
    if (text === "") continue;
    for (const form of [text, ...encodedFormsOf(text)]) {
      const bytes = comparable(bytesOf(form));
      if (!needles.has(bytes)) needles.set(bytes, { bytes, mark, isWord: isWord && form === text });
    }
  }
  return [...needles.values()];
}

/** A text as bytes, one character each, and for each byte which part of the original text it comes from. */
interface Layer {
  readonly bytes: string;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

function plainLayer(text: string): Layer {
  const starts: number[] = [];
  const ends: number[] = [];
  let bytes = "";
  let at = 0;
  for (const character of text) {
    const own = bytesOf(character);
    for (let index = 0; index < own.length; index += 1) {
      starts.push(at);
      ends.push(at + character.length);
    }
    bytes += own;
    at += character.length;
  }
  return { bytes, starts, ends };
}

const escapes = /%([0-9a-f]{2})|((?:\\u[0-9a-f]{4})+)|\\(.)/gis;
const shortEscapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

/** A layer with one encoding taken off, or undefined where there is none. */
function decoded({ bytes, starts, ends }: Layer): Layer | undefined {
  let plain = "";
  const plainStarts: number[] = [];
  const plainEnds: number[] = [];
  let kept = 0;
  const keep = (until: number): void => {
    plain += bytes.slice(kept, until);
    for (let index = kept; index < until; index += 1) {
      plainStarts.push(starts[index] ?? 0);
      plainEnds.push(ends[index] ?? 0);
    }
  };
  for (const { 0: spelling, 1: percent, 2: units, 3: character = "", index } of bytes.matchAll(escapes)) {
    keep(index);
    kept = index + spelling.length;
    let own = shortEscapes[character] ?? character;
    if (percent !== undefined) own = String.fromCharCode(Number.parseInt(percent, 16));
    if (units !== undefined)
      own = bytesOf(
        String.fromCharCode(
          ...units
            .split(/\\u/i)
            .slice(1)
            .map((unit) => Number.parseInt(unit, 16)),
        ),
      );
    plain += own;
    for (let byte = 0; byte < own.length; byte += 1) {
      plainStarts.push(starts[index] ?? 0);
      plainEnds.push(ends[kept - 1] ?? 0);
    }
  }
  if (kept === 0) return undefined;
  keep(bytes.length);
  return { bytes: plain, starts: plainStarts, ends: plainEnds };
}

function* occurrences({ bytes, starts, ends }: Layer, { bytes: needle, mark, isWord }: Needle): Generator<Range> {
  const text = comparable(bytes);
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + 1)) {
    const last = at + needle.length - 1;
    if (isWord && (isOfWord(text[at - 1]) || isOfWord(text[last + 1]))) continue;
    yield { start: starts[at] ?? 0, end: ends[last] ?? 0, mark };
  }
}

/** Bytes above 7 bits belong to letters of other alphabets. */
function isOfWord(byte: string | undefined): boolean {
  return byte !== undefined && /[0-9A-Za-z\x80-\xff]/.test(byte);
}

function without(text: string, ranges: readonly Range[]): string {
  let rest = "";
  let at = 0;
  for (const { start, end, mark } of ranges.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (end <= at) continue;
    if (start >= at) rest += text.slice(at, start) + mark;
    at = end;
  }
  return rest + text.slice(at);
}

function bytesOf(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** Forms write a blank as +. */
function comparable(bytes: string): string {
  return bytes.replaceAll("+", " ");
}

function encodedFormsOf(secret: string): string[] {
  const hex = Buffer.from(secret).toString("hex");
  return [hex, hex.toUpperCase(), ...base64FormsOf(secret)];
}

/**
 * Base64 of a secret at each of the three offsets that it can have within a longer text, without the characters that it
 * shares with its neighbours, in the alphabet for texts and in the one for URLs.
 */
function base64FormsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const whole = bytes.toString("base64").replace(/=+$/, "");
  const shifted = [0, 1, 2].map((offset) => {
    const first = Math.ceil((8 * offset) / 6);
    const last = Math.floor((8 * (offset + bytes.length)) / 6);
    return Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .slice(first, last);
  });
  // A fragment of a few characters would be found in innocent words.
  const standard = [...(whole.length >= 4 ? [whole] : []), ...shifted.filter((form) => form.length >= 6)];
  return [...new Set(standard.flatMap((form) => [form, form.replaceAll("+", "-").replaceAll("/", "_")]))];
}
