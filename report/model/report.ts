import { z } from "zod";
import { defined, hidden, hiddenOther } from "../../sdk/json/index.ts";
import { printable } from "../../sdk/json/printable.ts";
import { contentOf, contentSchema, jsonSchema, objectSchema } from "./content.ts";
import { changes, reportKinds, reportNames } from "./kinds.ts";

const pathSchema = z.strictObject({
  path: z.string().describe("Where in the rule, as `conditions[0].value`; empty for the rule as a whole"),
  before: jsonSchema.optional().describe("On the side `sides.before`; absent where there is no value"),
  after: jsonSchema.optional().describe("On the side `sides.after`; absent where there is no value"),
  secret: z
    .literal(true)
    .optional()
    .describe(
      "The values are secret and are not in the report: `before` and `after` have `[secret]` in their place, and `after` has `[another secret]` where both sides have one",
    ),
  masked: z
    .literal(true)
    .optional()
    .describe(
      "The values are not known: the engine masks the whole array around them, for a secret that the program made in it. They need be no secret",
    ),
});

const placeFields = {
  file: z.string().optional().describe("The file that declares the rule, from the folder in which the command ran"),
  line: z.int().min(1).optional().describe("The line of `file` at which the value, or the rule, begins"),
};

const violationSchema = z.strictObject({
  level: z.enum(["mandatory", "advisory"]).describe("mandatory: the run is refused. advisory: a warning"),
  policy: z.string(),
  pack: z.string().optional().describe("The pack that has the policy"),
  resource: z.string().optional().describe("The resource that violates it, as `MerchantRuleSet all`"),
  key: z
    .string()
    .optional()
    .describe(
      "The rule: its key in the set, or the name of its MerchantRule. Absent where it cannot be told which rule is meant",
    ),
  path: z.string().optional().describe("Where in the rule, as `conditions[0].value`, where the policy says it"),
  message: z.string().describe("The policy's description, and what it says. May have several lines"),
  words: z.string().optional().describe("What the rule says, in words, where the contract has semantics"),
  ...placeFields,
});

const failureSchema = z.strictObject({
  message: z.string().describe("In the words of what failed. May have several lines"),
  resource: z
    .string()
    .optional()
    .describe("The resource that failed, as `MerchantRuleSet all`, where it is one of rules"),
  key: z
    .string()
    .optional()
    .describe("The rule that a check refuses: its key in the set, or the name of its MerchantRule"),
  path: z.string().optional().describe("Where in the rule, as `conditions[0].value`; absent for the rule as a whole"),
  ...placeFields,
});

const findingSchema = z.strictObject({
  change: z
    .enum(changes)
    .describe(
      "drift: missing, still-in-force (removed from the program, and not yet deleted), changed, undeclared (fields that no program declares and that came since the last write), unmanaged, anothers (another stack manages it, as its mark says). plan: delete, replace, update, create, adopt (an existing rule is taken over), rename (another key, nothing is written), with --refresh also reset (edited by hand since the last run, which the run undoes), undeclared, unmanaged and anothers. diff: only-in-from, only-in-to, changed. test: failed, a case, whose name stands in the place of a rule's. lint: never-matches, ended, shadowed, duplicate, order-conflict, catch-all, ends-soon",
    ),
  name: z.string().describe("What people call the rule: its natural key, else its key, else its ruleId"),
  formerName: z.string().optional().describe("The natural key on the side `sides.before`, where that is another"),
  key: z.string().optional().describe("Its key in a MerchantRuleSet"),
  formerKey: z.string().optional().describe("The key that it had, where it was renamed"),
  ruleId: z.string().optional(),
  resource: z.string().optional().describe("The resource that declares it, as `MerchantRuleSet all`"),
  connection: z.string().optional().describe("Where it is not the default one"),
  stack: z.string().optional().describe("Whose rule it is, where the report is about several stacks"),
  owner: z.string().optional().describe("Whose the rule is, as its mark at the service says"),
  reason: z.string().optional().describe("Why this happens to it, where that is not plain"),
  file: z.string().optional().describe("The file that declares it, from the folder in which the command ran"),
  line: z
    .int()
    .min(1)
    .optional()
    .describe("The line of `file` at which the declaration, or what differs in it, begins"),
  changedBy: z.string().optional().describe("Who changed it last, as the service says"),
  changedAt: z.string().optional().describe("When it was changed last, in the service's words"),
  rule: contentSchema
    .optional()
    .describe(
      "The rule, `[secret]` in the place of secrets. Both sides where it is changed; a created, unmanaged or another's one has only `after`, a deleted, missing or still-in-force one only `before`. Absent where it is not known",
    ),
  others: z
    .array(
      z.strictObject({
        name: z.string(),
        key: z.string().optional(),
        ruleId: z.string().optional(),
        resource: z.string().optional(),
        file: z.string().optional(),
        line: z.int().min(1).optional(),
      }),
    )
    .optional()
    .describe("lint: the other rules concerned, such as those that decide before"),
  shownBy: z
    .strictObject({
      payment: objectSchema,
      at: z.string().optional().describe("The time by which rules are in force, where that is not the payment's"),
    })
    .optional()
    .describe("lint: a payment that shows it, which the package made"),
  details: z
    .array(z.string())
    .optional()
    .describe("Lines that say why, such as the conditions of the rule that decides"),
  words: z
    .strictObject({
      before: z.string().optional().describe("On the side `sides.before`"),
      after: z.string().optional().describe("On the side `sides.after`"),
    })
    .optional()
    .describe(
      "What the rule says, in words, where the contract has semantics: `declines when amount > 10,000 (priority 20)`. Of a changed rule both sides where they differ, and none where they say the same; where it cannot be read, what is not explained. A line for each rule where a definition holds several",
    ),
  paths: z.array(pathSchema).describe("What differs; empty where the rule as a whole is meant"),
});

