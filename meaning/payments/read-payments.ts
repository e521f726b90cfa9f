import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { placeOfBadJson } from "../../sdk/files/json-text.ts";
import { isError, isJsonArray, isJsonObject, type Json, type JsonObject, reasonOf } from "../../sdk/json/json.ts";
import { printable } from "../../sdk/json/printable.ts";
import { CsvHeaderFault, CsvRecords, type Outcome, type PaymentColumn } from "./csv.ts";
import { type BadLine, type Lines, linesOf, notUtf8 } from "./lines.ts";

export interface ReadPaymentsOptions {
  /** The fields that are read from CSV. */
  readonly columns: readonly PaymentColumn[];
  /** Stops at the first bad line. Default: false. */
  readonly strict?: boolean;
  /** So many bad lines are kept for {@link PaymentsRead.bad}. Default: 10. */
  readonly mostBad?: number;
  /** Called now and then with the bytes of the file that have been read. */
  readonly onProgress?: (bytes: number) => void;
  /** The stream that `-` names. Default: standard input. */
  readonly stdin?: Readable;
}

/** What was read so far. */
export interface PaymentsRead {
  readonly form: "NDJSON" | "CSV" | undefined;
  /** Of the file as it is, packed or not; whole only when all of it has been read. Hexadecimal. */
  readonly sha256: string;
  readonly bytes: number;
  readonly payments: number;
  /** Lines that hold no payment. */
  readonly badLines: number;
  /** The first of them. */
  readonly bad: readonly BadLine[];
  /** Names of columns that are not needed, and which a CSV does not have. */
  readonly absent: readonly string[];
}

/**
 * Payments of a file: JSON, one a line (NDJSON), or CSV with a header; either also packed by gzip. The content shows which of these
 * it is. Reads a part at a time, so that memory does not grow with the file. For one pass.
 */
export class PaymentsFile {
  readonly #file: string;
  readonly #options: ReadPaymentsOptions;
  readonly #hash: Hash = createHash("sha256");
  readonly #bad: BadLine[] = [];
  #form: PaymentsRead["form"];
  #csv: CsvRecords | undefined;
  #digest: string | undefined;
  #bytes = 0;
  #payments = 0;
  #badLines = 0;
  #line = 0;

  /** @param file its path; `-` is standard input */
  constructor(file: string, options: ReadPaymentsOptions) {
    this.#file = file;
    this.#options = options;
  }

  get read(): PaymentsRead {
    return {
      form: this.#form,
      sha256: this.#digest ?? this.#hash.copy().digest("hex"),
      bytes: this.#bytes,
      payments: this.#payments,
      badLines: this.#badLines,
      bad: this.#bad,
      absent: this.#csv?.absent ?? [],
    };
  }

  /**
   * Yields the payments, some at a time, in their order.
   * @throws MerchantRulesError PAYMENTS_INVALID: the file cannot be read, is cut off or in another encoding; a CSV lacks a column;
   * no line is a payment; or, with `strict`, one is not
   */
  async *batches(): AsyncGenerator<readonly JsonObject[]> {
    for await (const { first, texts } of linesOf(this.#plainBytes()))
      for (let at = 0; at < texts.length; at += linesAtOnce) {
        const payments = this.#paymentsIn({ first: first + at, texts: texts.slice(at, at + linesAtOnce) });
        this.#payments += payments.length;
        if (payments.length > 0) yield payments;
      }
    const open = this.#csv?.end(this.#line);
    if (open !== undefined) this.#note(open);
    this.#digest = this.#hash.digest("hex");
    if (this.#payments > 0) return;
    const [first] = this.#bad;
    throw this.#invalid(
      first === undefined ? "it holds no payment" : `none of its lines holds a payment; ${sentenceOf(first)}`,
      first?.why === notUtf8
        ? encodingAdvice
        : "name a file with a payment a line, in JSON, or with a line for their names and one for each payment, in CSV",
    );
  }

  #paymentsIn({ first, texts }: Lines): JsonObject[] {
    const payments: JsonObject[] = [];
    for (const [index, text] of texts.entries()) {
      this.#line = first + index;
      if (typeof text !== "string") {
        const open = this.#csv?.end(this.#line);
        if (open !== undefined) this.#note(open);
        this.#note(text);
        continue;
      }
      const payment = this.#form === undefined ? this.#begin(text) : this.#next(text);
      if (payment === undefined) continue;
      if ("payment" in payment) payments.push(payment.payment);
      else this.#note(payment);
    }
    return payments;
  }

  /** Takes the first line that is not blank, which tells the form of the file. Returns as {@link CsvRecords.next}. */
  #begin(text: string): Outcome | undefined {
    const start = text.trimStart();
    if (start === "") return undefined;
    if (start.startsWith("["))
      throw this.#invalid(
        `line ${this.#line} begins with [, so it is one JSON list`,
        "write one payment a line, such as with `jq -c '.[]'`",
      );
    this.#form = start.startsWith("{") ? "NDJSON" : "CSV";
    if (this.#form === "NDJSON") return this.#next(text);
    const [bad] = this.#bad;
    if (this.#badLines > 0)
      throw this.#invalid(`the header cannot be read; ${bad === undefined ? "" : sentenceOf(bad)}`, encodingAdvice);
    try {
      this.#csv = new CsvRecords(text, this.#options.columns);
      return undefined;
    } catch (error) {
      if (!(error instanceof CsvHeaderFault)) throw error;
      throw this.#invalid(
        `line ${this.#line}, column ${error.column}: it ${error.message}`,
        "give the header a column for each field that rules name, under the field's name or its path, once",
      );
    }
  }

