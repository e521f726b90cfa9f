import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { isEqual } from "../../sdk/json/index.ts";
import { whoIs } from "../decide/live-rule.ts";
import type { KnownRule } from "../decide/plan.ts";
import { judgeDelete, judgePassing } from "../decide/whose.ts";
import { markId, markIn, named } from "../merchant/mark.ts";
import { notAsKnown, unclear } from "../refusals/place.ts";
import { say } from "../refusals/say.ts";
import type { How } from "../run/live.ts";
import type { Sent } from "../run/sent.ts";
import { naming, type Task } from "../run/task.ts";
import { Written } from "../run/written.ts";
import { isSeen, isThere, lookBefore, sameRow, sighted, yetFound } from "./known.ts";
import { sayWhatMayBeLeft } from "./new-ids.ts";
import { readyToGo } from "./transitions.ts";

/**
 * Deletes a rule. One that is gone already counts as deleted. One that another resource of the stack has by now, or that is
 * another's at the service, is left alone, and that is said.
 */
export async function remove(row: KnownRule, task: Task): Promise<void> {
  const { place } = task;
  if (place.paper.isGone(row.ruleId) || (await isPassedOn(row, task))) return;
  const known = await toGo(row, undefined, task);
  if (known === undefined || !(await removeNow(known, task))) {
    // An update that was not answered may have given it another id.
    if (known === undefined && place.paper.isGone(row.ruleId)) await sayWhatMayBeLeft(row, task);
    return;
  }
  place.claims.drop(task.of, task.key, known.ruleId);
}

/** True where a heard row, also one that this resource has made or taken, has the same rule: it is left to that. */
async function isPassedOn(row: KnownRule, task: Task): Promise<boolean> {
  const { of, key, place } = task;
  const { claim, by } = sameRow(row, task, true);
  const hasMarks = place.contract.rule.owner !== null;
  const isAsked = claim === "unclear" && hasMarks;
  const sight = isAsked ? await place.live.look(row, of.label(key), lookBefore(place)) : undefined;
  const mark = sight?.is === "present" ? markIn(sight.rule, place.contract) : undefined;
  const isOthersMark = mark !== undefined && markId(mark) === by?.row.mark;
  switch (judgePassing({ other: by === undefined ? undefined : claim, hasMarks, isOthersMark })) {
    case "goes on":
      return false;
    case "refused: unclear": {
      const attempted = `delete rule ${of.label(key) ?? row.ruleId}`;
      const site = row.site ?? place.site(undefined);
      throw unclear(
        { of, before: by?.row.site, now: site },
        { ruleId: row.ruleId, who: named(by?.of.owner), attempted },
      );
    }
    case "passed on, said":
      say(`is ${named(by?.of.owner)}'s of this stack by now, as its mark says, and is not deleted`, row.ruleId, task);
      return true;
    case "passed on":
      if (by !== undefined && !isEqual(by.row.definition, row.definition, place.contract.rule))
        say(`is ${named(by.of.owner)}'s by now, which knows it otherwise, and is not deleted`, row.ruleId, task);
      return true;
  }
}

/** The rule to delete; undefined where it is let go of, which is said, or is gone already. */
async function toGo(row: KnownRule, how: How | undefined, task: Task): Promise<KnownRule | undefined> {
  const { of, key, place } = task;
  const { known, rule, facts } = await sighted(row, task, how);
  const { ruleId } = known;
  if (rule !== undefined && place.live.isForeign(rule)) {
    say("is the service's own (rule.foreign), and is not deleted", ruleId, task);
    return undefined;
  }
  switch (judgeDelete(facts)) {
    case "refused: cannot tell": {
      const attempted = `delete rule ${of.label(key) ?? ruleId}`;
      const now = task.site ?? place.site(undefined);
      throw notAsKnown(place, { of, before: row.site, now }, { ruleId, isThere: facts.isThere, attempted });
    }
    case "delete":
      return known;
    case "done":
      place.paper.remember(ruleId, null);
      return undefined;
    case "let go, said": {
      const mark = rule === undefined ? undefined : markIn(rule, place.contract);
      const who =
        mark === undefined
          ? "is no longer the one that the state knows"
          : `is managed by ${whoIs(mark)} now, as its mark says`;
      say(`${who}, and is not deleted`, ruleId, task);
      return undefined;
    }
  }
}

