import { MerchantRulesError } from "../../sdk/errors.ts";
import { differsUnseen } from "../../sdk/json/index.ts";
import { isAsDeclared, listed, pathsBetween, pathsOf, seenAs, undeclaredOf, whoIs } from "../decide/live-rule.ts";
import { type KnownRule, reasonToReplace } from "../decide/plan.ts";
import { judgeTakeOver } from "../decide/whose.ts";
import { markIn, named, ownerIn, personsText } from "../merchant/mark.ts";
import { notOurs } from "../refusals/create-errors.ts";
import { unclear } from "../refusals/place.ts";
import { say, warnOf } from "../refusals/say.ts";
import type { Made, Making } from "../run/making.ts";
import { isOwnMark } from "../run/resource.ts";
import { noted } from "../run/task.ts";
import { Written } from "../run/written.ts";
import { erasedBy } from "./erased.ts";
import type { Found } from "./find.ts";
import { claimOn, lookBefore } from "./known.ts";
import { overwrite } from "./update.ts";

/** How a rule that is there becomes the resource's own. */
export type By =
  /** By its own mark, or the id that this resource chooses. */
  | "found"
  /** Another resource of this stack had it, as its mark says. */
  | "move"
  /** By the program's word. */
  | "adopt"
  /** By the user's word. */
  | "recover";

/** Takes the rule that a program names. @returns undefined: it has gone meanwhile */
export async function adoptNamed(ruleId: string, making: Making): Promise<Made | undefined> {
  const { key, of, place } = making;
  const attempted = `take over rule ${of.label(key) ?? ruleId}`;
  const how = lookBefore(place) === "fresh" ? "fresh" : "list";
  const sight = await place.live.look({ ruleId, definition: making.definition }, of.label(key), how);
  if (sight.is === "absent") {
    const reason = `rule ${ruleId}, which adopt names, is not there`;
    const advice = "correct the id; or remove adopt, and the rule is created";
    throw new MerchantRulesError("RULE_NOT_FOUND", reason, { attempted, advice });
  }
  const existing = { ruleId, rule: sight.rule };
  if (place.live.isForeign(sight.rule)) throw notOurs(existing, "is the service's own (rule.foreign)", making);
  const { claim, by } = claimOn(ruleId, sight.rule, making);
  if (place.paper.isBeingDeleted(ruleId) || claim === "yes") {
    const reason = `rule ${ruleId} is managed by ${named(by?.of.owner)} of this stack`;
    const advice =
      claim === "yes"
        ? "declare the rule once. Where the other resource was only renamed to this one, give this one an alias"
        : "this run deletes it: remove adopt and run again, and the rule is made anew";
    throw new MerchantRulesError("RULE_CONFLICT", reason, { attempted, advice });
  }
  if (claim === "unclear")
    throw unclear(
      { of, before: by?.row.site, now: making.site ?? place.site(undefined) },
      { ruleId, who: named(by?.of.owner), attempted },
    );
  return takeOver({ existing, mark: markIn(sight.rule, place.contract) }, "adopt", making);
}

/**
 * Makes an existing rule this resource's own, and says so; a set says it of all. What differs enters the state as it is,
 * so that no write is blind; a rule that the program names is made as declared at once.
 * @returns undefined: it has gone meanwhile
 * @throws Written RULE_DIFFERS: it is in the state as it is live
 */
