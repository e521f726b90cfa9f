import { beats, type Candidate, type Decision, decide } from "../evaluate/decide.ts";
import { no, type Verdict, yes } from "../evaluate/verdict.ts";
import { type Box, everything } from "./box.ts";
import { meaningOf, type RulesOfSide } from "./changes.ts";
import { BoxIndex, type Owned } from "./cover.ts";
import { regionOf } from "./region-of.ts";
import type { Space } from "./space.ts";

/** Whether payments have an outcome: 0 is no, 1 that it is not known, 2 is yes. */
type Accepts = 0 | 1 | 2;

/** The result of all rules for one point. */
export interface PointStanding {
  readonly accepts: Accepts;
  readonly certain: readonly Owned<Candidate>[];
  readonly possible: readonly Owned<Candidate>[];
}

/** The payments of a box, without those of some other boxes. */
export interface Reason {
  readonly box: Box;
  readonly except: readonly Box[];
}

interface Regions {
  readonly certain: readonly Box[];
  readonly possible: readonly Box[];
}

/** The rules of one side, all of them read, and which payments they give an outcome. */
export class Side {
  readonly regions: readonly Regions[];
  /** True where a rule has no region, because it would have too many boxes. */
  readonly isTooLarge: boolean;
  readonly #outcome: string;
  readonly #space: Space;
  readonly #certain: BoxIndex<Candidate>;
  readonly #possible: BoxIndex<Candidate>;

  /** @param known regions by what rules mean: those that both sides have are made once */
  constructor(
    { rules, unlisted }: RulesOfSide,
    outcome: string,
    space: Space,
    known: Map<string, Regions | undefined>,
  ) {
    this.#outcome = outcome;
    this.#space = space;
    let isTooLarge = false;
    this.regions = rules.map((reading) => {
      if (reading.kind === "unknown") throw new TypeError("a rule that cannot be read has no region");
      const meaning = meaningOf(reading, undefined) ?? "";
      if (!known.has(meaning)) {
        const [certain, possible] = [
          regionOf(reading.rule, "certain", space),
          regionOf(reading.rule, "possible", space),
        ];
        known.set(meaning, certain && possible && { certain, possible });
      }
      const found = known.get(meaning);
      isTooLarge ||= found === undefined;
      return found ?? { certain: [], possible: [] };
    });
    this.isTooLarge = isTooLarge;
    const candidates = rules.map((reading, index): Candidate => {
      const { outcome: own, order } = reading.kind === "rule" ? reading.rule : reading.known;
      return { outcome: own, order, index, unlisted: unlisted?.get(index) };
    });
    const owned = (certainty: "certain" | "possible"): Owned<Candidate>[] =>
      candidates.flatMap((owner, index) => (this.regions[index]?.[certainty] ?? []).map((box) => ({ box, owner })));
    this.#certain = new BoxIndex(owned("certain"), space);
    this.#possible = new BoxIndex(owned("possible"), space);
  }

  standingAt(point: (variable: number) => number): PointStanding {
    const certain = [...this.#certain.around(point)];
    const possible = [...this.#possible.around(point)];
    return { certain, possible, accepts: this.#accepts(certain, possible) };
  }

  /** Returns why payments around a point, which has at least so much, have it too; undefined where no single rule is the reason. */
  whyAtLeast(accepts: 1 | 2, standing: PointStanding): Reason | undefined {
    return this.#why(standing, true, accepts === 2);
  }

  /** Returns why payments around a point, which has at most so much, have no more; undefined as in {@link whyAtLeast}. */
  whyAtMost(accepts: 0 | 1, standing: PointStanding): Reason | undefined {
    return this.#why(standing, false, accepts === 0);
  }

  /**
   * Returns why payments have the outcome (`isOutcome`), or another one: a rule that gives it and comes before all others that spoil
   * that; or that no rule applies, where that gives it.
   * @param isSure whether they surely have it, or may have it
   */
  #why({ certain, possible }: PointStanding, isOutcome: boolean, isSure: boolean): Reason | undefined {
    const { none } = this.#space.semantics.wins;
    const [mine, theirs] = isSure ? [certain, this.#possible.boxes] : [possible, this.#certain.boxes];
    const atPoint = isSure ? possible : certain;
    const isOurs = (outcome: string | undefined): boolean => (outcome === this.#outcome) === isOutcome;
    const spoils = (other: Candidate, one: Candidate): boolean =>
      !isOurs(other.outcome) && (isSure ? !this.#beats(one, other) : this.#beats(other, one));
    const rule = mine.find(
      ({ owner }) => isOurs(owner.outcome) && !atPoint.some((other) => spoils(other.owner, owner)),
    );
    if (rule !== undefined) return { box: rule.box, except: boxesOf(theirs, (other) => spoils(other, rule.owner)) };
    if (none === null ? isSure : !isOurs(none)) return undefined;
    return { box: everything, except: boxesOf(theirs, (other) => !isOurs(other.outcome)) };
  }

  /** Returns whether one rule beats another. Where all rules count, a rule with another outcome beats one with this outcome. */
  #beats(one: Candidate, other: Candidate): boolean {
    const { wins } = this.#space.semantics;
    if (wins.by === "all") return one.outcome !== this.#outcome && other.outcome === this.#outcome;
    return beats(one, other, wins);
  }

  #accepts(certain: readonly Owned<Candidate>[], possible: readonly Owned<Candidate>[]): Accepts {
    const { wins } = this.#space.semantics;
    const sure = new Set(certain.map(({ owner }) => owner.index));
    const rules = [...new Set(possible.map(({ owner }) => owner))].sort((one, other) => one.index - other.index);
    if (wins.by !== "all") {
      const standings = rules.map((rule) => ({ ...rule, applies: (sure.has(rule.index) ? yes : yes | no) as Verdict }));
      // decide() takes the place in the list for the index: the order among these few is the same.
      return acceptsBy(decide(standings, this.#space.semantics), this.#outcome);
    }
    const others = rules.filter(({ outcome }) => outcome !== this.#outcome);
    if (others.some(({ index }) => sure.has(index))) return 0;
    const own = rules.filter(({ outcome }) => outcome === this.#outcome);
    const isSure = own.some(({ index }) => sure.has(index));
    if (others.length > 0) return own.length > 0 || wins.none === null || wins.none === this.#outcome ? 1 : 0;
    if (isSure || wins.none === this.#outcome) return 2;
    return own.length > 0 || wins.none === null ? 1 : 0;
  }
}

function acceptsBy(decision: Decision, outcome: string): Accepts {
  if (decision.kind === "decided") return decision.outcomes[0] === outcome ? 2 : 0;
  return decision.possible === undefined || decision.possible.includes(outcome) ? 1 : 0;
}

function boxesOf(owned: readonly Owned<Candidate>[], counts: (owner: Candidate) => boolean): Box[] {
  return owned.filter(({ owner }) => counts(owner)).map(({ box }) => box);
}