/** @returns true where the service said that it did so */
async function removeNow(row: KnownRule, task: Task): Promise<boolean> {
  const { of, key, place } = task;
  // Refused before the first request, so there is nothing to look at.
  if (place.contract.operations.delete.identifyBy === null) return await sendDelete(row, task);
  // While a request waited for its turn, another stack may have taken the rule over: the list may have been read anew. Or
  // another resource has.
  const isStill = async (known: KnownRule): Promise<boolean> =>
    (known.doubt !== undefined || (await toGo(known, "cheap", task)) !== undefined) && !isTakenMeanwhile(known, task);
  const known = await readyToGo(row, task, () => isStill(row));
  if (known === undefined) return false;
  const { ruleId, definition } = known;
  const write = async (sent: Sent): Promise<boolean> => {
    // Nothing may come between this and the delete's beginning.
    const isDone = (await isStill(known)) && (await place.paper.deleting(ruleId, () => sendDelete(known, task)));
    // One that was not there to be deleted proves nothing.
    if (!isDone) sent.void();
    return isDone;
  };
  const rest = { sent: definition, before: definition, mark: undefined, known: undefined };
  try {
    return await place.audits.send({ kind: "delete", ruleId, of, key, row: known, ...rest }, write);
  } catch (error) {
    if (known === row || !isMerchantRulesError(error)) throw error;
    throw new Written({ ...known, isSealed: true }, afterReady(error));
  }
}

/** The rule stays, and is not any more as it was declared. */
function afterReady(error: MerchantRulesError): MerchantRulesError {
  return error.with({
    reason: `${error.reason}; the rule was brought to what it must be before a delete (rule.transitions), and stays so`,
    advice: `${error.advice ?? "run again"}; where the rule is to stay, run \`pulumi up --refresh\`, which brings it back to what is declared`,
  });
}

function isTakenMeanwhile(known: KnownRule, task: Task): boolean {
  const { claim, by } = sameRow(known, task, true);
  return claim === "yes" && by !== undefined;
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
    if (answer !== "deleted") place.paper.sayDeletedLate(known.ruleId);
    isSure = isAnswered && !place.contract.operations.delete.readAfter;
  } catch (error) {
    if (!isMerchantRulesError(error)) throw error;
    if (error.outcomeUnknown) place.paper.sayDeletedLate(known.ruleId);
    if (error.code === "RULE_NOT_FOUND") notFound = error;
    else if (error.outcomeUnknown && (await isSeenToBeGone(known, task))) isSure = true;
    else if (place.paper.isGivenAgain(known.ruleId)) return true;
    else throw error.outcomeUnknown ? perhapsDeleted(error) : error;
  }
  // A path that is wrong in the contract is answered 404, too; a page in between says 200.
  const isFound = !isSure && (await (isAnswered ? isThere : isSeen)(known, task));
  if (isFound) await place.paper.createsAnswered();
  // The rule that has the id by now is not the one that was deleted.
  if (place.paper.isGivenAgain(known.ruleId)) return notFound === undefined;
  if (isFound) throw notFound === undefined ? stillThere(known, task) : yetFound("delete", notFound);
  place.paper.remember(known.ruleId, null);
  return notFound === undefined;
}

/** After a delete whose every answer was lost. False where nothing tells: what is seen may be a rule that has the id by now. */
async function isSeenToBeGone(known: KnownRule, task: Task): Promise<boolean> {
  try {
    if (!(await isSeen(known, task))) return true;
  } catch (error) {
    if (!isMerchantRulesError(error)) throw error;
  }
  await task.place.paper.createsAnswered();
  return false;
}

/** The request may have been carried out, or be carried out yet. */
function perhapsDeleted(error: MerchantRulesError): MerchantRulesError {
  const advice =
    "run again; where the rule is declared again, run `pulumi up --refresh`, which looks whether it is there";
  return error.with({ reason: `${error.reason}; the rule may be deleted`, advice });
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
