import type { DeclaredRule } from "../provider/drift.ts";
import { defaultConnection } from "../provider/settings.ts";
import { contentOf } from "./content.ts";
import { messages } from "./page/parts.ts";
import { type RuleRow, ruleRow } from "./page/rule-row.ts";
import { rulesPage } from "./page/rules-page.ts";
import type { Finding, Report } from "./report.ts";
import { namesIn } from "./sides/stack.ts";
import { escaped, whereaboutsOf } from "./words.ts";

/** Facts for a catalog beside the report on the drift. */
interface CatalogParts {
  /** The rules that are as declared. */
  readonly same: readonly DeclaredRule[];
  /** The place of a rule's declaration, where it is known. */
  readonly placeOf: (rule: Pick<Finding, "resource" | "key">) => Pick<Finding, "file" | "line"> | undefined;
  /** When the rules were read. */
  readonly at: Date;
}

/**
 * A page of every rule of a stack and of the unmanaged ones, in one file that fetches nothing.
 * @param report what `driftReport` gives
 */
export function catalog(report: Report, { same, placeOf, at }: CatalogParts): string {
  const rows = [
    ...same.map((rule, index) => {
      const { connection, ...names } = namesIn(rule);
      const about = {
        ...names,
        ...(connection === defaultConnection ? {} : { connection }),
        ...placeOf(names),
      };
      return rowOf(`same-${index}`, about, "declared", contentOf({ after: rule.declared }).rule?.after, []);
    }),
    ...report.findings.map((finding, index) =>
      rowOf(`other-${index}`, finding, standingOf(finding), finding.rule?.after ?? finding.rule?.before, finding.paths),
    ),
  ];
  const byName = new Intl.Collator("en", { numeric: true });
  const when = `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return rulesPage({
    title: `Rules of ${report.subject}`,
    above: [
      `<p class="about">As the state and the service had them on ${escaped(when)}</p>`,
      ...messages("warning", report.warnings),
    ],
    rules: rows.sort((a, b) => byName.compare(a.name, b.name)),
    sides: [report.sides.before, report.sides.after],
    below: messages("note", report.notes),
  });
}

const weights = {
  declared: "gain",
  drifted: "difference",
  missing: "loss",
  "still in force": "difference",
  unmanaged: "quiet",
  "another's": "quiet",
} as const;

type Standing = keyof typeof weights;

function standingOf({ change }: Finding): Standing {
  if (change === "missing") return "missing";
  if (change === "still-in-force") return "still in force";
  if (change === "unmanaged") return "unmanaged";
  if (change === "anothers") return "another's";
  return "drifted";
}

const mostOfName = 200;

function rowOf(
  id: string,
  about: Omit<Finding, "change" | "paths">,
  state: Standing,
  definition: NonNullable<Finding["rule"]>["after"],
  paths: Finding["paths"],
): RuleRow {
  const { name, connection = defaultConnection } = about;
  const whereabouts = whereaboutsOf(about, mostOfName);
  return ruleRow({ id, name, state, weight: weights[state], about: whereabouts, connection, definition, paths });
}
