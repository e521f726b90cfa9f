import type { LiveRule } from "../../sdk/client/index.ts";
import { isMerchantRulesError } from "../../sdk/errors.ts";
import { warn } from "../host/print.ts";
import { type Known, keyIn, markIn, markOf, ownerIn, type Place, placeOf, type Resource } from "../reconcile/index.ts";

/** The most that are looked at and named; the others are counted. */
const mostNamed = 10;

/**
 * Says which rules have the mark of this resource and are in no state: a run that was killed, or two at once, made them.
 * Without a list that this run has read, it says nothing. Each rule is read anew, as the list may be behind. The run's
 * work is in no state yet, so no failure here ends the run.
 * @param rules the rules that the state of the resource is going to have
 * @param undecided keys of rules that may have been made just now, as an error says
 */
export async function sayLeftovers(
  of: Resource,
  rules: Known,
  place: Place,
  undecided: readonly string[] = [],
): Promise<void> {
  const { contract, live, holders } = place;
  if (contract.rule.owner === null || of.owner === "") return;
  const own = new Map([...rules].map(([key, { ruleId }]) => [ruleId, key]));
  const known = new Set([...rules].map(([key, { mark }]) => mark ?? placeOf(of.owner, key)));
  const unsure = new Set(undecided.map((key) => placeOf(of.owner, key)));
  const isLeft = ({ ruleId, rule }: LiveRule): boolean =>
    isMarkOf(of, rule, place) &&
    !unsure.has(markIn(rule, contract)?.place ?? "") &&
    !own.has(ruleId) &&
    live.written(ruleId) === undefined &&
    !live.isBeingDeleted(ruleId) &&
    !live.isForeign(rule) &&
    !holders.isKnown(ruleId) &&
    holders.keeperOf(ruleId) === undefined &&
    !holders.leftovers.has(ruleId);
  const resource = ownerIn(markOf("", of.owner, ""));
  const left = [...of.ownerIds].flatMap((ownerId) => live.markedAs(ownerId, resource)).filter(isLeft);
  for (const { ruleId } of left) holders.leftovers.add(ruleId);
  for (const { ruleId, rule } of left.slice(0, mostNamed)) {
    const mark = markIn(rule, contract);
    const sight = await live.look({ ruleId, definition: {} }, undefined, "fresh").catch((error: unknown) => {
      if (!isMerchantRulesError(error)) throw error;
      return error;
    });
    if (isMerchantRulesError(sight)) {
      warn(`rule ${ruleId} has the mark of ${mark?.names} in the list, and could not be looked at: ${sight.reason}`);
      continue;
    }
    if (sight.is === "absent") continue;
    // The engine may have to delete the rule still that a resource of one rule replaced.
    const what = !of.isRule && mark !== undefined && known.has(mark.place) ? double : unheard;
    warn(`rule ${ruleId} has the mark of ${mark?.names}${what}`);
  }
  if (left.length > mostNamed) warn(`and ${left.length - mostNamed} more rules with its mark are in no state`);
}

/** Decides by a mark's place whose it is: its names are for people, and other resources may have the same. */
function isMarkOf(of: Resource, rule: LiveRule["rule"], { contract }: Place): boolean {
  const mark = markIn(rule, contract);
  return mark !== undefined && mark.place === placeOf(of.owner, of.isRule ? "" : keyIn(mark));
}

const double =
  ", and another rule with it is in the state: two runs at once, or a lost answer, made it twice. Delete it at the service";
/** A rule that moved without a write has the mark of before, and the resource that it moved to may be heard later. */
const unheard =
  ", and no resource that this run has read so far has it in its state. Run `merchant-rules drift`, which reads the whole state. If drift calls the rule unmanaged, a run that was killed made it: declare it and adopt it by its id, or delete it at the service";
