import { createHash } from "node:crypto";
import type { PairWord } from "./judge-place.ts";
import type { Site } from "./site.ts";

/** The words of a user for one run. Each but the last holds short ids of cases, as refusals print them. */
export interface StackWords {
  /** Cases in which the connection of the rows and the connection now reach one merchant. */
  readonly same: readonly string[];
  /** Cases in which they reach two: the rules stay behind. */
  readonly moved: readonly string[];
  /** Owners whose stack takes over what a lost state had, as {@link recoverId}. */
  readonly recover: readonly string[];
  /** Names that the stack had before, `project/stack`. */
  readonly formerNames: readonly string[];
}

/**
 * The short id of a case, 4 hexadecimal digits: rows that stand at `row`, and the connection as it leads now. The key of the
 * place now is no part of it: one that changes with each run would change the id, and no word would ever fit.
 * @param now with the identity, where that is known
 */
export function caseId(ownerId: string, row: Site | undefined, now: Site): string {
  const before = row === undefined ? [] : [row.connection, row.address, row.key, row.identity];
  return shortHash(["case", ownerId, before, now.connection, now.address, now.identity]);
}

/** The short id by which a user lets the stack of an owner take over what a lost state had: 4 hexadecimal digits. */
export function recoverId(ownerId: string): string {
  return shortHash(["recover", ownerId]);
}

/**
 * The user's word on a case; undefined where there is none, or both.
 * @param now as of {@link caseId}: a diff that asks nobody may not know the identity, and then no word fits; see {@link mayHavePairWord}
 */
export function pairWord(
  words: Pick<StackWords, "same" | "moved">,
  ownerId: string | undefined,
  row: Site | undefined,
  now: Site,
): PairWord | undefined {
  if (ownerId === undefined || !mayHavePairWord(words)) return undefined;
  const id = caseId(ownerId, row, now);
  const [isSame, isMoved] = [words.same.includes(id), words.moved.includes(id)];
  if (isSame === isMoved) return undefined;
  return isSame ? "same" : "moved";
}

/** True where the user has said `same` or `moved` at all: a diff, which asks nobody, cannot always tell of which case. */
export function mayHavePairWord({ same, moved }: Pick<StackWords, "same" | "moved">): boolean {
  return same.length + moved.length > 0;
}

function shortHash(parts: unknown): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 4);
}
