/**
 * The decisions of whose a rule is, as tables: facts in, a verdict out. Nothing here looks anything up, and nothing
 * elsewhere decides it again. In each table the first line that applies decides.
 */

/** A row of another resource, beside a live rule or another row: the same rule, another, or nobody can tell. */
export type Claim = "yes" | "no" | "unclear";

/** What tells whether two sightings of one id are one rule. */
export interface ClaimFacts {
  readonly isSamePlace: boolean;
  /** Undefined: there are no two identities to compare. */
  readonly isSameIdentity: boolean | undefined;
  readonly word: "same" | "moved" | undefined;
  readonly isOpaque: boolean;
  /** Undefined: the row has no mark. */
  readonly isSameMark: boolean | undefined;
}

/** The claim of another resource's heard row on a live rule with its id. */
export function judgeClaim({ isSamePlace, isSameIdentity, word, isOpaque, isSameMark }: ClaimFacts): Claim {
  if (isSamePlace) return "yes";
  if (isSameIdentity !== undefined) return isSameIdentity ? "yes" : "no";
  if (word !== undefined) return word === "same" ? "yes" : "no";
  if (isOpaque) return "yes";
  if (isSameMark !== undefined) return isSameMark ? "yes" : "no";
  return "unclear";
}

/** Whether two rows with one id are one rule. */
export function judgeRows({ isSamePlace, isSameIdentity, word, isOpaque }: Omit<ClaimFacts, "isSameMark">): Claim {
  if (isSamePlace || isOpaque) return "yes";
  if (isSameIdentity !== undefined) return isSameIdentity ? "yes" : "no";
  if (word === undefined) return "unclear";
  return word === "same" ? "yes" : "no";
}

/** What tells whether the live rule under a known id is ours. */
export interface OursFacts {
  /** The live rule's mark: none, the row's own or as this resource would write it now, or another. */
  readonly mark: "none" | "own" | "another";
  /** The row has a mark. */
  readonly wasMarked: boolean;
  /** An id that is not given again: opaque, or chosen by us. */
  readonly isLasting: boolean;
  /** The live rule has the row's natural key; undefined: the contract has none. */
  readonly isSameKey: boolean | undefined;
}

export function isOurs({ mark, wasMarked, isLasting, isSameKey }: OursFacts): boolean {
  if (mark !== "none") return mark === "own";
  if (isLasting) return true;
  return isSameKey ?? !wasMarked;
}

/** A rule that the state knows, at a place that is proven, strongly or weakly. */
export interface KnownFacts {
  readonly isThere: boolean;
  readonly isWeak: boolean;
  /** As the row knows it: all declared fields and the mark. */
  readonly isWhole: boolean;
  readonly isOurs: boolean;
}

/** `read`: believe what is live. */
export function judgeRead({ isThere, isWeak, isWhole, isOurs }: KnownFacts) {
  if (isWeak && !(isThere && isWhole)) return "cannot tell";
  if (!isThere) return "gone";
  return isOurs ? "as live" : "not ours";
}

/** The same, and what others and the program say of the rule. */
export interface UpdateFacts extends KnownFacts {
  /** The strongest claim of another resource's heard row. */
  readonly claim: Claim;
  /** The claiming resource and this one declare one natural key. */
  readonly isSameKeyDeclared: boolean;
  /** The live mark, without marks the content, is this row's and not the other's. */
  readonly isThisRowsAlone: boolean;
  /** The program says `adopt: "<ruleId>"` of this very rule. */
  readonly isAdopted: boolean;
}

/** `update`: change the rule to be as declared. */
export function judgeUpdate(facts: UpdateFacts) {
  const { isThere, isWeak, isWhole, isOurs, claim, isSameKeyDeclared, isThisRowsAlone, isAdopted } = facts;
  if (isWeak && !(isThere && (isWhole || isAdopted))) return "refused: cannot tell";
  if (!isThere) return "make anew";
  if (claim === "unclear") return "refused: unclear";
  if (claim === "yes") {
    if (isSameKeyDeclared) return "refused: two hold it";
    return isThisRowsAlone ? "refused: the other row's" : "make own";
  }
  if (isOurs) return "write";
  return isAdopted ? "take over" : "refused: not ours";
}

