import { Config } from "@pulumi/pulumi";
import { MerchantRuleSet } from "pulumi-merchant-rules";
import { type Rule, rulesFor } from "./definitions.ts";

const config = new Config();

const all = new MerchantRuleSet<Rule>("all", {
  rules: rulesFor({
    reviewAbove: config.getNumber("reviewAbove") ?? 1_000,
    declineAbove: config.getNumber("declineAbove") ?? 10_000,
  }),
  onUnmanaged: "warn",
});

export const ruleIds = all.ruleIds;
