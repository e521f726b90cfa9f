import { z } from "zod";
import { type DescribedFile, readDescribed } from "../../sdk/files/described-file.ts";
import type { JsonObject } from "../../sdk/json/json.ts";

/**
 * Parses one payment: a string that is a JSON object, or YAML that gives one.
 * @throws MerchantRulesError PAYMENTS_INVALID, with line and column
 */
export function parsePayment(text: string, file: string): JsonObject {
  return readDescribed(text, file, kind);
}

const kind: DescribedFile<JsonObject> = {
  schema: z.record(z.string(), z.json()),
  name: "the payment",
  code: "PAYMENTS_INVALID",
  advice: "give one payment, as a JSON object",
  verdict: "cannot be read",
  hasColumns: true,
  inconsistencies: () => [],
};