const decisionSchema = z
  .strictObject({
    kind: z.enum(["decided", "unknown"]),
    outcomes: z
      .array(z.string())
      .optional()
      .describe(
        "The outcome, or where all rules that apply count, the outcomes; of an unknown one those it may be. Absent: it may be any",
      ),
    by: z.array(z.string()).describe("The rules that decide, or on which it hangs that the outcome is unknown"),
  })
  .describe("explain: what the rules decide of the payment");

const simulationSchema = z
  .strictObject({
    sha256: z.string().describe("Of the file of payments as it is, packed or not, in hexadecimal"),
    payments: z.int().min(0).describe("How many were decided"),
    badLines: z.int().min(0).describe("Lines that hold no payment, and are left out"),
    from: z.string().optional().describe("The time of the earliest payment, where the semantics name it"),
    until: z.string().optional().describe("The time of the latest payment"),
    flipped: z.int().min(0).describe("Payments whose outcome is another after the run"),
    matrix: z
      .array(
        z.strictObject({
          before: z.string().describe("The outcome by the live rules; `unknown` where it is not known"),
          after: z.string().describe("The outcome after the run"),
          payments: z.int().min(1),
          sums: z
            .record(z.string(), z.string())
            .describe("The sum of their amounts as a decimal, by currency, in the unit that the semantics say"),
        }),
      )
      .describe("Each outcome before with each after; one that no payment has is absent"),
  })
  .describe("simulate: how the run decides payments of a file, in counts alone");

const tableSchema = z
  .strictObject({
    title: z.string(),
    isFirst: z.literal(true).optional().describe("It stands before the findings"),
    columns: z.array(z.string()).min(1),
    rows: z.array(z.array(z.union([z.string(), z.number(), z.boolean(), z.null()]))).describe("A cell for each column"),
  })
  .describe("What is no finding about one rule, such as a matrix");

/** The published form of every report: `merchant-rules drift --format json`, and so on. */
export const reportSchema = z
  .strictObject({
    version: z.literal(2).describe("The version of this format"),
    report: z.enum(reportNames),
    subject: z.string().describe("What was looked at, as `stack dev`"),
    project: z.string().optional().describe("The project of the stack, where it is known"),
    sides: z
      .strictObject({ before: z.string(), after: z.string() })
      .describe(
        "What `before` and `after` of a path are: declared and live (drift), now and after up (plan), expected and found (test)",
      ),
    about: z
      .array(z.string())
      .describe("What the sides are and what is not seen, such as that `now` is the state and not the service"),
    rules: z.int().min(0).describe("How many rules the subject has, before the change; of a test how many cases"),
    decision: decisionSchema.optional(),
    simulation: simulationSchema.optional(),
    unchanged: z.int().min(0).describe("How many of them are as they should be"),
    counts: z
      .partialRecord(z.enum(changes), z.int().min(1))
      .describe("How many findings of each kind; a kind without any is absent"),
    errors: z
      .array(failureSchema)
      .describe("What failed, so that the report may lack something; none in a whole report"),
    warnings: z.array(z.string()).describe("What must not be overlooked, such as many deletions"),
    violations: z.array(violationSchema).describe("What policies say of the preview. A mandatory one fails it"),
    findings: z.array(findingSchema),
    tables: z.array(tableSchema),
    notes: z.array(z.string()).describe("What a reader must know besides, such as secrets that could not be compared"),
  })
  .meta({ title: "merchant-rules report", description: "What differs, rule by rule" });

