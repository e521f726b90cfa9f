import { z } from "zod";
import { contractSchema } from "./schema.ts";

/** The text of `contract.schema.json`: what a contract file may hold, as JSON Schema 2020-12. */
export function publishedSchema(): string {
  return `${JSON.stringify(z.toJSONSchema(contractSchema, { io: "input" }), null, 2)}\n`;
}
