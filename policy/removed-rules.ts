import { z } from "zod";
import { isRuleAmong } from "./base/analyzed-rule.ts";
import { baselinePath, emptyBaseline, noBaseline, readBaseline } from "./base/baseline.ts";
import { removedRules as removedFrom } from "./base/compare-deployed.ts";
import { percent, pointer, ruleNames } from "./base/configuration.ts";
import { ofStack, stackPolicy } from "./base/rule-policy.ts";

/**
 * A run deletes no more than a share of the deployed rules, unless they are listed. A rule that moves to another resource
 * with the same key, that a set has under another key, or that has the same natural key, is not deleted. What is
 * deployed stands in a baseline, because the engine tells a policy only what is declared.
 */
export const removedRules = stackPolicy({
  name: "removed-rules",
  description: "A run deletes no more than a share of the deployed rules.",
  config: {
    baseline: baselinePath,
    maximumShare: z.number().min(0).max(1).default(0.1).describe("Which share of the deployed rules may be deleted"),
    allowed: z
      .union([z.literal(true), ruleNames])
      .default([])
      .describe("Rules that may be deleted: names of MerchantRules, keys, set/key, or names of sets; true: all"),
    naturalKey: pointer
      .nullable()
      .default(null)
      .describe("Pointer to a value by which a rule is known where its key has changed"),
  },
  idle: ({ baseline, allowed }) => {
    if (allowed === true) return "all rules may be deleted";
    return baseline === null ? noBaseline : undefined;
  },
  *check(rules, { baseline, maximumShare, allowed, naturalKey }) {
    if (baseline === null || allowed === true) return;
    const deployed = readBaseline(baseline);
    if (deployed.rules.length === 0 && rules.length > 0) {
      yield emptyBaseline;
      return;
    }
    const removed = removedFrom(deployed, rules, naturalKey).filter(
      ({ resource, key }) => !isRuleAmong(allowed, resource, key),
    );
    const total = deployed.rules.length;
    if (removed.length === 0 || removed.length / total <= maximumShare) return;
    const named = removed.slice(0, mostNamed).map(({ key }) => key);
    const more = removed.length > mostNamed ? ` and ${removed.length - mostNamed} more` : "";
    const found = `${removed.length} of ${total} deployed rules removed (${named.join(", ")}${more})`;
    yield ofStack(found, `at most ${percent(maximumShare)}, or their names in allowed`);
  },
});

const mostNamed = 10;
