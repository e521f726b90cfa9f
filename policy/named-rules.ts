import { z } from "zod";
import { ruleNames } from "./base/configuration.ts";
import { ofStack, type PolicyFinding, resourcePolicy, stackPolicy } from "./base/rule-policy.ts";

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
    else for (const name of missing) yield ofStack("no such rule", "one in the stack", name);
  },
});

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
    const label = rules.length === 1 && first.key === name ? first.label : `the rules of ${name}`;
    // One for the whole set: the option is its set's.
    if (all || names.includes(name)) yield { ...unprotected, rule: label };
    else
      for (const rule of rules) {
        if (rule.isAmong(names)) yield { ...unprotected, rule, found: `no protect at its set ${name}` };
        // The keys that are not known may be among them.
        else if (rule.key === undefined) rule.isUnknown("");
      }
  },
});

const unprotected = { pointer: "", found: "no protect", allowed: "protect: true" };
