import { createHash } from "node:crypto";
import {
  commented,
  type DialectName,
  decisionQuery,
  dialects,
  type RefusedRule,
  type SideRules,
  type Source,
} from "../../../meaning/sql/query.ts";
import type { Json } from "../../../sdk/json/index.ts";
import { printableJson } from "../../../sdk/json/printable.ts";
import { clockOf, faultsText, type SideMeaning } from "../../meaning/meaning.ts";

export interface ScriptOptions {
  readonly dialect: DialectName;
  readonly source: Source;
  /** What the head calls the payments: their file or table. */
  readonly payments: string;
  /** The instant by which rules are in force, where that is not the payment's own. */
  readonly at?: string | undefined;
}

export interface Script {
  readonly text: string;
  /** The rules in which something cannot be said, on both sides together. */
  readonly refusedRules: number;
  /** A sentence on what was written. */
  readonly title: string;
}

/** So many refusals, and so many rules without a meaning, are named in the head. */
const mostNamed = 50;

/**
 * Writes statements by which an engine decides a table of payments: a view of each payment's decisions, before and after, and the matrix.
 * @throws MerchantRulesError SETTINGS_INVALID: `at` is no instant; or the statements are longer than {@link mostCharacters}
 */
export function sqlScript(before: SideMeaning, after: SideMeaning, options: ScriptOptions): Script {
  const { dialect, source } = options;
  const { semantics } = after;
  const at = clockOf(semantics, options.at);
  const sides = [sideOf("before", before), sideOf("after", after)];
  const query = decisionQuery(sides, { semantics, dialect, source, at });
  const refusedRules = new Set(query.refused.map(({ side, rule }) => `${side} ${rule}`)).size;
  const head = [
    `Payments decided by rules, before and after a run. SQL of ${dialects[dialect].name}, written by merchant-rules simulate --sql ${dialect}`,
    `Payments: ${options.payments}`,
    `Before: ${before.name}, ${rulesText(before.rules.length)}, SHA-256 ${hashOf(rulesIn(before))}`,
    `After: ${after.name}, ${rulesText(after.rules.length)}, SHA-256 ${hashOf(rulesIn(after))}`,
    `Semantics: SHA-256 ${hashOf(semantics)}`,
    ...(at === undefined ? [] : [`Rules in force at ${at}`]),
    ...[...new Set([...before.notes, ...after.notes])],
    ...unreadLines(sides),
    ...refusedLines(query.refused, refusedRules),
  ];
  const text = [
    ...head.map((line) => `-- ${commented(line)}`),
    ...query.settings,
    "",
    `CREATE OR REPLACE TEMPORARY VIEW ${view} AS\n${query.select};`,
    "",
    `-- The matrix. A payment without an outcome could not be read; not_exact counts those with a value that was not compared.`,
    `${matrix};\n`,
  ].join("\n");
  const told = refusedRules === 0 ? "" : `; ${rulesText(refusedRules)} cannot be said in full`;
  return { text, refusedRules, title: `SQL of ${dialects[dialect].name} for ${options.payments}${told}` };
}

const view = "merchant_rules_decisions";

const matrix = `SELECT
  mr_before_outcome AS outcome_before,
  mr_after_outcome AS outcome_after,
  mr_currency AS currency,
  count(*) AS payments,
  sum(mr_amount) AS amount,
  sum(CASE WHEN mr_is_exact THEN 0 ELSE 1 END) AS not_exact
FROM ${view}
GROUP BY mr_before_outcome, mr_after_outcome, mr_currency
ORDER BY payments DESC, outcome_before, outcome_after, currency`;

function rulesText(count: number): string {
  return `${count} ${count === 1 ? "rule" : "rules"}`;
}

function sideOf(name: string, { rules, unlisted }: SideMeaning): SideRules {
  return { name, rules, unlisted };
}

function rulesIn({ rules, unlisted }: SideMeaning): Json {
  return JSON.parse(JSON.stringify([rules.map(({ name, reading }) => ({ name, reading })), [...unlisted]]));
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

function unreadLines(sides: readonly SideRules[]): string[] {
  const unread = new Map(
    sides.flatMap(({ rules }) =>
      rules.flatMap(({ name, reading }): [string, string][] =>
        reading.kind === "rule" ? [] : [[name, faultsText(reading)]],
      ),
    ),
  );
  if (unread.size === 0) return [];
  return [
    `The meaning of ${rulesText(unread.size)} is unknown, and so may be what hangs on it:`,
    ...named([...unread].map(([name, why]) => `${printableJson(name)}: ${why}`)),
  ];
}

function refusedLines(refused: readonly RefusedRule[], rules: number): string[] {
  if (rules === 0) return ["Every rule that has a meaning is said in full"];
  const lines = refused.map(({ side, rule, at, why }) => `${side}, ${printableJson(rule)}: ${at} ${why}`);
  return [
    `${rulesText(rules)} cannot be said in full in this SQL; what cannot be said may hold or not:`,
    ...named(lines),
  ];
}

function named(lines: readonly string[]): string[] {
  const left = lines.length - mostNamed;
  return [...lines.slice(0, mostNamed), ...(left > 0 ? [`and ${left} more`] : [])].map((line) => `  ${line}`);
}
