import { segmentsOf } from "../../sdk/json/pointer.ts";
import type { Bound, Rule, RuleReading } from "../language/normal-form.ts";
import type { Semantics } from "../language/schema.ts";
import { conditionWords } from "./condition-words.ts";
import { unreadable } from "./short-words.ts";
import { instantWords, textWords, valueWords } from "./value-words.ts";

/**
 * Returns a rule in words: `declines when amount > 10,000 and card country is not DE, AT (priority 20)`. They say all that its normal form
 * says, so that rules with the same words decide alike. Of one that could not be read: which part is not explained, and why.
 */
export function ruleWords(reading: RuleReading, semantics: Semantics): string {
  if (reading.kind === "rule") return knownWords(reading.rule, semantics);
  const [first, ...others] = reading.faults;
  if (first === undefined) return unreadable;
  const more = others.length === 0 ? "" : `, and ${others.length} more ${others.length === 1 ? "place" : "places"}`;
  return `${unreadable}: ${first.at === "" ? "the rule" : first.at} ${first.why}${more}`;
}

function knownWords({ when, force, outcome, order }: Rule, semantics: Semantics): string {
  const standing = [...(force.isEnabled ? [] : ["disabled"]), ...timeWords(force.from, force.until)].join(", ");
  const does = outcomeWords(outcome);
  const words = conditionWords(when, semantics);
  const said = words === "always" || words === "never" ? `${words} ${does}` : `${does} when ${words}`;
  const number = order === undefined ? "" : ` (${orderName(semantics)} ${valueWords(order)})`;
  return `${standing === "" ? "" : `${standing}: `}${said}${number}`;
}

function timeWords(from: Bound | undefined, until: Bound | undefined): string[] {
  const words = [
    ...(from === undefined ? [] : [`${from.counts ? "from" : "after"} ${boundWords(from)}`]),
    ...(until === undefined ? [] : [`${until.counts ? "until" : "before"} ${boundWords(until)}`]),
  ];
  return words.length === 0 ? [] : [words.join(" ")];
}

function boundWords({ instant }: Bound): string {
  return instant.type === "instant" ? instantWords(instant.at) : valueWords(instant);
}

const verbs: Readonly<Record<string, string>> = { accept: "accepts", decline: "declines", review: "reviews" };

function outcomeWords(outcome: string): string {
  return (Object.hasOwn(verbs, outcome) ? verbs[outcome] : undefined) ?? `gives ${textWords(outcome)}`;
}

/** Returns the name of the number that rules are ordered by: the last segment of its pointer, or `order`. */
function orderName({ wins: { order } }: Semantics): string {
  const name = segmentsOf(order?.at ?? "").at(-1) ?? "";
  return /^[a-z][A-Za-z]*$/.test(name) ? name : "order";
}
