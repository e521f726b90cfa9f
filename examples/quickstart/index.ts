import { MerchantRule } from "pulumi-merchant-rules";

// The fields of these rules are illustrative: your service's rules may have others.

const largeAmounts = new MerchantRule("large-amounts", {
  definition: {
    name: "large-amounts",
    priority: 100,
    isActive: true,
    conditions: [{ field: "amount", operator: "gt", value: 10_000 }],
    actions: [{ type: "decline", reason: "above the limit" }],
  },
});

const homeCards = new MerchantRule("home-cards", {
  definition: {
    name: "home-cards",
    priority: 50,
    isActive: true,
    conditions: [{ field: "card.country", operator: "in", value: ["NL", "BE", "DE"] }],
    actions: [{ type: "route", to: "domestic-acquirer" }],
  },
});

const trustedPayers = new MerchantRule("trusted-payers", {
  definition: {
    name: "trusted-payers",
    priority: 10,
    isActive: true,
    conditions: [{ field: "payer.trusted", operator: "eq", value: true }],
    actions: [{ type: "accept" }],
  },
});

export const ruleIds = {
  largeAmounts: largeAmounts.ruleId,
  homeCards: homeCards.ruleId,
  trustedPayers: trustedPayers.ruleId,
};
