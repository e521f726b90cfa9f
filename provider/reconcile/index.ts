export { apply, type Outcome } from "./apply.ts";
export { naturalKeyText } from "./natural-key.ts";
export type { Resource } from "./observe.ts";
export { markedOwner, type Owner, ownerOf } from "./owner.ts";
export { type Answer, Place, type PlaceOptions, type Whereabouts } from "./place.ts";
export { type Change, type DeclaredRule, type Known, type KnownRule, plan, type Step } from "./plan.ts";
export { type Group, glanceAtUnmanaged, lookForUnmanaged, type Watch } from "./unmanaged.ts";
export { pathsOf, say, seenAs } from "./write.ts";
