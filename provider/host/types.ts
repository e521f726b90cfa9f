/** The types by which the engine, and its state, know the resources. They stay for ever. */
export const ruleType = "pulumi-nodejs:dynamic/merchant-rules:MerchantRule";
export const setType = "pulumi-nodejs:dynamic/merchant-rules:MerchantRuleSet";
/** The type of the resource that remembers whose the rules of a stack are. */
export const ownerType = "pulumi-nodejs:dynamic/merchant-rules:Owner";
/** The type of the resource that remembers where the rules of a connection are. */
export const connectionType = "pulumi-nodejs:dynamic/merchant-rules:Connection";
/** The name of the one Owner of a stack. */
export const ownerName = "owner";
