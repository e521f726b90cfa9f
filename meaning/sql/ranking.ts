import { orderOf, type Ranked } from "../decider/order.ts";
import type { RuleReading } from "../language/normal-form.ts";
import type { Semantics } from "../language/schema.ts";

/** A rule at its place in the order of decision. */
export interface Placed {
  /** Its index as it was given. */
  readonly index: number;
  readonly outcome: string | undefined;
  /**
   * The rules of a level beat those of all later ones; 0 has those that beat none outside of their chain, and are beaten by none.
   */
  readonly level: number;
  /** Within a level, a rule beats those of its chain that have a higher rank. */
  readonly chain: string;
  readonly rank: number;
}

/** Returns the rules in an order in which none comes after one that it beats; see `decide`. */
export function placedRules(
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
