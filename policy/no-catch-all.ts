import type { Json, Pointer } from "../sdk/json/index.ts";
import type { AnalyzedRule } from "./base/analyzed-rule.ts";
import { pointers, ruleNames, valuesByPointer } from "./base/configuration.ts";
import { placesAt } from "./base/places.ts";
import { rulePolicy } from "./base/rule-policy.ts";
import { isAmong } from "./values.ts";

/**
 * A rule without any condition applies to every payment: it declines, or accepts, them all. A rule has no condition
 * when there is nothing at all of the configured pointers; null, "", [] and {} are nothing.
 */
export const noCatchAll = rulePolicy({
  name: "no-catch-all",
  description: "A rule that declines or accepts has a condition, or is listed.",
  severity: "critical",
  config: {
    conditions: pointers.default([]).describe('Where conditions stand: ["/conditions"]'),
    actions: valuesByPointer.describe(
      'Which rules decline or accept, by their values: { "/actions/*/type": ["decline", "accept"] }. Default: every rule',
    ),
    allowedRules: ruleNames
      .default([])
      .describe("Rules that may be without a condition: names of MerchantRules, keys, set/key, or names of sets"),
  },
  idle: ({ conditions }) => (conditions.length === 0 ? "no pointer to conditions is configured" : undefined),
  *check(rule, { conditions, actions, allowedRules }) {
    if (rule.isAmong(allowedRules)) return;
    const places = conditions.flatMap((pattern) => placesAt(rule.definition, pattern));
    if (places.some(({ value }) => !isNothing(value)) || !isMeant(rule, actions)) return;
    // A value that is not known yet may be a condition.
    if (conditions.filter((pattern) => rule.isUnknown(pattern)).length > 0) return;
    const found = `no condition at ${conditions.map((each) => (each === "" ? '""' : each)).join(", ")}`;
    yield { pointer: "", found, allowed: "at least one, or its name in allowedRules" };
  },
});

function isNothing(value: Json): boolean {
  return value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
}

/** Returns whether a rule declines or accepts, as far as that is known. */
function isMeant(rule: AnalyzedRule, actions: Readonly<Record<Pointer, readonly Json[]>>): boolean {
  const entries = Object.entries(actions);
  return (
    entries.length === 0 ||
    entries.some(([pattern, meant]) => rule.at(pattern, "shallow").some(({ value }) => isAmong(value, meant)))
  );
}
