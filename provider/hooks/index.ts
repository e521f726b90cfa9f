import { setFlagsFromString } from "node:v8";
import { ruleShape, setShape } from "../state/shape.ts";
import { ConnectionHooks } from "./connection-hooks.ts";
import { endWithEngine, engineAddress } from "./engine-link.ts";
import { Lifecycle } from "./lifecycle.ts";
import { OwnerHooks } from "./owner-hooks.ts";
import { Session } from "./session.ts";

// State refers to these names by `pulumi-merchant-rules/provider` (see ../registration.ts), so they stay for ever.

// Collects garbage when the heap has grown by 15 %, and keeps the part for new objects small. The provider host unpacks whole
// sets of rules, a call at a time, and needs none of them afterwards; unless told, V8 lets the heap grow to several times
// what is alive in it.
setFlagsFromString("--heap-growing-percent=15");
setFlagsFromString("--semi-space-growth-factor=1");

// Requests under way are cut off as by a kill of this process, after which the next run goes on.
const engine = engineAddress(process.argv);
if (engine !== undefined) endWithEngine(engine, () => process.exit(1));

const session = new Session({ config: () => undefined, environment: process.env, folder: process.cwd() });

/** The dynamic provider of MerchantRule. */
export const merchantRule = new Lifecycle(ruleShape, session);

/** The dynamic provider of MerchantRuleSet. */
export const merchantRuleSet = new Lifecycle(setShape, session);

/** The dynamic provider of Connection. */
export const connection = new ConnectionHooks(session);

/** The dynamic provider of Owner. */
export const owner = new OwnerHooks(session);
