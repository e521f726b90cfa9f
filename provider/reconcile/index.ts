export { apply, type Outcome } from "./apply.ts";
export type { Resource } from "./observe.ts";
export { markedOwner, type Owner, ownerOf } from "./owner.ts";
export { type Answer, Place, type Whereabouts } from "./place.ts";
export { type DeclaredRule, type KnownRule, plan, type Step } from "./plan.ts";
export { pathsOf, say, seenAs } from "./write.ts";
