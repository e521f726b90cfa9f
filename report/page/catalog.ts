import { defaultConnection } from "../../provider/settings/setting-names.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import type { DeclaredRule } from "../drift/drift.ts";
import { findingNames } from "../drift/drift-report.ts";
import { contentOf } from "../model/content.ts";
import type { Finding, Report } from "../model/report.ts";
import { escaped, whereaboutsOf } from "../words/report-words.ts";
import { textOf, type Wording } from "../words/rule-words.ts";
import { messages } from "./parts.ts";
import { type RuleRow, ruleRow } from "./rule-row.ts";
import { rulesPage } from "./rules-page.ts";

/** Facts for a catalog beside the report on the drift. */
interface CatalogParts {
  /** The rules that are as declared. */
  readonly same: readonly DeclaredRule[];
  /** The place of a rule's declaration, where it is known. */
  readonly placeOf: (rule: Pick<Finding, "resource" | "key">) => Pick<Finding, "file" | "line"> | undefined;
  /** When the rules were read. */
  readonly at: Date;
  /** The words of a connection's rules, where its contract says what they mean. Default: of none. */
  readonly wordingOf?: (connection: string | undefined) => Wording | undefined;
}

/**
 * Writes a page of every rule of a stack and of the unmanaged ones, in one file that fetches nothing.
 * @param report what `driftReport` gives
 */
export function catalog(report: Report, { same, placeOf, at, wordingOf = () => undefined }: CatalogParts): string {
  const rows = [
    ...same.map((rule, index) => {
      const names = findingNames(rule);
      const about = { ...names, ...placeOf(names) };
      const { rule: shown } = contentOf({ after: rule.declared });
      return rowOf({ id: `same-${index}`, about, state: "declared", definition: shown?.after, paths: [] }, wordingOf);
    }),
    ...report.findings.map((finding, index) =>
      rowOf(
        {
          id: `other-${index}`,
          about: finding,
          state: standingOf(finding),
          definition: finding.rule?.after ?? finding.rule?.before,
          paths: finding.paths,
        },
        wordingOf,
      ),
    ),
  ];
  const orders = new Set(rows.flatMap(({ row }) => wordingOf(row.connection)?.order ?? []));
  const when = `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return rulesPage({
    title: `Rules of ${report.subject}`,
    above: [
      `<p class="about">As the state and the service had them on ${escaped(when)}</p>`,
      ...[...orders].map((order) => `<p class="about">${escaped(order)}.</p>`),
      ...messages("warning", report.warnings),
    ],
    rules: inOrder(rows),
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

interface RankedRow {
  readonly row: RuleRow;
  /** Lower is asked first; the same for all where nothing is known of the order. */
  readonly rank: number;
}

/** Sorts rows into the order in which the rules of a connection are asked, then by name. */
function inOrder(rows: readonly RankedRow[]): RuleRow[] {
  const byName = new Intl.Collator("en", { numeric: true });
  const isRanked = rows.some(({ rank }) => rank !== 0);
  const ordered = [...rows].sort((a, b) => {
    const byPlace = isRanked ? byName.compare(a.row.connection, b.row.connection) : 0;
    return byPlace || (a.rank === b.rank ? byName.compare(a.row.name, b.row.name) : a.rank - b.rank);
  });
  return ordered.map(({ row }) => row);
}

function rowOf(
  {
    id,
    about,
    state,
    definition,
    paths,
  }: {
    readonly id: string;
    readonly about: Omit<Finding, "change" | "paths">;
    readonly state: Standing;
    readonly definition: JsonObject | undefined;
    readonly paths: Finding["paths"];
  },
  wordingOf: NonNullable<CatalogParts["wordingOf"]>,
): RankedRow {
  const { name, connection = defaultConnection } = about;
  const wording = wordingOf(connection);
  const rules = wording === undefined || definition === undefined ? undefined : wording.of(definition);
  const words = textOf(rules ?? []);
  const row = ruleRow({
    id,
    name,
    state,
    weight: weights[state],
    about: whereaboutsOf(about, mostOfName),
    connection,
    definition,
    paths,
    words,
  });
  // A rule of which nothing can be told stands behind those that are asked.
  return {
    row,
    rank: rules === undefined ? (wording === undefined ? 0 : Infinity) : Math.min(...rules.map(({ rank }) => rank)),
  };
}
