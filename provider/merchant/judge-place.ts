/**
 * The verdict on a place: facts in, a verdict out. It is asked before a write, and before a read is believed. The first line
 * that applies decides.
 */

/** A word of the user for one run, about the connection of a row and the connection now. */
export type PairWord =
  /** One merchant: what is not there is gone. */
  | "same"
  /** Two merchants: the rules stay behind. */
  | "moved";

/** What can be told without a look at any rule. */
export interface PlaceFacts {
  /** By the identities that are known: equal, different, or undefined where there are no two to compare. */
  readonly isSameIdentity: boolean | undefined;
  /** The remembered place is the place now. */
  readonly isSamePlace: boolean;
  readonly word: PairWord | undefined;
}

/** What the known rules show that were looked at. */
export type Witness =
  /** One was seen with its very mark, or under an id that no other merchant has. */
  | "strong"
  /** Enough of them are whole as known. */
  | "weak"
  | "none";

export type PlaceVerdict =
  | "proven"
  /** Judged again for the next rule; a rule that is not itself as known is neither touched nor believed. */
  | "weakly proven"
  /** The rules that the row knows stay behind. */
  | "elsewhere"
  | "refused: another identity"
  | "refused: nothing tells";

/** The lines that need no look; undefined where known rules have to be looked at. */
export function judgePlace({ isSameIdentity, isSamePlace, word }: PlaceFacts): PlaceVerdict | undefined {
  if (isSameIdentity === true) return "proven";
  if (isSameIdentity === false) return word === "moved" ? "elsewhere" : "refused: another identity";
  return isSamePlace ? "proven" : undefined;
}

/** The lines after a look at known rules. */
export function judgeWitness(witness: Witness, word: PairWord | undefined): PlaceVerdict {
  if (witness === "strong" || word === "same") return "proven";
  if (word === "moved") return "elsewhere";
  return witness === "weak" ? "weakly proven" : "refused: nothing tells";
}

/** What one known rule shows of the place: its row's mark or an opaque id; or that it is whole as known. */
export type Sign = "strong" | "weak" | "none";

/** Sums up what known rules show: one strong sign is enough; of weak ones more than half, all of one or two. */
export function witnessOf(signs: readonly Sign[], mayBeWeak: boolean): Witness {
  if (signs.includes("strong")) return "strong";
  const weak = signs.filter((sign) => sign === "weak").length;
  const isEnough = signs.length <= 2 ? weak === signs.length : 2 * weak > signs.length;
  return mayBeWeak && weak > 0 && isEnough ? "weak" : "none";
}
