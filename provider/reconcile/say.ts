import { print, warn } from "../host/print.ts";
import type { Resource } from "./resource.ts";

/** The fact about a rule that is another merchant's, where the rules are to be here now. */
export const leftThere = "stays at the merchant of the last run, and is not deleted there";

interface About {
  readonly key: string;
  readonly of: Pick<Resource, "label">;
}

/** A run says what it does to a rule, where nobody asked for that by name. */
export function say(fact: string, ruleId: string, about: About): void {
  print(sentence(fact, ruleId, about));
}

/** A run says of a rule what a person should look at. */
export function warnOf(fact: string, ruleId: string, about: About): void {
  warn(sentence(fact, ruleId, about));
}

function sentence(fact: string, ruleId: string, { key, of }: About): string {
  const label = of.label(key);
  return `rule ${label === undefined ? ruleId : `${label} (${ruleId})`} ${fact}`;
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
export function sayGone(ruleId: string, { moved, acceptAllGone }: Words, about: About): void {
  if (!moved.isGiven && !acceptAllGone.isGiven) return;
  const { howTo } = moved.isGiven ? moved : acceptAllGone;
  warnOf(
    `is not here and counts as gone, as ${howTo} says; if it is in force elsewhere, nothing manages it there`,
    ruleId,
    about,
  );
}