  #next(text: string): Outcome | undefined {
    if (this.#csv !== undefined) return this.#csv.next(text, this.#line);
    let value: Json;
    try {
      value = JSON.parse(text);
    } catch (error) {
      if (text.trim() === "") return undefined;
      // To find the place takes much longer than to parse; it is named for the first lines alone.
      const { column } = this.#isShown() ? placeOfBadJson(text, error) : { column: 1 };
      return { line: this.#line, column, why: "is not JSON" };
    }
    if (isJsonObject(value)) return { payment: value };
    const kind = value === null ? "null" : isJsonArray(value) ? "a list" : `a ${typeof value}`;
    return { line: this.#line, column: 1, why: `is ${kind}, and no payment` };
  }

  #isShown(): boolean {
    return this.#options.strict === true || this.#bad.length < (this.#options.mostBad ?? 10);
  }

  #note(bad: BadLine): void {
    if (this.#options.strict === true)
      throw this.#invalid(sentenceOf(bad), "correct the line, or leave out --strict: then such lines are counted");
    if (this.#isShown()) this.#bad.push(bad);
    this.#badLines += 1;
  }

  /** Yields the bytes of the file: unpacked, without a byte order mark. */
  async *#plainBytes(): AsyncGenerator<Buffer> {
    try {
      const chunks = startingWith(this.#fileBytes(), 4);
      const { value: head } = await chunks.next();
      if (head === undefined) return;
      const isPacked = head[0] === 0x1f && head[1] === 0x8b;
      yield* this.#textBytes(isPacked ? unpacked(whole(head, chunks)) : whole(head, chunks));
    } catch (error) {
      if (!isSystemError(error)) throw error;
      throw this.#unreadable(error);
    }
  }

  async *#textBytes(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let isFirst = true;
    for await (const chunk of startingWith(bytes, 4)) {
      const start = isFirst ? chunk.subarray(0, 4) : undefined;
      isFirst = false;
      if (start === undefined) yield chunk;
      else if (start.includes(0) || isMark(start, 0xff, 0xfe) || isMark(start, 0xfe, 0xff))
        throw this.#invalid("line 1, column 1: it is UTF-16, UTF-32 or no text", encodingAdvice);
      else yield isMark(start, 0xef, 0xbb, 0xbf) ? chunk.subarray(3) : chunk;
    }
  }

  async *#fileBytes(): AsyncGenerator<Buffer> {
    const stream =
      this.#file === "-"
        ? (this.#options.stdin ?? process.stdin)
        : createReadStream(this.#file, { highWaterMark: chunkBytes });
    for await (const chunk of stream) {
      const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
      this.#hash.update(bytes);
      this.#bytes += bytes.length;
      this.#options.onProgress?.(this.#bytes);
      for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
    }
  }

  #unreadable(error: Error & { readonly code: string }): MerchantRulesError {
    const place = `after line ${this.#line}`;
    if (error.code === "Z_BUF_ERROR")
      return this.#invalid(`it is cut off: gzip ends too early, ${place}`, "copy or pack the file again", error);
    if (error.code.startsWith("Z_"))
      return this.#invalid(`gzip is damaged ${place}`, "copy or pack the file again", error);
    return this.#invalid(printable(reasonOf(error)), "name a file that can be read, or - for standard input", error);
  }

  #invalid(reason: string, advice: string, cause?: unknown): MerchantRulesError {
    const name = this.#file === "-" ? "standard input" : printable(this.#file);
    return new MerchantRulesError("PAYMENTS_INVALID", reason, { attempted: `read payments ${name}`, advice, cause });
  }
}

/** Returns a bad line in words: `line 3, column 1: it is not JSON`. */
export function sentenceOf({ line, column, why }: BadLine): string {
  return `line ${line}, column ${column}: it ${why}`;
}

const chunkBytes = 262_144;
/** Few, so that their payments are garbage before the next collection: the collector copies what is alive, and keeps it longer. */
const linesAtOnce = 32;
const encodingAdvice = "write the file in UTF-8, such as with iconv";

/** Returns whether an error is the system's or gzip's, which have a `code`. */
function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return isError(error) && !(error instanceof MerchantRulesError) && "code" in error && typeof error.code === "string";
}

function isMark(start: Buffer, ...mark: readonly number[]): boolean {
  return mark.every((byte, index) => start[index] === byte);
}

/** Yields the same bytes; the first chunk has at least `least` bytes, unless there are fewer in all. */
async function* startingWith(chunks: AsyncIterable<Buffer>, least: number): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (head === undefined) yield chunk;
    else {
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
      if (head.length < least) continue;
      yield head;
      head = undefined;
    }
  }
  if (head !== undefined && head.length > 0) yield head;
}

async function* whole(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield head;
  yield* rest;
}

function unpacked(bytes: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  // An error of either stream ends the other, and is thrown where it is read.
  return pipeline(Readable.from(bytes), createGunzip({ chunkSize: chunkBytes }), () => {});
}
