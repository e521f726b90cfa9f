import { orderOf, type Ranked } from "../decider/order.ts";
import type { RuleReading } from "../language/normal-form.ts";
import type { Semantics } from "../language/schema.ts";
import type { Conditions, Refusal } from "./conditions.ts";
import { isFalse, isTrue } from "./dialect.ts";

export interface SideRules {
  /** What the columns of the side begin with: `before`. */
  readonly name: string;
  readonly rules: readonly { readonly name: string; readonly reading: RuleReading }[];
  /** As `EvaluateOptions.unlisted`. */
  readonly unlisted: ReadonlyMap<number, number>;
}

/** A comparison that a dialect cannot express, and its rule. */
export interface RefusedRule extends Refusal {
  readonly rule: string;
  readonly side: string;
}

/** A rule in SQL, at its place in the order of decision. */
export interface SaidRule extends Placed {
  readonly name: string;
  /** True, false, or SQL null where it is not known whether it applies. */
  readonly sql: string;
  /** As `RuleSql.plain`. */
  readonly plain: string;
  /** The number of its outcome, from 1; 0 where it could not be read. */
  readonly outcomeNumber: number;
}

/** The rules of a side that may apply to any payment, in the order of decision. */
export interface SaidSide {
  readonly rules: readonly SaidRule[];
  /** Where none of these is true of a row, the rules before the position `open` are known. */
  readonly opens: readonly string[];
  /** The position, from 1, of the first rule that may be unknown of any row; undefined where there is none. */
  readonly open: number | undefined;
  readonly refused: readonly RefusedRule[];
}

/** Writes the rules of a side as SQL. @throws MerchantRulesError SETTINGS_INVALID: the instant of the conditions is none */
export function saidSide(
  side: SideRules,
  conditions: Conditions,
  semantics: Semantics,
  outcomes: readonly string[],
): SaidSide {
  const refused: RefusedRule[] = [];
  const opens = new Set<string>();
  const rules: SaidRule[] = [];
  let open: number | undefined;
  const readings = side.rules.map(({ reading }) => reading);
  for (const placed of placedRules(readings, semantics, side.unlisted)) {
    const rule = side.rules[placed.index];
    if (rule === undefined) throw new TypeError(`there is no rule ${placed.index}`);
    const said = conditions.of(rule.reading.kind === "rule" ? rule.reading.rule : rule.reading.known);
    refused.push(...said.refusals.map((each) => ({ ...each, rule: rule.name, side: side.name })));
    // A rule that applies to no payment takes part in nothing.
    if (said.sql === isFalse) continue;
    const outcomeNumber = placed.outcome === undefined ? 0 : outcomes.indexOf(placed.outcome) + 1;
    rules.push({ ...placed, name: rule.name, sql: said.sql, plain: said.plain, outcomeNumber });
    if (said.opens.includes(isTrue)) open ??= rules.length;
    for (const opener of said.opens) if (opener !== isTrue) opens.add(opener);
  }
  return { rules, opens: [...opens], open, refused };
}

/** A rule at its place in the order of decision. */
export interface Placed {
  /** Its index as it was given. */
  readonly index: number;
  readonly outcome: string | undefined;
  /** The rules of a level beat all of later ones; those of 0 beat none outside of their chain, and are beaten by none. */
  readonly level: number;
  /** Within a level, a rule beats those of its chain that have a higher rank. */
  readonly chain: string;
  readonly rank: number;
}

/** Returns the rules in an order in which none comes after one that it beats; see `decide`. */
function placedRules(
  rules: readonly RuleReading[],
  { wins }: Semantics,
  unlisted: ReadonlyMap<number, number>,
): readonly Placed[] {
  const ranked = rules.map((reading, index): Ranked => {
    const { outcome, order } = reading.kind === "rule" ? reading.rule : reading.known;
    return { index, outcome, order, unlisted: unlisted.get(index) };
  });
  const { groups, firstBeaten } = orderOf(ranked, wins);
  return groups.flatMap((group, number) =>
    group
      .map(({ index, outcome, unlisted: of }): Placed => {
        const level = number + 1 - firstBeaten;
        return { index, outcome, level, ...placeIn(level, index, outcome, of, wins) };
      })
      .sort((one, other) => one.rank - other.rank),
  );
}

function placeIn(
  level: number,
  index: number,
  outcome: string | undefined,
  unlisted: number | undefined,
  { by, order, precedence }: Semantics["wins"],
): { readonly chain: string; readonly rank: number } {
  const alone = { chain: `rule ${index}`, rank: 0 };
  const listed = `${level} ${unlisted ?? "listed"}`;
  if (by === "listed") return { chain: listed, rank: index };
  if (by !== "order" || level === 0) return alone;
  if (order?.equal === "firstListed") return { chain: listed, rank: index };
  if (order?.equal === "lastListed") return { chain: listed, rank: -index };
  const rank = outcome === undefined ? -1 : precedence.indexOf(outcome);
  return order?.equal === "precedence" && rank >= 0 ? { chain: `${level} precedence`, rank } : alone;
}
