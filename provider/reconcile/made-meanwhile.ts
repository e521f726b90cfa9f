import { setTimeout as sleep } from "node:timers/promises";
import type { LiveRule } from "../../sdk/client/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import type { Pass } from "./live.ts";
import { isAsSent } from "./live-rule.ts";
import { markIn } from "./mark.ts";
import { ownMark } from "./own-mark.ts";
import type { Place } from "./place.ts";
import { isOwnMark } from "./resource.ts";
import type { Task } from "./task.ts";

/** The rules that a list showed before a write. */
export type Before = Pass["byId"] | undefined;

/** True of a rule that was there before this write; the id of one that this run has deleted may be given again. */
export function wasBefore(ruleId: string, before: Before, { live }: Pick<Place, "live">): boolean {
  return before?.has(ruleId) === true && !live.isGone(ruleId);
}

/** True where a rule can be looked up that a write of this run may have made: by its natural key or its mark. */
export function canLookUp(definition: JsonObject, task: Task): boolean {
  const { live, contract } = task.place;
  return live.canSearch(definition) || (contract.operations.list !== null && ownMark(task) !== undefined);
}

/** A reading of the list after a write, and the rule that the write has made, where that shows it. */
export interface Reading {
  readonly made: LiveRule | undefined;
  readonly pass: Pass;
}

/**
 * The rule that a write of this run has made, by the list after its lag, where the answer was lost. There was none before.
 * The mark says so, where there is one; else a rule that is as declared was made by this write.
 */
export async function madeMeanwhile(definition: JsonObject, before: Before, task: Task): Promise<Reading> {
  const { of, key, place } = task;
  const { live, contract, holders } = place;
  await sleep(contract.operations.list?.lagMs ?? 0);
  const isOurs = ({ ruleId, rule }: LiveRule): boolean => {
    if (wasBefore(ruleId, before, place) || holders.keeperOf(ruleId) !== undefined) return false;
    const mark = markIn(rule, contract);
    if (mark !== undefined) return isOwnMark(mark, of, key);
    return live.naturalKeyOf(rule) === live.naturalKeyOf(definition) && isAsSent(rule, definition, place);
  };
  let pass = await live.listedAnew();
  // Where rows move between pages while they are read, one reading may miss a rule.
  if (live.canShift(pass) && !pass.byId.values().some(isOurs)) pass = await live.listedAnew();
  return { made: pass.byId.values().find(isOurs), pass };
}
