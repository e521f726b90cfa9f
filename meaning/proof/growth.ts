import type { Decision } from "../evaluate/decide.ts";
import { evaluate } from "../evaluate/evaluate.ts";
import type { Semantics } from "../language/schema.ts";
import { type Box, difference, everything, intersection } from "./box.ts";
import { changesOf, type RulesOfSide } from "./changes.ts";
import { pointIn } from "./cover.ts";
import { type PointStanding, Side } from "./side.ts";
import { Space } from "./space.ts";
import { type Witness, witnessOf } from "./witness.ts";

/** Whether rules accept a payment that they did not accept before. */
export type Growth =
  /** No payment is accepted, or perhaps accepted, that was not so before. */
  | { readonly kind: "proven" }
  /** A payment that is accepted, and was not: `evaluate` says so of both sides. */
  | { readonly kind: "wider"; readonly witness: Witness; readonly before: Decision; readonly after: Decision }
  /** The rest of a sentence that begins with "it cannot be shown, because". */
  | { readonly kind: "cannotShow"; readonly why: string };

export interface GrowthOptions {
  /** The outcome that is watched. Default: accept. */
  readonly outcome?: string;
  /** How many pieces of what changed are examined. Default: 20,000, which takes some seconds at most. */
  readonly mostPieces?: number;
}

/**
 * Decides whether the set of accepted payments grows from one list of rules to another, over all payments and all times. It can grow only
 * where a rule that declines was removed, narrowed or moved, or one that accepts was added, widened or moved; there both are compared.
 *
 * Unknown before and unknown after is no growth: such a payment may be accepted on both sides.
 */
export function growth(
  before: RulesOfSide,
  after: RulesOfSide,
  semantics: Semantics,
  { outcome = "accept", mostPieces = 20_000 }: GrowthOptions = {},
): Growth {
  const changed = changesOf(before, after, semantics, outcome);
  if (changed.mayAccept.length === 0 && changed.mayNoLongerRefuse.length === 0) return { kind: "proven" };
  const unread = [...before.rules, ...after.rules].find((reading) => reading.kind === "unknown");
  if (unread?.kind === "unknown") {
    const [fault] = unread.faults;
    return cannotShow(
      `a rule cannot be read: ${fault === undefined ? "it" : `${fault.at || "the definition"} ${fault.why}`}`,
    );
  }
  const all = [...before.rules, ...after.rules].flatMap((reading) => (reading.kind === "rule" ? [reading.rule] : []));
  const space = new Space(all, semantics);
  const regions = new Map();
  const [was, is] = [before, after].map((side) => new Side(side, outcome, space, regions));
  if (was === undefined || is === undefined || was.isTooLarge || is.isTooLarge)
    return cannotShow("the conditions of a rule have too many parts");
  const search = new Search(was, is, space, before, after, outcome);
  // Payments with all fields that surely are in what changed come first: there one that shows it is found, if there is one.
  const told = space.told();
  for (const within of [told, everything])
    for (const certainty of ["certain", "possible"] as const) {
      const boxes = [
        ...changed.mayNoLongerRefuse.flatMap((index) => was.regions[index]?.[certainty] ?? []),
        ...changed.mayAccept.flatMap((index) => is.regions[index]?.[certainty] ?? []),
      ];
      const found = search.through(
        boxes.flatMap((box) => intersection(box, within) ?? []),
        mostPieces,
      );
      if (found !== undefined) return found;
    }
  return search.open === undefined ? { kind: "proven" } : cannotShow(search.open);
}

function cannotShow(why: string): Growth {
  return { kind: "cannotShow", why };
}

/** After so many states in which nothing can be shown, the search ends. */
const mostOpen = 100;

/** Looks for a payment that is accepted after and was not before. */
class Search {
  readonly #before: Side;
  readonly #after: Side;
  readonly #space: Space;
  readonly #holds: (witness: Witness) => boolean;
  #shown: { readonly before: Decision; readonly after: Decision } | undefined;
  /** Why nothing can be claimed; undefined as long as all was proven. */
  open: string | undefined;
  #opened = 0;

  constructor(before: Side, after: Side, space: Space, ofBefore: RulesOfSide, ofAfter: RulesOfSide, outcome: string) {
    this.#before = before;
    this.#after = after;
    this.#space = space;
    const decide = ({ payment, at }: Witness, { rules, unlisted }: RulesOfSide): Decision =>
      evaluate(payment, rules, space.semantics, { at, unlisted }).decision;
    this.#holds = (witness) => {
      this.#shown = { before: decide(witness, ofBefore), after: decide(witness, ofAfter) };
      return isOnly(this.#shown.after, outcome) && isNever(this.#shown.before, outcome);
    };
  }

