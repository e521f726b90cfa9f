import { defaultConnection } from "../../provider/settings/setting-names.ts";
import { defined, pathOf } from "../../sdk/json/index.ts";
import type { IgnoreLine } from "../files/ignore-file.ts";
import { contentOf } from "../model/content.ts";
import { type Finding, type Report, reportOf } from "../model/report.ts";
import { namesIn, type RuleName } from "../state/state-resource.ts";
import { firstNames } from "../words/report-words.ts";
import type { Drift } from "./drift.ts";
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

/** Makes the report on a drift. What is ignored is counted, and is never a rule of the stack. */
export function driftReport(drift: Drift, { subject, project, ignoring, ...about }: About): Report {
  const unmanaged = unmanagedFindings(drift.unmanaged, ignoring);
  return reportOf({
    report: "drift",
    subject,
    project,
    about: aboutDrift(drift),
    rules: drift.rules,
    unchanged: drift.rules - drift.missing.length - differing(drift).size,
    findings: [
      ...drift.missing.map((rule) => ({
        ...findingOf("missing", rule),
        ...contentOf({ before: rule.declared }),
        ...defined({ reason: rule.ruleId === undefined ? "the last run did not make it" : undefined }),
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
        ...defined({ owner, changedBy: rule.changedBy, changedAt: rule.changedAt }),
        paths: differences.map(({ path, before, after, isSecret }) =>
          defined({ path: pathOf(path), before, after, secret: isSecret }),
        ),
      })),
      ...undeclaredFindings(drift),
      ...unmanaged.findings,
    ],
    warnings: driftWarnings(drift),
    notes: [...drift.read, ...notesOf(drift, about), ...unmanaged.notes],
  });
}

/** Returns the rules of a stack that are there and not as they were left, each once. */
function differing({ changed, undeclared }: Drift): ReadonlySet<string> {
  return new Set([...changed, ...undeclared].map(({ resource, key }) => JSON.stringify([resource, key])));
}

/** Returns the findings of fields that no program declares. */
export function undeclaredFindings({ undeclared }: Pick<Drift, "undeclared">): Finding[] {
  return undeclared.map(({ differences, declared: _, changedBy, changedAt, ...rule }) => ({
    ...findingOf("undeclared", rule),
    ...defined({ changedBy, changedAt }),
    paths: differences.map(({ path, after, isSecret }) => defined({ path: pathOf(path), after, secret: isSecret })),
  }));
}

/** Says which side of a path is which, and the ways on; nothing where no rule of the stack differs. */
function aboutDrift({ changed, missing, undeclared }: Drift): string[] {
  const ofAdded =
    "A field that no program declares and that came since the last write: declare it, remove it at the service, or name it in rule.readOnly of the contract where the service sets it by itself.";
  return [...aboutChanged({ changed, missing }), ...(undeclared.length === 0 ? [] : [ofAdded])];
}

function aboutChanged({ changed, missing }: Pick<Drift, "changed" | "missing">): string[] {
  if (changed.length + missing.length === 0) return [];
  return [
    ...(changed.length === 0 ? [] : ["Of each path: declared → at the service."]),
    "To have the rules as declared: `pulumi up --refresh`. To take what is at the service into the files: `npx --no-install merchant-rules pull`.",
  ];
}

/** Returns the findings of rules that nobody declares, and notes of those that are ignored. */
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

/** Returns the names of a rule as findings have them: the default connection is not named. */
export function findingNames(rule: RuleName) {
  const { connection, ...names } = namesIn(rule);
  return { ...names, ...connectionIn({ connection }) };
}

/** Returns the connection of a rule as findings have it: the default one is not named. */
export function connectionIn({ connection }: { readonly connection: string }): Pick<Finding, "connection"> {
  return connection === defaultConnection ? {} : { connection };
}

function findingOf(change: Finding["change"], rule: RuleName): Finding {
  return { change, ...findingNames(rule), paths: [] };
}

function unmanagedFinding(rule: UnmanagedRule): Finding {
  const { naturalKey, ruleId, owner, isAnothers, isLeftOver, live, changedBy, changedAt } = rule;
  return {
    change: isAnothers ? "anothers" : "unmanaged",
    name: naturalKey ?? ruleId,
    ruleId,
    ...connectionIn(rule),
    ...defined({ owner, changedBy, changedAt, reason: isLeftOver ? leftOver : undefined }),
    ...contentOf({ after: live }),
    paths: [],
  };
}

const leftOver =
  "left over: its mark is this stack's, and no resource in the state has it. The program that declares it again takes it over; else delete it at the service";

/** Returns what a reader of a drift must not overlook: lists that may be cut, unfinished runs, and rules that are not the stack's any more. */
export function driftWarnings({ unfinished, notOurs, mayBeCut }: Drift): string[] {
  return [
    ...mayBeCut,
    ...unfinished.map(
      (resource) =>
        `the last run did not finish ${resource}: not all of its rules are as the program declares them. What to do: run \`pulumi up\``,
    ),
    ...[...Map.groupBy(notOurs, ({ why }) => why)].map(([why, rules]) => {
      const names = firstNames(rules.map(({ rule }) => namesIn(rule).name));
      return `${names}${rules.length === 1 ? "" : ": each"} ${why}`;
    }),
  ];
}

function notesOf(
  { unreadable, unlooked, withoutList }: Drift,
  { hasRules, looksForUnmanaged }: Pick<About, "hasRules" | "looksForUnmanaged">,
): string[] {
  const notes: string[] = [];
  if (!hasRules) notes.push("the stack declares no merchant rules");
  if (unreadable > 0)
    notes.push(
      `${unreadable} secret ${unreadable === 1 ? "value was" : "values were"} not compared, because nothing here can decrypt ${unreadable === 1 ? "it" : "them"}. What to do: set PULUMI_CONFIG_PASSPHRASE, or give what \`pulumi stack export --show-secrets\` prints`,
    );
  if (unlooked > 0)
    notes.push(
      `of ${unlooked} ${unlooked === 1 ? "rule" : "rules"} the state does not say which fields nobody declared, so that none that was added is told. The next write of such a rule looks`,
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
