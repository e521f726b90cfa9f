export { apply, type Outcome } from "./apply.ts";
export { creator, Holders } from "./holders.ts";
export { LiveRules } from "./live-rules.ts";
export { observe } from "./observe.ts";
export { type DeclaredRule, type KnownRule, plan, type Step } from "./plan.ts";
