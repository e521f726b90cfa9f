import type { Semantics } from "../language/schema.ts";
import { compareValues, type Value } from "../language/values.ts";
import { no, type Verdict, yes } from "./verdict.ts";

/** What rules decide of one payment. */
export type Decision =
  | {
      readonly kind: "decided";
      /** One outcome; where all rules that apply count, each once, sorted. */
      readonly outcomes: readonly string[];
      /** The indexes of the rules that decide. Several: it is unknown which of them, but they agree; or all count. None: no rule applies. */
      readonly by: readonly number[];
    }
  | {
      readonly kind: "unknown";
      /** The outcomes that it may have, sorted; undefined where it may be any. */
      readonly possible: readonly string[] | undefined;
      /** The rules for which it is unknown whether they apply, what they decide, or which of them comes first. */
      readonly because: readonly number[];
    };

/** One rule as the decision takes it. */
export interface Standing {
  /** yes, no, or both where it is not known. */
  readonly applies: Verdict;
  /** Undefined where it could not be read. */
  readonly outcome: string | undefined;
  /** Undefined where it could not be read, or nothing is ordered. */
  readonly order: Value | undefined;
  /** As `EvaluateOptions.unlisted` has it. */
  readonly unlisted?: number | undefined;
}

/** Decides one payment by all rules, which are in the order in which the service lists them. `by` and `because` hold their indexes. */
export function decide(rules: readonly Standing[], { wins }: Semantics): Decision {
  const candidates = rules.map((rule, index) => ({ ...rule, index })).filter(({ applies }) => applies !== no);
  const isCertain = candidates.some(({ applies }) => applies === yes);
  if (wins.by === "all") return ofAll(candidates, isCertain, wins.none);
  const best: (Candidate & Standing)[] = [];
  for (const candidate of candidates.filter(({ applies }) => applies === yes)) {
    if (best.some((other) => beats(other, candidate, wins))) continue;
    const kept = best.filter((other) => !beats(candidate, other, wins));
    best.splice(0, best.length, ...kept, candidate);
  }
  const winners = candidates.filter((candidate) => !best.some((other) => beats(other, candidate, wins)));
  const outcomes = [...winners.map(({ outcome }) => outcome), ...(isCertain ? [] : [wins.none ?? undefined])];
  const known = outcomes.filter((outcome) => outcome !== undefined);
  const distinct = [...new Set(known)].sort();
  const by = winners.map(({ index }) => index);
  if (known.length === outcomes.length && distinct.length === 1) return { kind: "decided", outcomes: distinct, by };
  return { kind: "unknown", possible: known.length === outcomes.length ? distinct : undefined, because: by };
}

/** A rule among others: its place in the order in which they were given. */
export type Candidate = Omit<Standing, "applies"> & { readonly index: number };

/** Returns whether one rule, if it applies, surely comes before the other. Where all rules count, none does. */
export function beats(one: Candidate, other: Candidate, wins: Semantics["wins"]): boolean {
  if (wins.by === "all") return false;
  if (wins.by === "listed") return isBefore(one, other);
  if (wins.by === "precedence") return isStronger(one, other, wins);
  if (wins.order === null || one.order === undefined || other.order === undefined) return false;
  const order = compareValues(one.order, other.order) * (wins.order.first === "lowest" ? 1 : -1);
  if (order !== 0) return order < 0;
  switch (wins.order.equal) {
    case "firstListed":
      return isBefore(one, other);
    case "lastListed":
      return isBefore(other, one);
    case "precedence":
      return isStronger(one, other, wins);
    case "unknown":
      return false;
  }
}

/** Returns whether the order in which the service lists rules can decide between them. */
export function dependsOnList({ by, order }: Semantics["wins"]): boolean {
  return by === "listed" || (by === "order" && (order?.equal === "firstListed" || order?.equal === "lastListed"));
}

/** Returns whether the service surely lists one rule before the other. */
function isBefore(one: Candidate, other: Candidate): boolean {
  return one.unlisted === other.unlisted && one.index < other.index;
}

function isStronger(one: Candidate, other: Candidate, { precedence }: Semantics["wins"]): boolean {
  const [rank, otherRank] = [one, other].map(({ outcome }) =>
    outcome === undefined ? -1 : precedence.indexOf(outcome),
  );
  return rank !== undefined && otherRank !== undefined && rank >= 0 && otherRank >= 0 && rank < otherRank;
}

function ofAll(candidates: readonly (Candidate & Standing)[], isCertain: boolean, none: string | null): Decision {
  const certain = candidates.filter(({ applies }) => applies === yes);
  const outcomes = new Set(certain.flatMap(({ outcome }) => outcome ?? []));
  const open = candidates.filter(({ applies, outcome }) =>
    outcome === undefined ? true : applies !== yes && !outcomes.has(outcome),
  );
  if (open.length === 0 && isCertain)
    return { kind: "decided", outcomes: [...outcomes].sort(), by: certain.map(({ index }) => index) };
  if (open.length === 0 && none !== null) return { kind: "decided", outcomes: [none], by: [] };
  const mayBe = [...outcomes, ...open.map(({ outcome }) => outcome), ...(isCertain ? [] : [none ?? undefined])];
  const known = mayBe.filter((outcome) => outcome !== undefined);
  const because = open.map(({ index }) => index);
  if (known.length < mayBe.length) return { kind: "unknown", possible: undefined, because };
  const possible = [...new Set(known)].sort();
  // Whether they apply or not, the payment has the one outcome that it would have without them.
  return possible.length === 1
    ? { kind: "decided", outcomes: possible, by: because }
    : { kind: "unknown", possible, because };
}
