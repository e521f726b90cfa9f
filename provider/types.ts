/** The types by which the engine, and its state, know the two resources. They stay for ever. */
export const ruleType = "pulumi-nodejs:dynamic/merchant-rules:MerchantRule";
export const setType = "pulumi-nodejs:dynamic/merchant-rules:MerchantRuleSet";
