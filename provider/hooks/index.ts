import { boundHeapGrowth } from "./heap.ts";
import { MerchantRuleHooks } from "./merchant-rule-hooks.ts";
import { MerchantRuleSetHooks } from "./merchant-rule-set-hooks.ts";
import { Session } from "./session.ts";

// State refers to these names by `pulumi-merchant-rules/provider` (see ../provider-source.ts), so they stay for ever.

boundHeapGrowth();

const session = new Session({ config: () => undefined, environment: process.env, folder: process.cwd() });

/** The dynamic provider of MerchantRule. */
export const merchantRule = new MerchantRuleHooks(session);

/** The dynamic provider of MerchantRuleSet. */
export const merchantRuleSet = new MerchantRuleSetHooks(session);
