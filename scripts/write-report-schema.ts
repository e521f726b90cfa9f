// Writes cli/report/report.schema.json, the JSON Schema of what `--format json` prints.
import { writeFileSync } from "node:fs";
import { publishedSchema } from "../cli/report/report.ts";

writeFileSync(new URL("../cli/report/report.schema.json", import.meta.url), publishedSchema());
