// Writes report/report.schema.json and report/doctor.schema.json, the JSON Schemas of what `--format json` and
// `doctor --json` print.
import { writeFileSync } from "node:fs";
import { publishedDoctorSchema } from "../report/doctor.ts";
import { publishedSchema } from "../report/report.ts";

writeFileSync(new URL("../report/report.schema.json", import.meta.url), publishedSchema());
writeFileSync(new URL("../report/doctor.schema.json", import.meta.url), publishedDoctorSchema());
