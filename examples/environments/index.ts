import { getStack } from "@pulumi/pulumi";
import { loadRules, MerchantRuleSet } from "pulumi-merchant-rules";

// rules/ holds what both environments have in common. overlays/<stack> changes fields of it, or adds rules.
const all = new MerchantRuleSet("all", {
  rules: loadRules("rules", { overlay: `overlays/${getStack()}` }),
  onUnmanaged: "warn",
});

export const ruleIds = all.ruleIds;
