// Writes report/report.schema.json and report/doctor.schema.json, the JSON Schemas of what `--format json` and
// `doctor --json` print, and report/tests.schema.json, by which editors check a file of tests.
import { writeFileSync } from "node:fs";
import { publishedDoctorSchema } from "../report/doctor.ts";
import { publishedTestsSchema } from "../report/meaning/test-file.ts";
import { publishedSchema } from "../report/model/report.ts";

writeFileSync(new URL("../report/report.schema.json", import.meta.url), publishedSchema());
writeFileSync(new URL("../report/doctor.schema.json", import.meta.url), publishedDoctorSchema());
writeFileSync(new URL("../report/tests.schema.json", import.meta.url), publishedTestsSchema());
