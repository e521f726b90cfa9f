export { apply, type Outcome } from "./apply.ts";
export { bothDoubts, fieldsAdded, lookedAtBy } from "./doubt.ts";
export { demandNothingLost } from "./erased.ts";
export { lookForHandEdits, type OnDrift, onDriftChoices } from "./hand-edits.ts";
export { Holders } from "./holders.ts";
export {
  type ConnectionId,
  connectionIdIn,
  connectionIdText,
  hashOfIdentity,
  newConnectionId,
} from "./identity.ts";
export { pathsOf, seenAs } from "./live-rule.ts";
export { keyIn, markIn, markOf, type Owner, ownerIn, ownerOf, placeOf, stackOf } from "./mark.ts";
export { lackedKey, naturalKeyText } from "./natural-key.ts";
export { successors } from "./new-ids.ts";
export { Place, type PlaceOptions } from "./place.ts";
export {
  type Change,
  type DeclaredRule,
  type Known,
  type KnownRule,
  plan,
  reasonToReplace,
  type Step,
} from "./plan.ts";
export { isElsewhere, type Resource, whoseIs } from "./resource.ts";
export { warnOf } from "./say.ts";
export { type Answer, replacing } from "./standing.ts";
export { glanceAtUnmanaged, lookForUnmanaged, type Watch } from "./unmanaged.ts";
export { judgeRead } from "./whose.ts";
