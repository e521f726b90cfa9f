import { z } from "zod";

/** What is looked at, in the order of a report. */
export const checks = [
  "versions",
  "project",
  "stack",
  "state",
  "settings",
  "contract",
  "address",
  "token",
  "identity",
  "list",
  "get",
  "clock",
  "place",
] as const;

const checkupSchema = z.strictObject({
  check: z.enum(checks).describe("What was looked at"),
  status: z
    .enum(["ok", "warning", "failed", "skipped"])
    .describe("failed: a run would fail or do harm. skipped: it could not be looked at, and why"),
  found: z.string().describe("What was found. Never a credential"),
  toDo: z.string().optional().describe("One instruction, where something is to be done"),
});

/** The published form of `merchant-rules doctor --json`. */
export const doctorSchema = z
  .strictObject({
    version: z.literal(1).describe("The version of this format"),
    report: z.literal("doctor"),
    ok: z.boolean().describe("Whether nothing failed; the exit code is 0 then, else 1"),
    findings: z.array(checkupSchema),
  })
  .meta({ title: "merchant-rules doctor", description: "Whether a project can reach its service" });

export type Check = (typeof checks)[number];
export type Checkup = z.output<typeof checkupSchema>;
export type DoctorReport = z.output<typeof doctorSchema>;

export function doctorReport(found: readonly Checkup[]): DoctorReport {
  const findings = checks.flatMap((check) => found.filter((each) => each.check === check));
  return { version: 1, report: "doctor", ok: found.every(({ status }) => status !== "failed"), findings };
}

/** Returns the text of `doctor.schema.json`: the published form as JSON Schema 2020-12. */
export function publishedDoctorSchema(): string {
  const schema = { $id: "urn:pulumi-merchant-rules:doctor:1", ...z.toJSONSchema(doctorSchema) };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
