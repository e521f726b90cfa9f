import { readFileSync } from "node:fs";
import { inflateRawSync } from "node:zlib";

const endOfDirectory = 0x06054b50;

/** The text of a file in a ZIP archive, such as a jar. */
export function textInZip(archive: string, name: string): string {
  const bytes = readFileSync(archive);
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end === -1 || bytes.readUInt32LE(end) !== endOfDirectory) throw new Error(`${archive} is no ZIP archive`);
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [nameLength, extra, comment] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset));
    const found = bytes.toString("utf8", at + 46, at + 46 + (nameLength ?? 0));
    if (found === name) {
      const header = bytes.readUInt32LE(at + 42);
      const start = header + 30 + bytes.readUInt16LE(header + 26) + bytes.readUInt16LE(header + 28);
      const body = bytes.subarray(start, start + bytes.readUInt32LE(at + 20));
      return (bytes.readUInt16LE(at + 10) === 0 ? body : inflateRawSync(body)).toString("utf8");
    }
    at += 46 + (nameLength ?? 0) + (extra ?? 0) + (comment ?? 0);
  }
  throw new Error(`${archive} has no ${name}`);
}
