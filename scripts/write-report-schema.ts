// Writes report/report.schema.json, the JSON Schema of what `--format json` prints.
import { writeFileSync } from "node:fs";
import { publishedSchema } from "../report/report.ts";

writeFileSync(new URL("../report/report.schema.json", import.meta.url), publishedSchema());
