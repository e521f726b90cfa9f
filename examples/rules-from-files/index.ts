import { loadRules, MerchantRuleSet } from "pulumi-merchant-rules";
import type { Rule } from "./rule.ts";

/** Countries from which no payment is accepted. Other programs of the company may import the same list. */
const blockedCountries = ["KP", "IR"];

// A rule whose values are computed stands in the program. Its type is that of the files.
const blocked: Rule = {
  name: "blocked-countries",
  priority: 1000,
  isActive: true,
  conditions: [{ field: "country", operator: "in", value: blockedCountries }],
  actions: [{ type: "decline", reason: "country" }],
};

const all = new MerchantRuleSet<Rule>("all", {
  rules: { ...loadRules<Rule>("rules"), "blocked-countries": blocked },
});

export const ruleIds = all.ruleIds;
