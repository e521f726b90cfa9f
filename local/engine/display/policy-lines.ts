import { parseUrn } from "../../../stack/state/urn.ts";
import type { PackRun, PolicyFindings, Violation } from "../policies/findings.ts";
import { changedPaths } from "./changed-paths.ts";

/** A line of text, and what gives it its color: `-` what is refused, `~` what is worth a look, `+` what is in order. */
interface Line {
  readonly symbol: string;
  readonly text: string;
}

/** Returns the section that says which packs ran and what they found, laid out as the CLI's. Nothing without packs. */
export function policyLines({ packs, violations, remediations }: PolicyFindings): Line[] {
  if (packs.length === 0) return [];
  const keyOf = (finding: { pack: string; version: string }): string => `${finding.pack}@v${finding.version}`;
  const byPack = Map.groupBy(packs, ({ name, version }: PackRun) => keyOf({ pack: name, version }));
  const lines = [...byPack].sort(byText).flatMap(([key, runs]): Line[] => {
    const found = violations.filter((violation) => keyOf(violation) === key).sort(byWeight);
    const isRefused = found.some(({ level }) => level === "mandatory");
    const mark = isRefused ? "❌" : found.length > 0 ? "⚠️" : "✅";
    const folders = runs.map(({ folder }) => folder).sort();
    return [
      { symbol: "", text: `    ${mark} ${key} (local: ${folders.join("; ")})` },
      ...remediations
        .filter((remediation) => keyOf(remediation) === key)
        .flatMap(({ policy, urn, before, after }): Line[] => {
          const changes = changedPaths(before, after, null);
          if (changes.length === 0) return [];
          const head = { symbol: "", text: `        - [remediate]  ${policy}${about(urn)}` };
          return [head, ...changes.map(({ symbol, text }) => ({ symbol, text: `          ${symbol} ${text}` }))];
        }),
      ...found.flatMap(violationLines),
    ];
  });
  return [{ symbol: "", text: "Policies:" }, ...lines];
}

/** Writes a violation as the CLI does in its engine events; a message ends with a line feed there. */
export function policyEvent({ message, level, severity, ...finding }: Violation): { [key: string]: unknown } {
  return {
    resourceUrn: finding.urn,
    message: `${message}\n`,
    color: "never",
    ...policyOf(finding),
    enforcementLevel: level,
    ...(severity === "" ? {} : { severity }),
  };
}

export function policyOf({ policy, pack, version }: Pick<Violation, "policy" | "pack" | "version">) {
  return { policyName: policy, policyPackName: pack, policyPackVersion: version, policyPackVersionTag: version };
}

function violationLines({ policy, level, severity, urn, message }: Violation): Line[] {
  const weight = `[${level}]${severity === "" ? "" : ` [severity: ${severity}]`}`;
  const symbol = level === "mandatory" ? "-" : "~";
  return [
    { symbol, text: `        - ${weight}  ${policy}${about(urn)}` },
    ...message.split("\n").map((line) => ({ symbol: "", text: `          ${line}` })),
  ];
}

function about(urn: string): string {
  const { type, name } = parseUrn(urn);
  return `  (${type}: ${name})`;
}

const severities = ["critical", "high", "medium", "low", ""];

function byWeight(a: Violation, b: Violation): number {
  if (a.level !== b.level) return a.level === "mandatory" ? -1 : 1;
  const heavier = severities.indexOf(a.severity) - severities.indexOf(b.severity);
  return heavier || compare(a.policy, b.policy) || compare(a.urn, b.urn);
}

function byText([a]: [string, unknown], [b]: [string, unknown]): number {
  return compare(a, b);
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
