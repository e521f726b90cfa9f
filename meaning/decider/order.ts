import type { Semantics } from "../language/schema.ts";
import { compareValues, type Value } from "../language/values.ts";

/** The facts about a rule that say which others it comes before. */
export interface Ranked {
  readonly index: number;
  readonly outcome: string | undefined;
  readonly order: Value | undefined;
  readonly unlisted: number | undefined;
}

/** Rules in an order in which none comes after one that it beats, in groups that beat all later ones. */
export interface Order {
  /** First those that beat nothing outside of their kind, and are not beaten by others. */
  readonly groups: readonly (readonly Ranked[])[];
  /** The first group that is beaten by those before it. */
  readonly firstBeaten: number;
}

/** Sorts rules into groups as `decide` has them beat each other: a rule that surely applies ends the search behind its group. */
export function orderOf(rules: readonly Ranked[], wins: Semantics["wins"]): Order {
  const rankOf = (rule: Ranked): Value | number | undefined => {
    if (wins.by === "all") return undefined;
    if (wins.by === "listed") return rule.unlisted === undefined ? rule.index : undefined;
    if (wins.by === "order") return rule.order;
    const rank = rule.outcome === undefined ? -1 : wins.precedence.indexOf(rule.outcome);
    return rank < 0 ? undefined : rank;
  };
  const free: Ranked[] = [];
  const ranked: { readonly rule: Ranked; readonly rank: Value | number }[] = [];
  for (const rule of rules) {
    const rank = rankOf(rule);
    if (rank === undefined) free.push(rule);
    else ranked.push({ rule, rank });
  }
  const turned = wins.by === "order" && wins.order?.first === "highest" ? -1 : 1;
  ranked.sort((one, other) => turned * compareRanks(one.rank, other.rank) || one.rule.index - other.rule.index);
  const groups: Ranked[][] = [];
  let last: Value | number | undefined;
  for (const { rule, rank } of ranked) {
    if (last === undefined || compareRanks(last, rank) !== 0) groups.push([]);
    groups.at(-1)?.push(rule);
    last = rank;
  }
  const single = groups.flatMap((group) => inListedOrder(group, wins));
  return { groups: free.length === 0 ? single : [free, ...single], firstBeaten: free.length === 0 ? 0 : 1 };
}

/** Splits rules with the same number into groups of one, where their place in the service's list decides and is known of all. */
function inListedOrder(group: readonly Ranked[], { by, order }: Semantics["wins"]): readonly (readonly Ranked[])[] {
  const equal = by === "order" ? order?.equal : undefined;
  if (equal !== "firstListed" && equal !== "lastListed") return [group];
  if (group.some(({ unlisted }) => unlisted !== undefined)) return [group];
  const single = group.map((rule) => [rule]);
  return equal === "firstListed" ? single : single.reverse();
}

function compareRanks(one: Value | number, other: Value | number): number {
  if (typeof one === "number" || typeof other === "number") return Number(one) - Number(other);
  return compareValues(one, other);
}
