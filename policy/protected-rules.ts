import { z } from "zod";
import type { AnalyzedRule } from "./base/analyzed-rule.ts";
import { ruleNames } from "./base/configuration.ts";
import { type PolicyFinding, resourcePolicy } from "./base/rule-policy.ts";

/**
 * Rules that nobody may delete by mistake have the option `protect`, so that the engine refuses to delete them; a rule of
 * a set has it when its set does. The option keeps a set as a whole: a key that leaves a protected set is deleted.
 */
export const protectedRules = resourcePolicy({
  name: "protected-rules",
  description: "Rules that may not be deleted have the option protect.",
  config: {
    rules: ruleNames.default([]).describe("Names of MerchantRules, keys, set/key, or names of sets"),
    all: z.boolean().default(false).describe("Whether every rule must be protected"),
  },
  idle: ({ rules, all }) => (rules.length === 0 && !all ? "no rule is configured" : undefined),
  *check(rules, { rules: names, all }): Generator<PolicyFinding> {
    const [first] = rules;
    if (first === undefined || first.resource.opts.protect) return;
    const { name } = first.resource;
    // One for the whole set: the option is its set's.
    if (all || names.includes(name)) yield { ...unprotected, rule: labelOfAll(rules) };
    else
      for (const rule of rules) {
        if (rule.isAmong(names)) yield { ...unprotected, rule, found: `no protect at its set ${name}` };
        // The keys that are not known may be among them.
        else if (rule.key === undefined) rule.isUnknown("");
      }
  },
});

const unprotected = { pointer: "", found: "no protect", allowed: "protect: true" };

function labelOfAll([first, second]: readonly AnalyzedRule[]): string {
  if (first === undefined) return "";
  return second === undefined && first.key === first.resource.name
    ? first.label
    : `the rules of ${first.resource.name}`;
}
