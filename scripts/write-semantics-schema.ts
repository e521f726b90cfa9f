// Writes meaning/language/semantics.schema.json, the JSON Schema by which editors check a file of semantics.
import { writeFileSync } from "node:fs";
import { publishedSemanticsSchema } from "../meaning/language/schema.ts";

writeFileSync(new URL("../meaning/language/semantics.schema.json", import.meta.url), publishedSemanticsSchema());
