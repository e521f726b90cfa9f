// Writes sdk/contract/contract.schema.json, the JSON Schema by which editors check a contract file.
import { writeFileSync } from "node:fs";
import { publishedSchema } from "../sdk/contract/schema.ts";

writeFileSync(new URL("../sdk/contract/contract.schema.json", import.meta.url), publishedSchema());
