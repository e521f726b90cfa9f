import type { Semantics } from "../language/schema.ts";
import { Conditions } from "./conditions.ts";
import { DecisionSql } from "./decision.ts";
import { type Dialect, kinds } from "./dialect.ts";
import { duckdb } from "./duckdb.ts";
import { fieldSteps, type Step, select } from "./field-steps.ts";
import { Fields, type Source } from "./fields.ts";
import { type RefusedRule, type SideRules, saidSide } from "./side-rules.ts";
import { spark } from "./spark.ts";

export { commented } from "./decision.ts";
export { type Columns, ownColumns, type Source } from "./fields.ts";
export type { RefusedRule, SideRules } from "./side-rules.ts";

/** The engines whose SQL can be written. */
export const dialects = { duckdb, spark } as const;
export type DialectName = keyof typeof dialects;

export interface QueryOptions {
  readonly semantics: Semantics;
  readonly dialect: DialectName;
  readonly source: Source;
  /** As `EvaluateOptions.at`. */
  readonly at?: string | undefined;
}

export interface Query {
  /** Statements to run before the query. */
  readonly settings: readonly string[];
  /**
   * A select of a row for each payment: the columns of the source, and `mr_is_read`, `mr_is_exact`, `mr_amount`, `mr_currency`, and for
   * each side `mr_SIDE_outcome`, `mr_SIDE_is_known` and `mr_SIDE_rules`.
   */
  readonly select: string;
  /** Comparisons that the dialect cannot express. What depends on them is unknown. */
  readonly refused: readonly RefusedRule[];
}

/**
 * Returns the query that decides payments by the rules of sides as the evaluator does. What SQL cannot decide exactly is unknown.
 * @throws MerchantRulesError SETTINGS_INVALID: `at` is no instant
 */
export function decisionQuery(
  sides: readonly SideRules[],
  { semantics, dialect: name, source, at }: QueryOptions,
): Query {
  const dialect = dialects[name];
  const fields = new Fields(semantics, source);
  const conditions = new Conditions(semantics, dialect, fields, at);
  const outcomes = outcomesOf(sides, semantics);
  const said = sides.map((side) => saidSide(side, conditions, semantics, outcomes));
  const facts = amountColumns(fields, semantics, dialect);
  const decisions = said.map((side, index) =>
    new DecisionSql(sides[index]?.name ?? "", side, semantics, dialect, outcomes).steps(),
  );
  const steps: Step[] = [...fieldSteps(fields, source, dialect)];
  const count = Math.max(...decisions.map((each) => each.length));
  for (let number = 0; number < count; number += 1) {
    const columns = decisions.flatMap((each) => each[number] ?? []);
    steps.push([`mr_step_${number + 1}`, select(["*", ...columns], steps.at(-1)?.[0] ?? "")]);
  }
  const answers = sides.flatMap(({ name: side }) => [`mr_${side}_outcome`, `mr_${side}_is_known`, `mr_${side}_rules`]);
  const last = select(["mr_payment.*", "mr_is_read", "mr_is_exact", ...facts, ...answers], steps.at(-1)?.[0] ?? "");
  const tables = steps.map(([table, text]) => `${table} AS (\n${text}\n)`).join(",\n");
  return {
    settings: dialect.settings,
    select: `WITH ${tables}\n${last}`,
    refused: said.flatMap(({ refused }) => refused),
  };
}

/** Returns all possible outcomes, in the order in which reports have them. */
function outcomesOf(sides: readonly SideRules[], { wins }: Semantics): string[] {
  const known = sides.flatMap(({ rules }) =>
    rules.map(({ reading }) => (reading.kind === "rule" ? reading.rule.outcome : reading.known.outcome)),
  );
  return [...new Set([...known, wins.none ?? undefined].filter((outcome) => outcome !== undefined))].sort();
}

/** Returns the columns of the amount and its currency: null unless a payment has both, and where sums might not be exact. */
function amountColumns(fields: Fields, { payment }: Semantics, { isAll, int }: Dialect): string[] {
  const none = ["CAST(NULL AS DECIMAL(38, 6)) AS mr_amount", "NULL AS mr_currency"];
  const { amount } = payment;
  if (amount === null) return none;
  const [own, currency] = [fields.use(amount.field), fields.use(amount.currency)];
  if (typeof own === "string" || typeof currency === "string") return none;
  const { value, text, has } = own;
  // The key has the power of ten above the first digit, and the digits.
  const number = `TRY_CAST(substr(${value}, 2, 3) AS ${int})`;
  const size = `CASE WHEN substr(${value}, 1, 1) = '2' THEN ${number} - 500 ELSE 500 - ${number} END`;
  const digits = `length(${value}) - CASE WHEN substr(${value}, 1, 1) = '2' THEN 4 ELSE 5 END`;
  const fits = `${has} AND (${value} = '1' OR (${size} <= 18 AND ${digits} - (${size}) <= 6))`;
  const isNamed = `${currency.kind} = ${kinds.text} AND ${isAll(currency.text, "[A-Za-z]{2,8}")}`;
  return [
    `CASE WHEN ${fits} AND ${isNamed} THEN TRY_CAST(${text} AS DECIMAL(38, 6)) END AS mr_amount`,
    `CASE WHEN ${fits} AND ${isNamed} THEN ${currency.text} END AS mr_currency`,
  ];
}
