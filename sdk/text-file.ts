import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";

/** Why a file cannot be read, as the rest of a sentence that begins with its name. */
export interface FileFault {
  readonly what: string;
  readonly line?: number;
  readonly cause?: unknown;
}

const maxFileBytes = 1_048_576;

/** The text of a file: UTF-8 of at most 1 MiB, without a byte order mark. */
export function readTextFile(path: string): { readonly text: string } | { readonly fault: FileFault } {
  let bytes: Buffer;
  try {
    const found = statSync(path);
    // Reading a pipe would wait for ever.
    if (!found.isFile()) return { fault: { what: "is not a file" } };
    if (found.size > maxFileBytes) return { fault: { what: `is larger than ${maxFileBytes} bytes` } };
    bytes = readFileSync(path);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return { fault: { what: `cannot be read: ${reason}`, cause } };
  }
  if (!isUtf8(bytes)) return { fault: { what: "is not UTF-8", line: lineOfBadBytes(bytes) } };
  return { text: new TextDecoder().decode(bytes) };
}

function lineOfBadBytes(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; start < bytes.length; line += 1) {
    const end = bytes.indexOf(0x0a, start);
    const next = end === -1 ? bytes.length : end + 1;
    if (!isUtf8(bytes.subarray(start, next))) break;
    start = next;
  }
  return line;
}
