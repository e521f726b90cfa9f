import { z } from "zod";

/** What can be said of one rule. The order is that of reports: what is lost comes first. */
export const changes = [
  "delete",
  "replace",
  "missing",
  "changed",
  "update",
  "create",
  "adopt",
  "rename",
  "unmanaged",
] as const;

const pathSchema = z.strictObject({
  path: z.string().describe("Where in the rule, as `conditions[0].value`"),
  before: z.json().optional().describe("Declared (drift), or in force (plan), or in the first environment (diff)"),
  after: z.json().optional().describe("Live (drift), or to be (plan), or in the second environment (diff)"),
  secret: z.literal(true).optional().describe("The values are secret and are not in the report"),
});

const findingSchema = z.strictObject({
  change: z.enum(changes),
  name: z.string().describe("What people call the rule: its natural key, else its key, else its ruleId"),
  key: z.string().optional().describe("Its key in a MerchantRuleSet"),
  formerKey: z.string().optional().describe("The key that it had, where it was renamed"),
  ruleId: z.string().optional(),
  resource: z.string().optional().describe("The resource that declares it, as `MerchantRuleSet all`"),
  connection: z.string().optional().describe("Where it is not the default one"),
  owner: z.string().optional().describe("Whose the rule is, as its mark at the service says"),
  paths: z.array(pathSchema).describe("What differs; empty where the rule as a whole is meant"),
});

/** The published form of every report: `merchant-rules drift --format json`, and so on. */
export const reportSchema = z
  .strictObject({
    version: z.literal(1).describe("The version of this format"),
    report: z.enum(["drift", "plan", "diff"]),
    subject: z.string().describe("What was looked at, as `stack dev`"),
    rules: z.int().describe("How many rules the subject has, before the change"),
    unchanged: z.int().describe("How many of them are as they should be"),
    counts: z
      .partialRecord(z.enum(changes), z.int())
      .describe("How many findings of each kind; a kind without any is absent"),
    findings: z.array(findingSchema),
    notes: z.array(z.string()).describe("What a reader must know besides, such as secrets that could not be compared"),
  })
  .meta({ title: "merchant-rules report", description: "What differs, rule by rule" });

export type Change = (typeof changes)[number];
export type Finding = z.output<typeof findingSchema>;
export type PathFinding = z.output<typeof pathSchema>;
export type Report = z.output<typeof reportSchema>;

export interface ReportParts extends Pick<Report, "report" | "subject" | "rules" | "unchanged"> {
  readonly findings: readonly Finding[];
  readonly notes?: readonly string[];
}

/** A report, with its findings counted and in order: by what happens to the rule, then by name. */
export function reportOf({ findings, notes = [], ...about }: ReportParts): Report {
  const rank = new Map(changes.map((change, index) => [change, index]));
  const ordered = [...findings].sort(
    (a, b) => (rank.get(a.change) ?? 0) - (rank.get(b.change) ?? 0) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  );
  const counts: Partial<Record<Change, number>> = {};
  for (const { change } of ordered) counts[change] = (counts[change] ?? 0) + 1;
  return { version: 1, ...about, counts, findings: ordered, notes: [...notes] };
}
