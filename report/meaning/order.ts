import type { RuleReading, Semantics } from "../../meaning/index.ts";

/** Which rule decides, for a reader of all rules. */
export const orderWords = {
  order: "Rules are asked by their number in the order; the first that applies decides",
  precedence: "Of the rules that apply, the one with the strongest outcome decides",
  listed: "Rules are asked in the order in which the service lists them; the first that applies decides",
  all: "All rules that apply count",
} as const satisfies Record<Semantics["wins"]["by"], string>;

/**
 * Sorts rules into the order in which they are asked: lower comes first, Infinity where that is not known. For the order of lines
 * alone: decisions compare exactly.
 */
export function rankOf(reading: RuleReading, { wins }: Semantics): number {
  const { order, outcome } = reading.kind === "rule" ? reading.rule : reading.known;
  if (wins.by === "order")
    return order?.type === "decimal"
      ? numberOf(order.decimal) * (wins.order?.first === "lowest" ? 1 : -1)
      : Number.POSITIVE_INFINITY;
  const rank = wins.by === "precedence" && outcome !== undefined ? wins.precedence.indexOf(outcome) : 0;
  return rank === -1 ? Number.POSITIVE_INFINITY : rank;
}

function numberOf({ sign, digits, exponent }: { sign: string; digits: string; exponent: number }): number {
  return Number(`${sign}${digits}e${exponent}`);
}
