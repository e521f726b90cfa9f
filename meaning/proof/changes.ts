import { getOrMake } from "../../sdk/get-or-make.ts";
import { dependsOnList } from "../evaluate/decide.ts";
import type { RuleReading } from "../language/normal-form.ts";
import type { Semantics } from "../language/schema.ts";

/** One side: the rules in the order in which the service lists them. */
export interface RulesOfSide {
  readonly rules: readonly RuleReading[];
  /** As `EvaluateOptions.unlisted` has it. Default: none. */
  readonly unlisted?: ReadonlyMap<number, number>;
  /**
   * The definition of each rule as a string: a rule that cannot be read is the same on both sides where its string is. Default: none,
   * and every such rule counts as changed.
   */
  readonly texts?: readonly string[];
}

/** The rules that can make more payments have an outcome, by their index. */
export interface Changes {
  /** Of the rules after: those that give the outcome, and are not as before. */
  readonly mayAccept: readonly number[];
  /** Of the rules before: those that give another outcome, and are not as they were. */
  readonly mayNoLongerRefuse: readonly number[];
}

/** Returns what differs between two lists of rules. Where the place in the list counts, a rule that moved among the others differs. */
export function changesOf(before: RulesOfSide, after: RulesOfSide, semantics: Semantics, outcome: string): Changes {
  const pairs = alike(before, after);
  const kept = dependsOnList(semantics.wins) ? inOneOrder(pairs) : pairs;
  const [was, is] = [new Set(kept.map(([index]) => index)), new Set(kept.map(([, index]) => index))];
  const changed = (
    rules: readonly RuleReading[],
    same: ReadonlySet<number>,
    counts: (found: string | undefined) => boolean,
  ): number[] =>
    rules.flatMap((reading, index) => {
      const found = reading.kind === "rule" ? reading.rule.outcome : undefined;
      return !same.has(index) && (found === undefined || counts(found)) ? [index] : [];
    });
  return {
    mayAccept: changed(after.rules, is, (found) => found === outcome),
    mayNoLongerRefuse: changed(before.rules, was, (found) => found !== outcome),
  };
}

/**
 * Returns a string that is the same for rules that mean the same, wherever the definition says it and however it writes values.
 * @param text the definition of a rule that cannot be read; without it the result is undefined: the rule is like no other
 */
export function meaningOf(reading: RuleReading, text: string | undefined): string | undefined {
  if (reading.kind === "unknown") return text === undefined ? undefined : `text ${text}`;
  return JSON.stringify(reading.rule, (key, value) => {
    const isPlace = key === "at" && typeof value === "string" && (value === "" || value.startsWith("/"));
    return isPlace || key === "written" ? undefined : value;
  });
}

type Pair = readonly [before: number, after: number];

/** Returns the rules that both sides have, each once, in the order of the side before. */
function alike(before: RulesOfSide, after: RulesOfSide): readonly Pair[] {
  const left = new Map<string, number[]>();
  for (const [index, reading] of after.rules.entries()) {
    if (after.unlisted?.has(index)) continue;
    const meaning = meaningOf(reading, after.texts?.[index]);
    if (meaning === undefined) continue;
    getOrMake(left, meaning, (): number[] => []).push(index);
  }
  return before.rules.flatMap((reading, index): Pair[] => {
    const meaning = before.unlisted?.has(index) ? undefined : meaningOf(reading, before.texts?.[index]);
    const found = meaning === undefined ? undefined : left.get(meaning)?.shift();
    return found === undefined ? [] : [[index, found]];
  });
}

/** Returns as many of the pairs as possible whose second indexes increase, too: the longest increasing subsequence. */
function inOneOrder(pairs: readonly Pair[]): readonly Pair[] {
  const chain: { readonly pair: Pair; readonly previous: number | undefined }[] = [];
  const tails: number[] = [];
  for (const [at, pair] of pairs.entries()) {
    let [low, high] = [0, tails.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((chain[tails[middle] ?? 0]?.pair[1] ?? 0) < pair[1]) low = middle + 1;
      else high = middle;
    }
    chain.push({ pair, previous: tails[low - 1] });
    tails[low] = at;
  }
  const kept: Pair[] = [];
  for (let at = tails.at(-1); at !== undefined; at = chain[at]?.previous) {
    const link = chain[at];
    if (link !== undefined) kept.unshift(link.pair);
  }
  return kept;
}
