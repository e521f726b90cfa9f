import type { LiveRule } from "../../sdk/client/index.ts";
import { withoutDriven } from "../../sdk/contract/index.ts";
import { differences } from "../../sdk/json/index.ts";
import { chosenId } from "./chosen-id.ts";
import { ownFields } from "./live-rule.ts";
import type { Making } from "./making.ts";
import { type Mark, markIn } from "./mark.ts";
import { idsChange } from "./new-ids.ts";
import { ownMark } from "./own-mark.ts";
import type { Place } from "./place.ts";
import { isOwnMark, whoseIs } from "./resource.ts";
import type { Task } from "./task.ts";
import type { Candidate } from "./whose.ts";

export interface Found {
  readonly existing: LiveRule;
  readonly mark: Mark | undefined;
  readonly facts: Candidate;
}

/** The rules that might be the declared one, and the id that it is to have where the client chooses it. */
export async function search(making: Making): Promise<{ found: readonly LiveRule[]; ruleId?: string }> {
  const chosen = await chosenId(making);
  const found = await searched(making);
  if (chosen === undefined) return { found };
  const { ruleId, existing } = chosen;
  const isNews = existing !== undefined && found.every((each) => each.ruleId !== ruleId);
  return { found: isNews ? [existing, ...found] : found, ruleId };
}

/** Without a natural key one that another resource or key holds is none. */
async function searched({ definition, key, of, place }: Making): Promise<LiveRule[]> {
  const isOurs = (mark: Mark): boolean => isOwnMark(mark, of, key) || hasOurNames(mark, { of, key, place });
  const found = await place.live.search(definition, isOurs);
  if (place.live.naturalKeyOf(definition) !== undefined) return found;
  return found.filter(({ ruleId }) => place.holders.keeperOf(ruleId) === undefined);
}

export async function candidates(found: readonly LiveRule[], making: Making): Promise<Found[]> {
  const { of, place, definition } = making;
  const hasList = found.length > 0 && place.contract.operations.list !== null;
  const marks = hasList ? (await place.live.listed()).marks : undefined;
  const isTwice = ({ ownerId, place: of }: Mark): boolean =>
    (marks?.get(`${ownerId}.${of}`) ?? []).filter((ruleId) => !place.live.isGone(ruleId)).length > 1;
  return found.map((existing) => {
    const { ruleId, rule } = existing;
    const mark = markIn(rule, place.contract);
    // Nobody else derives the same id.
    const whose = mark === undefined && ruleId === making.ruleId ? "ours" : whoseIs(mark, of);
    return {
      existing,
      mark,
      facts: {
        isHeld: place.holders.keeperOf(ruleId) !== undefined,
        isGivenUp: place.holders.leaverOf(ruleId) !== undefined,
        isForeign: place.live.isForeign(rule),
        mark: whose,
        // A rule that a state knows by its id is no copy. Its replacement has the same mark until it is deleted.
        isCopy:
          mark !== undefined &&
          whose === "ours" &&
          !place.holders.isKnown(ruleId) &&
          (isTwice(mark) || isKnownElsewhere(mark, ruleId, place)),
        hasOurNames: mark !== undefined && hasOurNames(mark, making),
        isWhole: isWhole(existing, { definition, place }),
        isSuccessor: making.inPlaceOf !== undefined && idsChange(place) && !place.holders.isKnown(ruleId),
      },
    };
  });
}

/** True where the resource that a mark names knows another rule by it. */
function isKnownElsewhere({ ownerId, place: of }: Mark, ruleId: string, { holders, live }: Place): boolean {
  return holders
    .knownAs(of)
    .some(
      ({ known, of: resource }) =>
        known.ruleId !== ruleId && resource.ownerIds.has(ownerId) && !live.isGone(known.ruleId),
    );
}

/** True where a mark has the names of this resource and key, whatever its owner id: a lost state's, or a namesake's. */
export function hasOurNames(mark: Mark, task: Task): boolean {
  const own = ownMark(task);
  return own !== undefined && mark.names === own.names && mark.place === own.place;
}

/** True of a live rule that is the declared one and has nothing besides. Services drop nulls. */
export function isWhole({ rule }: LiveRule, { definition, place }: Pick<Making, "definition" | "place">): boolean {
  const { contract } = place;
  // Of a create that was not finished, requests of their own have not changed what they are to change.
  const live = withoutDriven(ownFields(rule, place), contract);
  const found = differences(live, withoutDriven(definition, contract), contract.rule);
  return found.every(({ kind, after }) => kind === "add" && after === null);
}
