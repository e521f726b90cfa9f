import { ruleNames } from "./base/configuration.ts";
import { stackPolicy } from "./base/rule-policy.ts";

/**
 * Rules that a stack must have are declared in it. Of a set whose rules are not known yet, each may be among them: then
 * nothing is missing for sure, and it is noted.
 */
export const requiredRules = stackPolicy({
  name: "required-rules",
  description: "The stack declares the rules that it must have.",
  config: {
    rules: ruleNames
      .default([])
      .describe("Names of MerchantRules, keys, set/key, or names of sets that must have a rule"),
  },
  idle: ({ rules }) => (rules.length === 0 ? "no rule is configured" : undefined),
  *check(rules, { rules: names }) {
    const missing = names.filter((name) => !rules.some((rule) => rule.key !== undefined && rule.isAmong([name])));
    const unknown = rules.filter((rule) => rule.key === undefined);
    if (missing.length > 0 && unknown.length > 0) for (const rule of unknown) rule.isUnknown("");
    else
      for (const name of missing) yield { rule: name, pointer: "", found: "no such rule", allowed: "one in the stack" };
  },
});