/** A rule that is to be deleted, and what others say of it. */
export interface DeleteFacts extends KnownFacts {
  /** Whether a heard row has the same rule; undefined: none has its id. */
  readonly other: Claim | undefined;
  /** The contract has marks. */
  readonly hasMarks: boolean;
  /** The live mark is the other row's. */
  readonly isOthersMark: boolean;
}

/** `delete`: the lines that ask what other resources hold, before anything is looked at. */
export function judgePassing({ other, hasMarks, isOthersMark }: Omit<DeleteFacts, keyof KnownFacts>) {
  if (other === undefined || other === "no") return "goes on";
  if (other === "yes") return "passed on";
  if (!hasMarks) return "refused: unclear";
  return isOthersMark ? "passed on, said" : "goes on";
}

/** `delete`: take the rule away. */
export function judgeDelete({ isThere, isWeak, isWhole, isOurs }: KnownFacts) {
  if (isWeak && !(isThere && isWhole)) return "refused: cannot tell";
  if (!isThere) return "done";
  return isOurs ? "delete" : "let go, said";
}

/** A listed rule, beside a resource that is to be made. */
export interface ListedFacts {
  /** The rule that this resource is replaced from. */
  readonly isReplaced: boolean;
  readonly claim: Claim;
  /** The service's own rule (contract `rule.foreign`). */
  readonly isForeign: boolean;
  /** Its natural key is the declared one; undefined: the contract has none. */
  readonly isSameKey: boolean | undefined;
  readonly mark: MarkOfListed;
  /** Its id is one that this resource chooses, and it has no other's mark. */
  readonly isChosen: boolean;
}

export type MarkOfListed =
  | "none"
  /** Owner id and resource as this resource would write them now. */
  | "own"
  /** Our owner id, another resource. */
  | "our stack's"
  /** This resource's names and hash under another owner id: the Owner of a killed first run was lost. */
  | "a lost owner's"
  | "another's";

export type ListedVerdict =
  | "passed over"
  | "found"
  | "move"
  | "another's"
  | "refused: claimed"
  | "refused: unclear"
  | "refused: the service's own"
  | "refused: a lost owner's";

/** One listed rule. */
export function judgeListed(facts: ListedFacts): ListedVerdict {
  const { isReplaced, claim, isForeign, isSameKey, mark, isChosen } = facts;
  const hasKey = isSameKey === true;
  if (isReplaced) return "passed over";
  if (claim === "yes") return hasKey ? "refused: claimed" : "passed over";
  if (claim === "unclear" && (hasKey || mark === "own")) return "refused: unclear";
  if (claim === "unclear") return "passed over";
  if (isForeign) return hasKey ? "refused: the service's own" : "passed over";
  if (mark === "own" || isChosen) return isSameKey === false ? "passed over" : "found";
  if (mark === "a lost owner's") return "refused: a lost owner's";
  if (!hasKey) return "passed over";
  return mark === "our stack's" ? "move" : "another's";
}

/** What a create does with all that is listed. The number says which of them. */
export interface FoundFacts {
  readonly verdict: ListedVerdict;
  /** As declared: all declared fields. */
  readonly isEqual: boolean;
  /** As declared, and nothing beside that. */
  readonly isWhole: boolean;
  readonly mark: MarkOfListed;
}

export interface CreateWords {
  /** `adopt: true` of the program. */
  readonly adopt: boolean;
  /** `recover` of the user. */
  readonly recover: boolean;
  readonly hasNaturalKey: boolean;
  readonly canUpdate: boolean;
}

