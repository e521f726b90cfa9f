import { setTimeout as sleep } from "node:timers/promises";
import type { LiveRule } from "../../sdk/client/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { isAsDeclared, isAsSent, isWhole } from "../decide/live-rule.ts";
import { idsChange } from "../decide/plan.ts";
import { type FoundFacts, judgeListed, type MarkOfListed } from "../decide/whose.ts";
import { type Mark, markId, markIn, namesOf } from "../merchant/mark.ts";
import { warnOf } from "../refusals/say.ts";
import type { Heard } from "../run/claims.ts";
import type { Pass } from "../run/live.ts";
import type { Making } from "../run/making.ts";
import type { Place } from "../run/place.ts";
import { hashOf, isOwnMark } from "../run/resource.ts";
import type { Task } from "../run/task.ts";
import { chosenId } from "./chosen-id.ts";
import { claimOn, ownRowOf } from "./known.ts";

/** A live rule that may be the one to be made, and what tells whose it is. */
export interface Found {
  readonly existing: LiveRule;
  readonly mark: Mark | undefined;
  readonly facts: FoundFacts;
  /** The heard row that claims it, or may. */
  readonly by: Heard | undefined;
}

/** The rules that may be the declared one, and the id that it is to have where the client chooses it. */
export async function find(making: Making): Promise<{ found: readonly Found[]; ruleId?: string }> {
  const { of, key, place, definition } = making;
  const chosen = await chosenId(making);
  const listed = await place.live.find(definition, hashOf(of, key));
  const existing = chosen?.existing;
  const isNews = existing !== undefined && listed.every(({ ruleId }) => ruleId !== existing.ruleId);
  const all = isNews ? [existing, ...listed] : listed;
  const own = chosen === undefined ? making : { ...making, ruleId: chosen.ruleId };
  const found = all.map((each) => foundFacts(each, own));
  return chosen === undefined ? { found } : { found, ruleId: chosen.ruleId };
}

function foundFacts(existing: LiveRule, making: Making): Found {
  const { of, place, definition, key } = making;
  const { ruleId, rule } = existing;
  const mark = markIn(rule, place.contract);
  const whose = markOf(mark, making);
  const own = ownRowOf(ruleId, rule, making);
  const { claim, by } = own === undefined ? claimOn(ruleId, rule, making) : ({ claim: "yes", by: own } as const);
  const declared = place.live.naturalKeyOf(definition);
  const whole = isWhole(rule, definition, place);
  const isSuccessor = whose === "none" && making.inPlaceOf !== undefined && idsChange(place) && whole;
  const isSameKey = declared === undefined ? undefined : place.live.naturalKeyOf(rule) === declared;
  const verdict = judgeListed({
    isReplaced: of.replaced.values().some((row) => row.ruleId === ruleId),
    claim,
    isForeign: place.live.isForeign(rule),
    isSameKey,
    mark: whose,
    isChosen: (whose === "none" && ruleId === making.ruleId) || (isSuccessor && !place.claims.isKnown(ruleId)),
  });
  if (verdict === "passed over" && whose === "own" && claim === "no" && isSameKey === false)
    warnOf("has the mark of this resource and another natural key, and is passed over", ruleId, { key, of });
  return {
    existing,
    mark,
    facts: { verdict, isEqual: isAsDeclared(rule, definition, place), isWhole: whole, mark: whose },
    by,
  };
}

function markOf(mark: Mark | undefined, { of, key }: Task): MarkOfListed {
  if (mark === undefined) return "none";
  if (isOwnMark(mark, of, key)) return "own";
  if (mark.ownerId === of.link?.ownerId) return "our stack's";
  return hasOurNames(mark, { of, key }) ? "a lost owner's" : "another's";
}

/** True where a mark has the names and the hash of this resource and key, whatever its owner id. */
export function hasOurNames(mark: Mark, { of, key }: Pick<Task, "of" | "key">): boolean {
  return mark.resource === hashOf(of, key) && mark.names === namesOf(of.owner, key);
}

/** The rules that a list showed before a write. */
export type Before = Pass["byId"] | undefined;

/** True of a rule that was there before this write; the id of one that this run has deleted may be given again. */
export function wasBefore(ruleId: string, before: Before, { paper }: Pick<Place, "paper">): boolean {
  return before?.has(ruleId) === true && !paper.isGone(ruleId);
}

/** True where a rule can be looked up that a write of this run may have made: by its natural key or its mark. */
export function canLookUp(definition: JsonObject, { place, of, key }: Task): boolean {
  const { live, contract } = place;
  const isMarked = contract.rule.owner !== null && hashOf(of, key) !== undefined;
  return live.canSearch(definition) || (contract.operations.list !== null && isMarked);
}

/** A reading of the list after a write, and the rule that the write has made, where that shows it. */
export interface Reading {
  readonly made: LiveRule | undefined;
  readonly pass: Pass;
}

/** What was there before a write, and the mark that it sent. */
export interface Sent {
  readonly before: Before;
  readonly mark: Mark | undefined;
}

/**
 * The rule that a write of this run has made, by the list after its lag, where the answer was lost. The mark that was sent
 * says so, where there is one; else a rule that is as declared, and was not listed before.
 */
export async function madeMeanwhile(
  definition: JsonObject,
  { before, mark: sent }: Sent,
  task: Task,
): Promise<Reading> {
  const { place } = task;
  const { live, contract } = place;
  await sleep(contract.operations.list?.lagMs ?? 0);
  const isOurs = ({ ruleId, rule }: LiveRule): boolean => {
    if (wasBefore(ruleId, before, place) || claimOn(ruleId, rule, task).claim === "yes") return false;
    const mark = markIn(rule, contract);
    if (mark !== undefined) return sent !== undefined && markId(mark) === markId(sent);
    return live.naturalKeyOf(rule) === live.naturalKeyOf(definition) && isAsSent(rule, definition, place);
  };
  let pass = await live.listedAnew();
  // Where rows move between pages while they are read, one reading may miss a rule.
  if (live.canShift(pass) && !pass.byId.values().some(isOurs)) pass = await live.listedAnew();
  return { made: pass.byId.values().find(isOurs), pass };
}
