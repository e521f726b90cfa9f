import type { LiveRule } from "../../sdk/client/index.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { isEqual } from "../../sdk/json/index.ts";
import type { Found } from "./candidates.ts";
import { refused } from "./create-errors.ts";
import { lookedAtFor } from "./doubt.ts";
import { demandNothingErased, erasedBy } from "./erased.ts";
import { lookBefore } from "./known-facts.ts";
import { isAsDeclared, isAsSent, listed, pathsBetween, pathsOf, seenAs, whoIs } from "./live-rule.ts";
import { claim, type Made, type Making } from "./making.ts";
import { markIn, named, ownerIn } from "./mark.ts";
import { ownMark, seenMark } from "./own-mark.ts";
import { type KnownRule, reasonToReplace } from "./plan.ts";
import { isOwnMark, whoseIs } from "./resource.ts";
import { say, warnOf } from "./say.ts";
import { Written } from "./task.ts";
import { overwrite } from "./update.ts";
import { judgeTakeOver } from "./whose.ts";

/**
 * A rule of this stack by its mark, or because the resource that held it gives it up: taken without a write. What differs
 * enters the state as it is, so that no write is blind: the next run makes it as declared.
 * @throws Written RULE_DIFFERS
 */
export async function asOurs({ existing, mark, facts }: Found, making: Making): Promise<Made> {
  const { definition, of, place, attempted, key } = making;
  const { ruleId, rule } = existing;
  const isMoved = mark !== undefined && !isOwnMark(mark, of, key);
  const leaver = place.holders.leaverOf(ruleId);
  claim(ruleId, making);
  const from =
    leaver !== undefined && leaver.holder !== of.holder ? leaver.owner : isMoved && mark ? ownerIn(mark) : undefined;
  if (from !== undefined && from !== of.owner) say(`is taken over from ${named(from)} of this stack`, ruleId, making);
  const before = place.holders.knownBy(ruleId);
  const known = { ruleId, ...seenMark(mark, place), ...(before?.isTaken ? { isTaken: true as const } : {}) };
  // Fields that a write of no known outcome may have added have to go, as if the state knew them.
  const spoken = before === undefined ? definition : lookedAtFor(before, definition);
  const seen = seenAs(rule, spoken, place);
  if (isEqual(seen, definition, place.contract.rule)) {
    if (before === undefined) sayUndeclared(existing, making);
    // After a lost answer it is what this run has made, by its id, or what an update has made of the rule that the state knows.
    const isOwnMaking = facts.isSuccessor || (making.sent !== undefined && making.ruleId === ruleId);
    return { known: { ...known, definition }, isTakenOver: !isOwnMaking };
  }
  const paths = pathsBetween(seen, definition, place);
  const reason = `rule ${ruleId} is this stack's already, and differs at ${paths}; it is in the state now as it is at the service`;
  throw new Written(
    // Fields that the lost write has added may be secret.
    { ...known, definition: seen, ...(before?.doubt === undefined ? {} : { isSealed: true }) },
    new MerchantRulesError("RULE_DIFFERS", reason, {
      attempted,
      advice: "run `pulumi up` again, which makes it as declared",
    }),
  );
}

/** A rule that no state knows may have been made by a lost create of an earlier program. */
function sayUndeclared({ ruleId, rule }: LiveRule, making: Making): void {
  const paths = erasedBy(making.definition, rule, making.place);
  if (paths.length > 0)
    warnOf(`has fields that the program does not declare, which stay: ${listed(paths)}`, ruleId, making);
}

