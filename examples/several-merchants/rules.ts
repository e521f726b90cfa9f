import { MerchantRuleSet } from "pulumi-merchant-rules";
import type { Merchant } from "./merchants.ts";

/** The program: declares the rules of one merchant. What it returns are the stack's outputs. */
export function declareRules({ reviewAbove, countries }: Merchant) {
  const rules = new MerchantRuleSet("rules", {
    rules: {
      "large-amounts": {
        name: "large-amounts",
        priority: 100,
        conditions: [{ field: "amount", operator: "gt", value: reviewAbove }],
        actions: [{ type: "review" }],
      },
      "other-countries": {
        name: "other-countries",
        priority: 50,
        conditions: [{ field: "country", operator: "notIn", value: [...countries] }],
        actions: [{ type: "decline" }],
      },
    },
  });
  return { ruleIds: rules.ruleIds };
}