  /** Searches boxes. @returns undefined where all of them were examined, and no payment was found */
  through(boxes: readonly Box[], mostPieces: number): Growth | undefined {
    const pieces = [...boxes];
    for (let looked = 0; pieces.length > 0; looked += 1) {
      const piece = pieces.pop();
      if (piece === undefined) break;
      if (looked + pieces.length > mostPieces)
        return cannotShow(`what changed meets so many rules that it falls into more than ${mostPieces} pieces`);
      const point = pointIn(piece, this.#space);
      const [was, is] = [this.#before.standingAt(point), this.#after.standingAt(point)];
      const rest = is.accepts > was.accepts ? undefined : this.#rest(piece, was, is);
      if (rest !== undefined) pieces.push(...rest);
      else {
        const isWider = is.accepts === 2 && was.accepts === 0;
        const witness = isWider ? this.#witness(piece, point) : undefined;
        if (witness !== undefined && this.#shown !== undefined) return { kind: "wider", witness, ...this.#shown };
        this.open ??= isWider ? "no payment that would show it could be made" : this.#untold(point, was, is);
        this.#opened += 1;
        if (this.#opened > mostOpen) return cannotShow(this.open);
        pieces.push(...difference(piece, cellOf(piece.keys(), point), this.#space.others));
      }
    }
    return undefined;
  }

  #untold(point: (variable: number) => number, ...sides: readonly PointStanding[]): string {
    const open = sides.flatMap(({ certain, possible }) =>
      possible.filter(({ owner }) => !certain.some((sure) => sure.owner === owner)),
    );
    const lacking = new Set(
      open.flatMap(({ box }) =>
        [...box.keys()].flatMap((variable) => {
          const found = this.#space.variables[variable];
          return found?.kind === "field" && point(variable) === found.scale.missing ? [found.name] : [];
        }),
      ),
    );
    const which = lacking.size === 0 ? "some payments" : `payments without ${[...lacking].join(", ")}`;
    return `the semantics do not tell what rules decide of ${which}`;
  }

  #witness(piece: Box, point: (variable: number) => number): Witness | undefined {
    return witnessOf([cellOf(this.#space.variables.keys(), point), piece], this.#space, this.#holds);
  }

  /**
   * Returns the rest of a piece, without the payments that are no more accepted than before for the same reason as one point of it;
   * undefined where no single rule is the reason.
   */
  #rest(piece: Box, was: PointStanding, is: PointStanding): readonly Box[] | undefined {
    const ways =
      is.accepts === 1 && was.accepts === 1
        ? [[this.#after.whyAtMost(1, is), this.#before.whyAtLeast(1, was)]]
        : [
            ...(is.accepts === 0 ? [[this.#after.whyAtMost(0, is)]] : []),
            ...(was.accepts === 2 ? [[this.#before.whyAtLeast(2, was)]] : []),
          ];
    const reasons = ways.flatMap((parts) => {
      const known = parts.filter((part) => part !== undefined);
      return known.length === parts.length ? [known] : [];
    });
    const rests = reasons.map((parts) => {
      let base: Box = new Map();
      for (const part of parts) base = intersection(base, part.box) ?? base;
      const inside = intersection(piece, base);
      const except = parts
        .flatMap((part) => part.except)
        .flatMap((box) => (inside === undefined ? [] : (intersection(inside, box) ?? [])));
      return [...difference(piece, base, this.#space.others), ...except];
    });
    return rests.sort((one, other) => one.length - other.length)[0];
  }
}

/** Returns the box of the payments that are like a point in some variables. */
function cellOf(variables: Iterable<number>, point: (variable: number) => number): Box {
  return new Map([...variables].map((variable) => [variable, [point(variable), point(variable)]]));
}

function isOnly(decision: Decision, outcome: string): boolean {
  return decision.kind === "decided" && decision.outcomes.length === 1 && decision.outcomes[0] === outcome;
}

/** Returns whether a payment surely does not have the outcome, or not alone. */
function isNever(decision: Decision, outcome: string): boolean {
  if (decision.kind === "decided") return !isOnly(decision, outcome);
  return decision.possible !== undefined && !decision.possible.includes(outcome);
}
