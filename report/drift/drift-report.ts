import { defaultConnection } from "../../provider/settings/setting-names.ts";
import { pathOf } from "../../sdk/json/index.ts";
import type { IgnoreLine } from "../files/ignore-file.ts";
import { contentOf } from "../model/content.ts";
import { type Finding, type PathFinding, type Report, reportOf } from "../model/report.ts";
import type { RuleName } from "../state/state-resource.ts";
import type { Drift, DriftedPath } from "./drift.ts";
import type { LastChange } from "./last-change.ts";
import type { UnmanagedRule } from "./unmanaged-rules.ts";

/** Other facts for the report on a drift. */
interface About {
  /** The stack or file that was looked at, as `stack dev`. */
  readonly subject: string;
  /** The project of the stack, where it is known. */
  readonly project?: string | undefined;
  /** True where the state has any resource of rules. */
  readonly hasRules: boolean;
  readonly looksForUnmanaged: boolean;
  /** Unmanaged rules that are no drift. */
  readonly ignoring: readonly IgnoreLine[];
}

/** The report on a drift. What is ignored is counted, and is never a rule of the stack. */
export function driftReport(drift: Drift, { subject, project, ignoring, ...about }: About): Report {
  const unmanaged = unmanagedFindings(drift.unmanaged, ignoring);
  return reportOf({
    report: "drift",
    subject,
    project,
    about: aboutDrift(drift),
    rules: drift.rules,
    unchanged: drift.rules - drift.changed.length - drift.missing.length,
    findings: [
      ...drift.missing.map((rule) => ({
        ...findingOf("missing", rule),
        ...contentOf({ before: rule.declared }),
        ...(rule.ruleId === undefined ? { reason: "the last run did not make it" } : {}),
      })),
      ...drift.stillInForce.map((rule) => ({
        ...findingOf("still-in-force", rule),
        ...contentOf({ before: rule.declared }),
        reason: "the program does not declare it any more; the next `pulumi up` deletes it",
      })),
      ...drift.changed.map(({ differences, owner, declared, live, liveKey, ...rule }) => ({
        ...findingOf("changed", rule),
        ...contentOf({ before: declared, after: live }),
        ...(liveKey === undefined || liveKey === rule.naturalKey || rule.naturalKey === undefined
          ? {}
          : { name: liveKey, formerName: rule.naturalKey }),
        ...(owner === undefined ? {} : { owner }),
        ...changeOf(rule),
        paths: differences.map(pathFinding),
      })),
      ...unmanaged.findings,
    ],
    warnings: driftWarnings(drift),
    notes: [...notesOf(drift, about), ...unmanaged.notes],
  });
}

/** Which side of a path is which, and the two ways on. */
function aboutDrift({ changed, missing }: Drift): string[] {
  if (changed.length + missing.length === 0) return [];
  return [
    ...(changed.length === 0 ? [] : ["Of each path: declared → at the service."]),
    "To have the rules as declared: `pulumi up --refresh`. To take what is at the service into the files: `npx --no-install merchant-rules pull`.",
  ];
}

/** The findings of rules that nobody declares, and notes of those that are ignored. */
export function unmanagedFindings(
  rules: readonly UnmanagedRule[],
  ignoring: readonly IgnoreLine[],
): { readonly findings: Finding[]; readonly notes: string[] } {
  const ignored: IgnoreLine[] = [];
  const findings = rules.flatMap((rule) => {
    const line = ignoring.find(({ matches }) => matches(rule));
    if (line !== undefined) ignored.push(line);
    return line === undefined ? [unmanagedFinding(rule)] : [];
  });
  return { findings, notes: notesOfIgnored(ignored) };
}

function findingOf(change: Finding["change"], { naturalKey, key, ruleId, resource, connection }: RuleName): Finding {
  return {
    change,
    name: naturalKey ?? key ?? ruleId ?? resource,
    ...(key === undefined ? {} : { key }),
    ...(ruleId === undefined ? {} : { ruleId }),
    resource,
    ...(connection === defaultConnection ? {} : { connection }),
    paths: [],
  };
}

function unmanagedFinding({
  naturalKey,
  ruleId,
  connection,
  owner,
  isAnothers,
  live,
  ...change
}: UnmanagedRule): Finding {
  return {
    change: isAnothers ? "anothers" : "unmanaged",
    name: naturalKey ?? ruleId,
    ruleId,
    ...(connection === defaultConnection ? {} : { connection }),
    ...(owner === undefined ? {} : { owner }),
    ...changeOf(change),
    ...contentOf({ after: live }),
    paths: [],
  };
}

function changeOf({ changedBy, changedAt }: LastChange): Pick<Finding, "changedBy" | "changedAt"> {
  return { ...(changedBy === undefined ? {} : { changedBy }), ...(changedAt === undefined ? {} : { changedAt }) };
}

function pathFinding({ path, isSecret, before, after }: DriftedPath): PathFinding {
  return {
    path: pathOf(path),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    ...(isSecret === undefined ? {} : { secret: isSecret }),
  };
}

/** The most rules that a warning names. */
const mostNames = 10;

/** What a reader of a drift must not overlook: unfinished runs, and rules that are another's by now. */
export function driftWarnings({ unfinished, takenOver }: Drift): string[] {
  return [
    ...unfinished.map(
      (resource) =>
        `the last run left ${resource} unfinished, so that what it did not do is drift here. What to do: run \`pulumi up\``,
    ),
    ...[...Map.groupBy(takenOver, ({ by }) => by)].map(([by, rules]) => {
      const names = rules.slice(0, mostNames).map(({ rule }) => findingOf("changed", rule).name);
      const more = rules.length > mostNames ? ` and ${rules.length - mostNames} more` : "";
      const [are, their] = rules.length === 1 ? ["is", "its mark says"] : ["are", "their marks say"];
      return `${names.join(", ")}${more} ${are} managed by "${by}" now, as ${their}`;
    }),
  ];
}

function notesOf(
  { unreadable, withoutList }: Drift,
  { hasRules, looksForUnmanaged }: Pick<About, "hasRules" | "looksForUnmanaged">,
): string[] {
  const notes: string[] = [];
  if (!hasRules) notes.push("the stack declares no merchant rules");
  if (unreadable > 0)
    notes.push(
      `${unreadable} secret ${unreadable === 1 ? "value was" : "values were"} not compared, because nothing here can decrypt ${unreadable === 1 ? "it" : "them"}. What to do: set PULUMI_CONFIG_PASSPHRASE, or give what \`pulumi stack export --show-secrets\` prints`,
    );
  if (withoutList.length > 0)
    notes.push(
      `unmanaged rules cannot be told over connection ${withoutList.join(", ")}: its contract has no list. What to do: set operations.list in the contract, or pass --ignore-unmanaged`,
    );
  if (!looksForUnmanaged) notes.push("unmanaged rules were not looked for (--ignore-unmanaged)");
  return notes;
}

function notesOfIgnored(lines: readonly IgnoreLine[]): string[] {
  return [...Map.groupBy(lines, (line) => line)].map(([{ text, at }, { length }]) => {
    const rules = length === 1 ? "1 unmanaged rule is" : `${length} unmanaged rules are`;
    return `${rules} ignored, by ${JSON.stringify(text)} (${at})`;
  });
}
