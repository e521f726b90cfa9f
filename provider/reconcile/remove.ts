import { setTimeout as sleep } from "node:timers/promises";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import type { Done } from "./first-writes.ts";
import { factsOf, isSeen, isThere, lookBefore, needsLook, yetFound } from "./known-facts.ts";
import type { How } from "./live.ts";
import { whoIs } from "./live-rule.ts";
import { markIn } from "./mark.ts";
import { sayWhatMayBeLeft, successors } from "./new-ids.ts";
import { seenMark } from "./own-mark.ts";
import type { KnownRule } from "./plan.ts";
import { say, warnOf } from "./say.ts";
import { naming, type Task } from "./task.ts";
import { judgeDelete } from "./whose.ts";

/**
 * Deletes a rule. One that is gone already counts as deleted. One that another resource of the stack holds by now, or
 * that is another's at the service, is left alone, and that is said.
 */
export async function remove(known: KnownRule, task: Task): Promise<void> {
  const { of, place } = task;
  const { ruleId } = known;
  if (place.live.isGone(ruleId)) return;
  if (place.holders.isPassedOn(ruleId)) return place.holders.delivered(ruleId);
  await claimable(known, task);
  if (place.holders.isHeldByOther(ruleId, of)) return;
  if ((await isToGo(known, lookBefore(place), task)) && (await removeNow(known, task))) return;
  // An update that was not answered may have given it another id.
  if (!place.live.isGone(ruleId)) return;
  for (const { ruleId: now, rule } of await successors(task.key, task))
    await remove({ ...known, ruleId: now, ...seenMark(markIn(rule, place.contract), place) }, task);
  await sayWhatMayBeLeft(known, task);
}

/** False where the rule is let go of, which is said, or is gone already. */
async function isToGo(known: KnownRule, how: How, task: Task): Promise<boolean> {
  const { of, place, key } = task;
  const { ruleId } = known;
  const sight = needsLook(known, place) ? await place.live.look(known, of.label(key), how) : undefined;
  const rule = sight?.is === "present" ? sight.rule : undefined;
  if (rule !== undefined && place.live.isForeign(rule)) {
    say("is the service's own (rule.foreign), and is not deleted", ruleId, task);
    return false;
  }
  const who = (): string => whoIs(rule && markIn(rule, place.contract));
  switch (judgeDelete({ ...factsOf(known, rule, task), isThere: sight?.is !== "absent" })) {
    case "delete":
      return true;
    case "done":
      sayNotThere(ruleId, task);
      place.live.remember(ruleId, null);
      break;
    case "let go, said":
      say(`is managed by ${who()} now, as its mark says, and is not deleted`, ruleId, task);
      break;
    case "passed on, said":
      say(`is ${who()}'s of this stack by now, as its mark says, and is not deleted`, ruleId, task);
      break;
    case "passed on":
  }
  return false;
}

/** A rule that moves to another resource of this run is left to it: a wait that can only save a delete. */
async function claimable({ ruleId, definition }: KnownRule, { of, place }: Task): Promise<void> {
  const key = place.live.naturalKeyOf(definition);
  if (key === undefined || place.contract.operations.list === null) return;
  const end = performance.now() + mostClaimMs;
  while (
    place.holders.isDeclaredByOther(key, of) &&
    !place.holders.isHeldByOther(ruleId, of) &&
    performance.now() < end
  )
    await sleep(10);
}

/** The time that a rule which another resource of this run declares waits to be taken over by it. */
const mostClaimMs = 2000;

/** @returns true where the service said that it did so */
async function removeNow(known: KnownRule, task: Task): Promise<boolean> {
  const { of, place } = task;
  const { ruleId } = known;
  const write = async (): Promise<Done<boolean>> => {
    // While this delete waited for its turn, another stack may have taken the rule over: the list may have been read anew.
    if (known.doubt === undefined && !(await isToGo(known, "cheap", task))) return { value: false, isDone: false };
    // Or another resource has. Nothing may come between this and the delete's beginning.
    if (place.holders.isHeldByOther(ruleId, of) || place.holders.isPassedOn(ruleId))
      return { value: false, isDone: false };
    const isDone = await place.live.deleting(ruleId, () => sendDelete(known, task));
    return { value: isDone, isDone };
  };
  // Refused before the first request, so there is nothing to look at.
  if (place.contract.operations.delete.identifyBy === null) return (await write()).value;
  try {
    return await place.firstWrites.run("delete", known, known.definition, write);
  } catch (error) {
    if (place.live.isGone(ruleId)) await seeAgain(known, task);
    throw error;
  }
}

