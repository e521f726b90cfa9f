import type { Contract } from "../contract/schema.ts";
import { isAtOrBelow, type JsonObject, numberText, pathOf, valueAt, walk } from "../json/index.ts";

/** A string that must not be seen. */
export interface Hidden {
  readonly text: string;
  /** What is printed in its place. Default: `[redacted]`. */
  readonly mark?: string;
  /** Hidden only as a whole word or number, not within a longer one; encoded, it is always hidden. Default: false. */
  readonly isWord?: boolean;
}

/** Number of tokens that are remembered. A response repeats one of the last few. */
const mostTokens = 16;

/** Number of encodings on top of each other that are looked through. */
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

  /** Returns a text with the secrets kept, the tokens added and those of `more` replaced by their marks. */
  redact(text: string, more: readonly Hidden[] = []): string {
    const needles = needlesOf([...[...this.#kept, ...this.#tokens].map((secret) => ({ text: secret })), ...more]);
    if (needles.length === 0) return text;
    const found: Range[] = [];
    let layer: readonly Byte[] | undefined = plainLayer(text);
    for (let depth = 0; depth < mostLayers && layer !== undefined; depth += 1) {
      const plain = comparable(textOf(layer));
      for (const needle of needles) found.push(...occurrences(plain, layer, needle));
      layer = decoded(layer);
    }
    return without(text, found);
  }
}

/** One of the forms that a secret may have. Its text are bytes, one character each. */
type Needle = Required<Hidden>;

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
      if (!needles.has(bytes)) needles.set(bytes, { text: bytes, mark, isWord: isWord && form === text });
    }
  }
  return [...needles.values()];
}

/** One byte of a text, as a character, and which part of the original text it comes from. */
interface Byte {
  readonly byte: string;
  readonly start: number;
  readonly end: number;
}

function plainLayer(text: string): Byte[] {
  let end = 0;
  return [...text].flatMap((character) => {
    const start = end;
    end += character.length;
    return [...bytesOf(character)].map((byte) => ({ byte, start, end }));
  });
}

const escapes = /%([0-9a-f]{2})|((?:\\u[0-9a-f]{4})+)|\\(.)/gis;
const shortEscapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

/** Takes one encoding off a layer; undefined where there is none. */
function decoded(layer: readonly Byte[]): Byte[] | undefined {
  const plain: Byte[][] = [];
  let kept = 0;
  for (const { 0: spelling, 1: percent, 2: units, 3: character = "", index } of textOf(layer).matchAll(escapes)) {
    let own = shortEscapes[character] ?? character;
    if (percent !== undefined) own = fromHex(percent);
    if (units !== undefined) own = bytesOf(units.replace(/\\u(.{4})/gi, (_, unit: string) => fromHex(unit)));
    plain.push(layer.slice(kept, index));
    kept = index + spelling.length;
    const start = layer[index]?.start ?? 0;
    const end = layer[kept - 1]?.end ?? 0;
    plain.push([...own].map((byte) => ({ byte, start, end })));
  }
  return kept === 0 ? undefined : [...plain.flat(), ...layer.slice(kept)];
}

function* occurrences(plain: string, layer: readonly Byte[], { text, mark, isWord }: Needle): Generator<Range> {
  for (let at = plain.indexOf(text); at !== -1; at = plain.indexOf(text, at + 1)) {
    const last = at + text.length - 1;
    if (isWord && (isOfWord(plain[at - 1]) || isOfWord(plain[last + 1]))) continue;
    yield { start: layer[at]?.start ?? 0, end: layer[last]?.end ?? 0, mark };
  }
}

/** Decides whether a byte is of a word; those above 7 bits belong to letters of other alphabets. */
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

function textOf(layer: readonly Byte[]): string {
  return layer.map(({ byte }) => byte).join("");
}

function fromHex(digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 16));
}

/** Replaces + by blanks: forms write a blank as +. */
function comparable(bytes: string): string {
  return bytes.replaceAll("+", " ");
}

/**
 * Encodes a secret in hexadecimal and in Base64: at each of the three offsets that it can have within a longer text, without
 * the characters that it shares with its neighbours, in the standard alphabet and in the one for URLs.
 */
function encodedFormsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  const whole = bytes.toString("base64").replace(/=+$/, "");
  const shifted = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    return encoded.slice(Math.ceil((8 * offset) / 6), Math.floor((8 * (offset + bytes.length)) / 6));
  });
  // A fragment of a few characters would be found in innocent words.
  const base64 = [...(whole.length >= 4 ? [whole] : []), ...shifted.filter((form) => form.length >= 6)];
  const forUrls = base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"));
  return [hex, hex.toUpperCase(), ...base64, ...forUrls];
}

/** A shorter string is found everywhere, and could not be kept secret. */
const shortestHidden = 4;

/** From this length on a string is hidden within longer words, too. */
const shortestWithinWords = 8;

/**
 * Returns the values of a definition that are not printed when the service repeats them. Their path in the definition is
 * printed instead. A definition may hold secrets, and nothing says which of its fields do. So every string and number of
 * 4 characters or more is hidden, but for the natural key, by which people know a rule. The fields that the contract
 * calls secret (`rule.secret`) are hidden however short they are, numbers from two digits on. Single digits and booleans
 * are never hidden: they tell nothing.
 */
export function hiddenIn(definition: JsonObject, rule: Pick<Contract["rule"], "secret" | "naturalKey">): Hidden[] {
  const naturalKey = rule.naturalKey === null ? undefined : valueAt(definition, rule.naturalKey);
  const name = numberText(naturalKey) ?? naturalKey;
  const secrets: Hidden[] = [];
  const others: Hidden[] = [];
  walk(definition, (value, { path }) => {
    const text = typeof value === "string" ? value : numberText(value);
    if (text === undefined) return;
    const isText = typeof value === "string";
    const mark = `[${pathOf(path, "definition")}]`;
    const hidden = { text, mark, isWord: !isText || text.length < shortestWithinWords };
    const isSecret = rule.secret.some((pattern) => isAtOrBelow(path, pattern));
    if (isSecret && (isText || /\d\D*\d/.test(text))) secrets.push(hidden);
    if (text.length >= shortestHidden && text !== name) others.push(hidden);
  });
  return [...secrets, ...others];
}
