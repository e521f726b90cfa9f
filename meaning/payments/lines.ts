import { isUtf8 } from "node:buffer";

/** A line, or a record of several, that holds no payment. Never quotes what is in it. */
export interface BadLine {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** The rest of a sentence that begins with the line: `is not UTF-8`. */
  readonly why: string;
}

/** Some lines, without their ends. */
export interface Lines {
  /** The number of the first of them, from 1. */
  readonly first: number;
  readonly texts: readonly (string | BadLine)[];
}

/** The most bytes of a line. A longer one is skipped, so that memory is bounded. */
export const mostBytesOfLine = 1_048_576;

/** Splits UTF-8 into lines, and yields some at a time. @param chunks none is longer than {@link mostBytesOfLine} */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Lines> {
  const begun = new BegunLine();
  let first = 1;
  for await (const chunk of chunks) {
    const last = chunk.lastIndexOf(lineFeed);
    if (last < 0) {
      begun.add(chunk);
      continue;
    }
    let texts: readonly (string | BadLine)[] = [];
    let from = 0;
    if (!begun.isEmpty) {
      const end = chunk.indexOf(lineFeed);
      begun.add(chunk.subarray(0, end));
      texts = [begun.take(first)];
      from = end + 1;
    }
    if (from <= last) texts = texts.concat(decoded(chunk.subarray(from, last), first + texts.length));
    begun.add(chunk.subarray(last + 1));
    yield { first, texts };
    first += texts.length;
  }
  if (!begun.isEmpty) yield { first, texts: [begun.take(first)] };
}

/** Why a line is bad that has other bytes. */
export const notUtf8 = "is not UTF-8";

const lineFeed = 10;

/** A line whose end has not been read yet. */
class BegunLine {
  #pieces: Buffer[] = [];
  #length = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > mostBytesOfLine) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  take(line: number): string | BadLine {
    const [pieces, length] = [this.#pieces, this.#length];
    this.#pieces = [];
    this.#length = 0;
    return length > mostBytesOfLine
      ? { line, column: mostBytesOfLine + 1, why: `is longer than ${mostBytesOfLine} bytes` }
      : decodedLine(Buffer.concat(pieces), line);
  }
}

function decoded(block: Buffer, first: number): (string | BadLine)[] {
  if (isUtf8(block)) return block.toString("utf8").split("\n");
  const texts: (string | BadLine)[] = [];
  let from = 0;
  while (from <= block.length) {
    const found = block.indexOf(lineFeed, from);
    const end = found < 0 ? block.length : found;
    texts.push(decodedLine(block.subarray(from, end), first + texts.length));
    from = end + 1;
  }
  return texts;
}

function decodedLine(bytes: Buffer, line: number): string | BadLine {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  // The replacement character stands for the first bytes that are none of UTF-8, unless the text itself has one before.
  let at = 0;
  let text = "";
  for (const character of new TextDecoder().decode(bytes)) {
    const length = Buffer.byteLength(character);
    if (character === "\ufffd" && !bytes.subarray(at, at + length).equals(Buffer.from(character))) break;
    at += length;
    text += character;
  }
  return { line, column: text.length + 1, why: notUtf8 };
}