export type CreateVerdict =
  | { readonly is: "make" }
  | { readonly is: "take"; readonly at: number; readonly by: "found" | "move" | "adopt" | "recover" }
  | { readonly is: Extract<ListedVerdict, `refused: ${string}`>; readonly at: number }
  | { readonly is: "refused: may be renamed" | "refused: several ours" | "refused: exists"; readonly at: number };

/** A create without an id in `adopt`. */
export function judgeCreate(listed: readonly FoundFacts[], words: CreateWords): CreateVerdict {
  const lost = listed.findIndex(({ verdict }) => verdict === "refused: a lost owner's");
  const isRecovered = lost >= 0 && words.recover;
  for (const [at, { verdict }] of listed.entries())
    if (verdict.startsWith("refused: ") && !(isRecovered && verdict === "refused: a lost owner's"))
      return { is: verdict as Extract<ListedVerdict, `refused: ${string}`>, at };
  if (isRecovered) return onlyOne(listed);
  const found = indexesOf(listed, "found");
  if (found.length > 0) return judgeFound(listed, found, words);
  const moves = indexesOf(listed, "move");
  const others = indexesOf(listed, "another's");
  const [move, another] = [moves[0], others[0]];
  if (move !== undefined && moves.length === 1 && others.length === 0 && listed[move]?.isEqual && words.canUpdate)
    return { is: "take", at: move, by: "move" };
  const [only = -1, ...more] = [...moves, ...others];
  const { mark, isWhole } = listed[only] ?? {};
  if (more.length === 0 && words.adopt && (only === move || mark === "none"))
    return { is: "take", at: only, by: "adopt" };
  if (more.length === 0 && words.recover && isWhole && mark === "none") return { is: "take", at: only, by: "recover" };
  const first = move ?? another;
  return first === undefined ? { is: "make" } : { is: "refused: exists", at: first };
}

function judgeFound(listed: readonly FoundFacts[], found: readonly number[], words: CreateWords): CreateVerdict {
  const equal = found.filter((at) => listed[at]?.isEqual);
  const meant = !words.hasNaturalKey && found.length > 1 && equal.length > 0 ? equal : found;
  const [at = 0, ...others] = meant;
  if (others.length > 0) return { is: "refused: several ours", at };
  if (words.hasNaturalKey || listed[at]?.isEqual) return { is: "take", at, by: "found" };
  return { is: "refused: may be renamed", at };
}

/** The one rule of a lost owner, where no other may be meant. */
function onlyOne(listed: readonly FoundFacts[]): CreateVerdict {
  const meant = [...listed.entries()].filter(([, { verdict }]) => verdict !== "passed over");
  const [[at] = [0], ...others] = meant;
  return others.length === 0 ? { is: "take", at, by: "recover" } : { is: "refused: several ours", at };
}

function indexesOf(listed: readonly FoundFacts[], wanted: ListedVerdict): number[] {
  return listed.flatMap(({ verdict }, at) => (verdict === wanted ? [at] : []));
}

/** A rule that becomes the resource's own. */
export interface TakeOverFacts {
  readonly isEqual: boolean;
  /** The program names it by its id. */
  readonly isNamed: boolean;
  /** It bears the mark of another resource, or of none of ours. */
  readonly hasOthersMark: boolean;
  readonly canUpdate: boolean;
  /** The program declares what no reading shows (contract `rule.writeOnly`). */
  readonly isUnseen: boolean;
}

/** A take-over: nothing is written where nothing can differ, but another's mark never stays. */
export function judgeTakeOver({ isEqual, isNamed, hasOthersMark, canUpdate, isUnseen }: TakeOverFacts) {
  if (isNamed && !canUpdate && (!isEqual || hasOthersMark))
    return hasOthersMark ? "refused: its mark stays" : "refused: cannot change";
  if (isEqual && isUnseen && canUpdate) return "write";
  if (isEqual) return hasOthersMark && canUpdate ? "mark" : "take as it is";
  return isNamed && canUpdate ? "write" : "into the state as live";
}