export async function takeOver(
  { existing, mark }: Pick<Found, "existing" | "mark">,
  by: By,
  making: Making,
): Promise<Made | undefined> {
  const { definition, key, of, place } = making;
  const { ruleId, rule } = existing;
  const attempted = `take over rule ${of.label(key) ?? ruleId}`;
  const isEqual = isAsDeclared(rule, definition, place);
  const known: KnownRule = {
    ruleId,
    definition: seenAs(rule, definition, place),
    ...noted(mark, making),
    isTaken: true,
    ...undeclaredOf(rule, definition, place),
  };
  const verdict = judgeTakeOver({
    isEqual,
    isNamed: by === "adopt",
    hasOthersMark: mark !== undefined && !isOwnMark(mark, of, key),
    canUpdate: place.contract.operations.update !== null && of.link !== undefined,
    isUnseen: differsUnseen({}, definition, place.contract.rule),
  });
  if (verdict === "refused: its mark stays") throw cannotBeMarked(whoIs(mark), ruleId, attempted);
  const reason = isEqual ? undefined : reasonToReplace(known.definition, definition, place.contract);
  if (verdict === "refused: cannot change" || (verdict === "write" && reason !== undefined))
    throw cannotChange(pathsOf(rule, definition, place), reason ?? "", ruleId, attempted);
  const naturalKey = place.live.naturalKeyOf(definition);
  place.claims.hear({ of, key, row: known, naturalKey, isOfState: false });
  if (verdict === "into the state as live")
    throw new Written(known, differs(existing.ruleId, known, attempted, making));
  const how = wordsOf(by, isEqual, mark === undefined || isOwnMark(mark, of, key) ? undefined : ownerIn(mark));
  if (verdict === "take as it is") {
    if (by === "found") sayUndeclared(existing, making);
    const persons = personsText(rule, place.contract);
    if (persons !== undefined) warnOf("keeps the text that a person wrote where its mark would stand", ruleId, making);
    return taken({ ...known, definition }, how, making);
  }
  try {
    const written = await overwrite(known, making, { rule, isMarked: true }, making);
    if (by !== "adopt") sayUndeclared(existing, making);
    return written === undefined ? undefined : taken(written, how, making);
  } catch (error) {
    if (!(error instanceof Written)) place.claims.drop(of, key);
    throw error;
  }
}

function wordsOf(by: By, isEqual: boolean, before: string | undefined): string | undefined {
  if (by === "found") return undefined;
  if (by === "recover") return "exists, is as declared as a whole, and is taken over to recover";
  if (before !== undefined) return `is taken over from ${JSON.stringify(before)}`;
  return isEqual ? "is as declared and is taken over" : "is taken over, and was changed to be as declared";
}

function taken(known: KnownRule, how: string | undefined, making: Making): Made {
  if (how !== undefined && making.of.isRule) say(how, known.ruleId, making);
  // After a lost answer it is what this run has made, by its id.
  const isOwnMaking = making.sent !== undefined && making.ruleId === known.ruleId;
  return { known, isTakenOver: !isOwnMaking, ...(how === undefined ? {} : { how }) };
}

function differs(
  ruleId: string,
  { definition: seen }: KnownRule,
  attempted: string,
  making: Making,
): MerchantRulesError {
  const paths = pathsBetween(seen, making.definition, making.place);
  const reason = `rule ${ruleId} is this stack's already, and differs at ${paths}; it is in the state now as it is at the service`;
  return new MerchantRulesError("RULE_DIFFERS", reason, {
    attempted,
    advice: "run `pulumi up` again, which makes it as declared",
  });
}

/** A rule that no state knows may have been made by a lost create of an earlier program. */
function sayUndeclared({ ruleId, rule }: Found["existing"], making: Making): void {
  const paths = erasedBy(making.definition, rule, making.place, "replacement");
  if (paths.length > 0)
    warnOf(`has fields that the program does not declare, which stay: ${listed(paths)}`, ruleId, making);
}

/** With its old mark the rule would be neither changed nor deleted here, whatever the state says. */
function cannotBeMarked(who: string, ruleId: string, attempted: string): MerchantRulesError {
  const reason = `rule ${ruleId} is managed by ${who}, as its mark says, and the contract has no operations.update by which another mark could be written`;
  return new MerchantRulesError("UNSUPPORTED_BY_CONTRACT", reason, {
    attempted,
    advice: `remove adopt, and have the rule deleted by ${who} or at the service: then it is made anew here; or declare yours with another natural key`,
  });
}

function cannotChange(paths: string, reason: string, ruleId: string, attempted: string): MerchantRulesError {
  const found = `rule ${ruleId} differs at ${paths} and cannot be changed: by the contract ${reason}`;
  return new MerchantRulesError("UNSUPPORTED_BY_CONTRACT", found, {
    attempted,
    advice: "declare the rule as it is at the service and take it over so; change it in a later run, which replaces it",
  });
}