/** By its answer the rule is deleted, and the look after that did not end well: what is there must stay in the state. */
async function seeAgain({ ruleId, definition }: KnownRule, { key, of, place }: Task): Promise<void> {
  const sight = await place.live.look({ ruleId, definition }, of.label(key), "fresh").catch((error: unknown) => {
    if (!isMerchantRulesError(error)) throw error;
  });
  if (sight?.is === "present") place.live.remember(ruleId, sight.rule);
}

/** @returns true where the service said that it did so, false where the rule was not there */
async function sendDelete(known: KnownRule, task: Task): Promise<boolean> {
  const { place } = task;
  let isSure = false;
  let isAnswered = false;
  let notFound: MerchantRulesError | undefined;
  try {
    const answer = await (await place.live.client()).delete(known.ruleId, naming(known, task));
    isAnswered = answer !== "unconfirmed";
    if (answer !== "deleted") place.live.sayDeletedLate(known.ruleId);
    isSure = isAnswered && !place.contract.operations.delete.readAfter;
  } catch (error) {
    if (!isMerchantRulesError(error)) throw error;
    if (error.outcomeUnknown) place.live.sayDeletedLate(known.ruleId);
    if (error.code === "RULE_NOT_FOUND") notFound = error;
    else if (error.outcomeUnknown && (await isSeenToBeGone(known, task))) isSure = true;
    else if (place.live.isGivenAgain(known.ruleId)) return true;
    else throw error.outcomeUnknown ? perhapsDeleted(error) : error;
  }
  // A path that is wrong in the contract is answered 404, too; a page in between says 200.
  const isFound = !isSure && (await (isAnswered ? isThere : isSeen)(known, task));
  if (isFound) await place.live.createsAnswered();
  // The rule that has the id by now is not the one that was deleted.
  if (place.live.isGivenAgain(known.ruleId)) return notFound === undefined;
  if (isFound) throw notFound === undefined ? stillThere(known, task) : yetFound("delete", notFound);
  if (notFound !== undefined) sayNotThere(known.ruleId, task);
  place.live.remember(known.ruleId, null);
  place.holders.release(known.ruleId);
  return notFound === undefined;
}

/** After a delete whose every answer was lost. False where nothing tells: what is seen may be a rule that has the id by now. */
async function isSeenToBeGone(known: KnownRule, task: Task): Promise<boolean> {
  try {
    if (!(await isSeen(known, task))) return true;
  } catch (error) {
    if (!isMerchantRulesError(error)) throw error;
  }
  await task.place.live.createsAnswered();
  return false;
}

/** The request may have been carried out, or be carried out yet. */
function perhapsDeleted(error: MerchantRulesError): MerchantRulesError {
  const advice =
    "run again; where the rule is declared again, run `pulumi up --refresh`, which looks whether it is there";
  return error.with({ reason: `${error.reason}; the rule may be deleted`, advice });
}

/** Nothing has shown that this is the right place, so the state may be the last that knows the rule. */
function sayNotThere(ruleId: string, task: Task): void {
  if (task.place.proof.isProven) return;
  const { name } = task.place.options;
  const fact = `was not there and counts as deleted; if connection "${name}" is not the one that made it, it is still in force there`;
  warnOf(fact, ruleId, task);
}

function stillThere({ ruleId }: KnownRule, { key, of }: Task): MerchantRulesError {
  return new MerchantRulesError(
    "SERVICE_FAILED",
    "the service answered that the rule is deleted, but a read still finds it",
    {
      attempted: `delete rule ${of.label(key) ?? ruleId}`,
      outcomeUnknown: true,
      advice:
        "run again; if it stays, see whether operations.delete.path and operations.delete.identifyBy in the contract are right, or whether the service keeps deleted rules (rule.gone)",
    },
  );
}
