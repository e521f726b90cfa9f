// Writes sdk/semantics/semantics.schema.json, the JSON Schema by which editors check a file of semantics.
import { writeFileSync } from "node:fs";
import { publishedSemanticsSchema } from "../sdk/semantics/schema.ts";

writeFileSync(new URL("../sdk/semantics/semantics.schema.json", import.meta.url), publishedSemanticsSchema());
