import { loadRules, MerchantRuleSet } from "pulumi-merchant-rules";

const all = new MerchantRuleSet("all", { rules: loadRules("rules") });

export const ruleIds = all.ruleIds;
