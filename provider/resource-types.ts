/** The types by which the engine and its state know the resources. */
export const ruleType = "pulumi-nodejs:dynamic/merchant-rules:MerchantRule";
export const ruleSetType = "pulumi-nodejs:dynamic/merchant-rules:MerchantRuleSet";