/** Takes the rule that a program names. @returns undefined: it has gone meanwhile */
export async function adoptNamed(ruleId: string, making: Making): Promise<Made | undefined> {
  const { key, of, place } = making;
  const attempted = `take over rule ${of.label(key) ?? ruleId}`;
  const keeper = place.holders.keeperOf(ruleId);
  if (place.live.isBeingDeleted(ruleId) || keeper !== undefined) {
    const holder = keeper ?? place.holders.leaverOf(ruleId);
    const reason = `rule ${ruleId} is managed by ${named(holder?.owner)} of this stack`;
    const advice =
      "declare the rule once. Where the other resource was only renamed to this one, give this one an alias";
    throw new MerchantRulesError("RULE_CONFLICT", reason, { attempted, advice });
  }
  const how = lookBefore(place) === "fresh" ? "fresh" : "list";
  const sight = await place.live.look({ ...making, ruleId }, of.label(key), how);
  if (sight.is === "absent") {
    const reason = `rule ${ruleId}, which adopt names, is not there`;
    const advice = "correct the id; or remove adopt, and the rule is created";
    throw new MerchantRulesError("RULE_NOT_FOUND", reason, { attempted, advice });
  }
  const existing = { ruleId, rule: sight.rule };
  if (place.live.isForeign(sight.rule)) throw refused(existing, "is the service's own (rule.foreign)", making);
  const mark = markIn(sight.rule, place.contract);
  const isOthers = whoseIs(mark, of) === "another's";
  return takeOver(existing, making, isOthers ? `is taken over from ${whoIs(mark)}` : undefined);
}

/**
 * Makes an existing rule this resource's own by a word of the program or the user, and says so; a set says it of all.
 * @returns undefined: it has gone meanwhile
 */
export async function takeOver(existing: LiveRule, making: Making, how?: string): Promise<Made | undefined> {
  const { definition, key, of, place } = making;
  const { ruleId, rule } = existing;
  const attempted = `take over rule ${of.label(key) ?? ruleId}`;
  const { update } = place.contract.operations;
  const mark = markIn(rule, place.contract);
  const isSame = isAsDeclared(rule, definition, place);
  const known: KnownRule = {
    ruleId,
    definition: seenAs(rule, definition, place),
    ...seenMark(mark, place),
    isTaken: true,
  };
  const verdict = judgeTakeOver({
    isAsDeclared: isSame,
    mark: whoseIs(mark, of),
    hasUpdate: update !== null,
    hasOwnMark: ownMark(making) !== undefined,
    erases: !isAsSent(rule, definition, place) && erasedBy(definition, rule, place).length > 0,
  });
  if (verdict === "refused: its mark stays") throw cannotBeMarked(existing, attempted, making);
  const reason = isSame ? undefined : reasonToReplace(known.definition, definition, place.contract);
  if (reason !== undefined) throw cannotChange(existing, reason, attempted, making);
  if (verdict === "refused: erases") demandNothingErased(existing, definition, attempted, making);
  claim(ruleId, making);
  const usual = isSame ? "is as declared and is taken over" : "is taken over, and was changed to be as declared";
  if (verdict === "take as it is") {
    return taken({ ...known, definition }, how ?? usual, making);
  }
  try {
    const written = await overwrite(known, making, rule, making);
    return written === undefined ? undefined : taken(written, how ?? usual, making);
  } catch (error) {
    if (!(error instanceof Written)) place.holders.release(ruleId);
    throw error;
  }
}

function taken(known: KnownRule, how: string, making: Making): Made {
  if (making.of.isRule) say(how, known.ruleId, making);
  return { known, isTakenOver: true, how };
}

/** With its old mark the rule would be neither changed nor deleted here, whatever the state says. */
function cannotBeMarked({ ruleId, rule }: LiveRule, attempted: string, { place }: Making): MerchantRulesError {
  const who = whoIs(markIn(rule, place.contract));
  const reason = `rule ${ruleId} is managed by ${who}, as its mark says, and the contract has no operations.update by which another mark could be written`;
  return new MerchantRulesError("UNSUPPORTED_BY_CONTRACT", reason, {
    attempted,
    advice: `remove adopt, and have the rule deleted by ${who} or at the service: then it is made anew here; or declare yours with another natural key`,
  });
}

function cannotChange(
  { ruleId, rule }: LiveRule,
  reason: string,
  attempted: string,
  { definition, place }: Making,
): MerchantRulesError {
  const paths = pathsOf(rule, definition, place);
  const found = `rule ${ruleId} differs at ${paths} and cannot be changed: by the contract ${reason}`;
  return new MerchantRulesError("UNSUPPORTED_BY_CONTRACT", found, {
    attempted,
    advice: "declare the rule as it is at the service and take it over so; change it in a later run, which replaces it",
  });
}
