import { print } from "../print.ts";
import type { Resource } from "./resource.ts";

/** The fact about a rule that is another merchant's, where the rules are to be here now. */
export const leftThere = "is left where it was, at the merchant of before, and is not deleted there";

/** A run says what nobody asked for by name. The engine shows what a provider prints. */
export function say(
  fact: string,
  ruleId: string,
  { key, of }: { readonly key: string; readonly of: Pick<Resource, "label"> },
): void {
  const label = of.label(key);
  print(`rule ${label === undefined ? ruleId : `${label} (${ruleId})`} ${fact}`);
}

/** Words of the user for one run, by which a rule that is not seen counts as gone. */
interface Words {
  readonly moved: Word;
  readonly acceptAllGone: Word;
}

interface Word {
  readonly isGiven: boolean;
  readonly howTo: string;
}

/** A rule that counts as gone by a word of the user is named: at another place it may be in force. */
export function sayGone(ruleId: string, { moved, acceptAllGone }: Words, of: Parameters<typeof say>[2]): void {
  if (!moved.isGiven && !acceptAllGone.isGiven) return;
  const { howTo } = moved.isGiven ? moved : acceptAllGone;
  say(
    `is not here and counts as gone, as ${howTo} says; if it is in force elsewhere, nothing manages it there`,
    ruleId,
    of,
  );
}
