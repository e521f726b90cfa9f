import { readFileSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { MerchantRulesError } from "../sdk/errors.ts";
import { reasonOf } from "../sdk/json/json.ts";

/**
 * Reads a file that the user named; `-` is standard input. It is UTF-8, or UTF-16 with a byte order mark, as PowerShell's
 * `>` writes; the mark is left out.
 * @param attempted `read state`, for messages
 * @throws MerchantRulesError SETTINGS_INVALID: the file cannot be read
 */
export async function inputOf(file: string, attempted: string, advice: string): Promise<string> {
  try {
    return decoded(file === "-" ? await buffer(process.stdin) : readFileSync(file));
  } catch (error) {
    throw new MerchantRulesError("SETTINGS_INVALID", reasonOf(error), { attempted: `${attempted} ${file}`, advice });
  }
}

function decoded(bytes: Buffer): string {
  const [first, second] = bytes;
  const form =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  return new TextDecoder(form).decode(bytes);
}
