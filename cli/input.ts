import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { MerchantRulesError } from "../sdk/errors.ts";
import { reasonOf } from "../sdk/json/json.ts";

/**
 * Reads a file that the user named; `-` is standard input.
 * @param attempted `read state`, for messages
 * @throws MerchantRulesError SETTINGS_INVALID: the file cannot be read
 */
export async function inputOf(file: string, attempted: string, advice: string): Promise<string> {
  if (file === "-") return await text(process.stdin);
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new MerchantRulesError("SETTINGS_INVALID", reasonOf(error), { attempted: `${attempted} ${file}`, advice });
  }
}
