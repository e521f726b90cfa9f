import { print, warn } from "../host/print.ts";

/** The fact about a rule that is another merchant's, where the rules are to be here now. */
export const leftThere = "stays at the merchant of the last run, and is not deleted there";

/** The words for a list whose last page is as long as services make pages, where nothing says that it is the last. */
export const mayBeCut = {
  what: (length: number) =>
    `the list may be cut: its last page has ${length} rules, and nothing says that no more follow`,
  advice:
    "describe in operations.list.pagination of the contract how the list comes in pages; where one answer has all rules, say { type: none, complete: true }",
};

interface About {
  readonly key: string;
  readonly of: { readonly label: (key: string) => string | undefined };
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