export type Finding = z.output<typeof findingSchema>;
export type Violation = z.output<typeof violationSchema>;
export type Failure = z.output<typeof failureSchema>;
export type PathFinding = z.output<typeof pathSchema>;
/** A decision with the names of its rules. */
export type NamedDecision = z.output<typeof decisionSchema>;
export type SimulationFacts = z.output<typeof simulationSchema>;
export type Table = z.output<typeof tableSchema>;
export type Report = z.output<typeof reportSchema>;

type Lists = "violations" | "about" | "tables" | "errors" | "warnings" | "notes";

/** What a report is made of. Texts have one line each; what is left out is empty, or not known. */
export interface ReportParts
  extends Pick<Report, "report" | "subject" | "rules" | "unchanged">,
    Partial<{ readonly [Name in Lists]: Readonly<Report[Name]> }> {
  readonly findings: readonly Finding[];
  readonly decision?: NamedDecision | undefined;
  readonly simulation?: SimulationFacts | undefined;
  readonly project?: string | undefined;
  /** Default: those of the kind of report, such as declared and live for drift. */
  readonly sides?: Report["sides"];
  /** Warnings as an engine said them: a text may have several lines. They come last. */
  readonly engineWarnings?: readonly string[];
}

/** Makes a report: counts its findings, and puts them in order by what happens to the rule, then by name. */
export function reportOf({
  findings,
  project,
  decision,
  simulation,
  violations = [],
  about: head = [],
  tables = [],
  sides,
  errors = [],
  warnings = [],
  engineWarnings = [],
  notes = [],
  ...about
}: ReportParts): Report {
  const rank = new Map(changes.map((change, index) => [change, index]));
  const ordered = [...findings].sort(
    (a, b) => (rank.get(a.change) ?? 0) - (rank.get(b.change) ?? 0) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  );
  const counts: Report["counts"] = {};
  for (const { change } of ordered) counts[change] = (counts[change] ?? 0) + 1;
  return {
    version: 2,
    ...about,
    ...defined({ project, decision, simulation }),
    sides: sides ?? reportKinds[about.report].sides,
    about: head.map((line) => printable(line)),
    counts,
    errors: [...errors],
    warnings: [...warnings.map((warning) => printable(warning)), ...engineWarnings],
    violations: [...violations],
    findings: ordered.map(({ rule, ...finding }) => ({
      ...finding,
      ...(rule === undefined ? {} : contentOf(rule)),
      paths: finding.paths.map(withoutSecret),
    })),
    tables: [...tables],
    notes: notes.map((note) => printable(note)),
  };
}

/** Takes the values of a secret out of a path: whoever makes a report may still hold them, the report never does. */
function withoutSecret({ path, secret, ...others }: PathFinding): PathFinding {
  return secret === true ? { path, secret, ...secretSides(others) } : { path, ...others };
}

/** Returns the words in the place of secrets that differ. Where neither side is told, both have one. */
function secretSides({ before, after }: Pick<PathFinding, "before" | "after">): Pick<PathFinding, "before" | "after"> {
  if (after === undefined && before !== undefined) return { before: hidden };
  if (before === undefined && after !== undefined) return { after: hidden };
  return { before: hidden, after: hiddenOther };
}

/** Returns the text of `report.schema.json`: what a report in JSON holds, as JSON Schema 2020-12. */
export function publishedSchema(): string {
  const schema = { $id: "urn:pulumi-merchant-rules:report:2", ...z.toJSONSchema(reportSchema) };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
