/**
 * The decisions of whose a rule is, as tables: facts in, a verdict out. Nothing here looks anything up, and nothing
 * elsewhere decides it again.
 */

/** A live rule's mark, beside the resource that asks. */
export type MarkOfRule =
  /** The contract has no place for marks, or there is none, or a person's text. */
  | "none"
  /** An owner id of the resource: its connection's, or one that its own inputs or outputs hold. */
  | "ours"
  | "another's";

/** The place: what can be told of it before the first write of a run, and before any read is believed. */
export interface PlaceFacts {
  /** The identity of the credentials now (a hash); undefined where the contract cannot tell. */
  readonly now: string | undefined;
  /** The identity that they must have: by the setting `identity`, the connection's id, the resource's outputs. */
  readonly wanted: string | undefined;
  readonly ofConnection: string | undefined;
  readonly ofResource: string | undefined;
  /** A rule was seen as it is known, or a listed rule has our mark. */
  readonly hasWitness: boolean;
  /** The states of this process's resources know a rule of this place. */
  readonly knowsRules: boolean;
  /** Words of the user for one run. */
  readonly moved: boolean;
  readonly acceptAllGone: boolean;
}

export type PlaceVerdict =
  | "proven"
  /** The rules that the resource knows are of another identity, and the user says that they are to be here now. */
  | "elsewhere"
  /** Nothing shows that it is the wrong place, and nothing is known that could show that it is the right one. */
  | "unknown"
  /** The user takes the responsibility for one run. */
  | "taken on trust"
  | "refused: not the identity that is set"
  | "refused: not the connection's identity"
  | "refused: not the identity of the rules"
  | "refused: nothing is seen as it is known";

/** The table of the place. */
export function judgePlace(facts: PlaceFacts): PlaceVerdict {
  const { now, wanted, ofConnection, ofResource, hasWitness, knowsRules, moved, acceptAllGone } = facts;
  if (now !== undefined) {
    if (wanted !== undefined && wanted !== now) return "refused: not the identity that is set";
    if (ofConnection !== undefined && ofConnection !== now) return "refused: not the connection's identity";
    if (ofResource !== undefined && ofResource !== now)
      return moved ? "elsewhere" : "refused: not the identity of the rules";
    if ((wanted ?? ofConnection ?? ofResource) !== undefined) return "proven";
  }
  if (hasWitness) return "proven";
  if (!knowsRules) return "unknown";
  return moved || acceptAllGone ? "taken on trust" : "refused: nothing is seen as it is known";
}

/** A rule that the state knows, at the proven place. */
export interface KnownFacts {
  readonly isThere: boolean;
  /** Another resource of this process holds the rule. */
  readonly isHeldByOther: boolean;
  readonly mark: MarkOfRule;
  /** The mark names the resource and key that this resource last wrote or saw there. */
  readonly isMarkAsLastSeen: boolean;
  /** The program says `adopt: "<ruleId>"` of this very rule. */
  readonly isAdopted: boolean;
  /** The declared rule and the holder's have different natural keys. */
  readonly isAnotherKey: boolean;
  readonly moved: boolean;
}

/** `read`: believe what is live. */
export function judgeRead({ isThere, isHeldByOther, mark, moved }: KnownFacts) {
  if (!isThere) return "gone";
  if (isHeldByOther) return "not read";
  if (mark === "another's") return moved ? "not here" : "as live, said";
  return "as live";
}

/** `update`: change the rule to be as declared. */
export function judgeUpdate({ isThere, isHeldByOther, mark, isAdopted, isAnotherKey }: KnownFacts) {
  if (isHeldByOther) return isAnotherKey ? "let go and create" : "refused: two hold it";
  if (!isThere) return "create";
  if (mark === "another's") return isAdopted ? "take over" : "refused: another's";
  return "write";
}

/** `delete`: take the rule away. */
export function judgeDelete({ isThere, isHeldByOther, mark, isMarkAsLastSeen }: KnownFacts) {
  if (isHeldByOther) return "passed on";
  if (!isThere) return "done";
  if (mark === "another's") return "let go, said";
  if (mark === "ours" && !isMarkAsLastSeen) return "passed on, said";
  return "delete";
}

/** A rule at the service that might be the one to be created: it has its natural key, or without keys its names. */
export interface Candidate {
  /** Another resource of this process holds the rule and keeps it. */
  readonly isHeld: boolean;
  /** A resource of this process, from its state, gives the rule up in this run. */
  readonly isGivenUp: boolean;
  /** The service's own rule (contract `rule.foreign`). */
  readonly isForeign: boolean;
  readonly mark: MarkOfRule;
  /** Another live rule has the very same mark, or the resource that the mark names knows another id: a copy. */
  readonly isCopy: boolean;
  /** Its mark has the names of this resource and key. */
  readonly hasOurNames: boolean;
  /** It is the declared rule and has nothing besides. */
  readonly isWhole: boolean;
  /**
   * The state knows a rule of this resource and key, which is gone, and by the contract an update gives another id: an update
   * that was not answered may have made this one of it.
   */
  readonly isSuccessor: boolean;
}

/** A create that names no id. */
export function judgeCreate(found: readonly Candidate[], words: { adopt: boolean; recover: boolean }) {
  const [first, ...others] = found;
  if (first === undefined) return "create";
  if (found.some(({ isHeld }) => isHeld)) return "refused: still declared";
  if (found.some(({ isForeign }) => isForeign)) return "refused: the service's own";
  const isOurs = ({ mark, isGivenUp, isSuccessor, isWhole }: Candidate): boolean =>
    mark === "ours" || isGivenUp || (mark === "none" && isSuccessor && isWhole);
  const ours = found.filter((each) => isOurs(each) && !each.isCopy);
  if (ours.length === 1 && others.length === 0) return "ours";
  if (ours.length > 0 || found.some(({ isCopy }) => isCopy)) return "refused: copies";
  if (others.length > 0) return "refused: several";
  if (first.mark === "none" && words.adopt) return "take over";
  if (words.recover && first.isWhole && (first.mark === "none" || first.hasOurNames)) return "recover";
  return first.mark === "none" ? "refused: unmarked" : "refused: another's";
}

/** A rule that becomes the resource's own by a word of the program or the user. */
export interface TakeOverFacts {
  readonly isAsDeclared: boolean;
  readonly mark: MarkOfRule;
  /** The contract can change rules in place: else no mark can be written into one that is there. */
  readonly hasUpdate: boolean;
  /** The resource has a mark to write. */
  readonly hasOwnMark: boolean;
  /** The write would take fields away that nobody declared. */
  readonly erases: boolean;
}

/** A take-over: write nothing where nothing differs, but never leave another's mark, by which it would be deleted later. */
export function judgeTakeOver({ isAsDeclared, mark, hasUpdate, hasOwnMark, erases }: TakeOverFacts) {
  const mustBeMarked = mark === "another's" && hasOwnMark;
  if (mustBeMarked && !hasUpdate) return "refused: its mark stays";
  if (isAsDeclared && !mustBeMarked) return "take as it is";
  return erases ? "refused: erases" : "write";
}
