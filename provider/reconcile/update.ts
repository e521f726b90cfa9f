import type { LiveRule } from "../../sdk/client/index.ts";
import { withoutDriven } from "../../sdk/contract/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { type JsonObject, valueAt } from "../../sdk/json/index.ts";
import { lookedAtBy } from "./doubt.ts";
import { demandNothingErased } from "./erased.ts";
import type { Done } from "./first-writes.ts";
import { kept } from "./kept.ts";
import { factsOf, isForeign, isSeen, lookBefore, needsLook, yetFound } from "./known-facts.ts";
import { hasFormerFields, isAsDeclared, isAsSent, isIdAlone, pathsBetween, seenAs, whoIs } from "./live-rule.ts";
import { marked, markIn, named } from "./mark.ts";
import { isOfVersion, refusedVersion, versioned } from "./meanwhile.ts";
import { afterLostAnswer, demandLookUp, follow, idsChange } from "./new-ids.ts";
import { ownMark, seenMark } from "./own-mark.ts";
import type { Place } from "./place.ts";
import { type DeclaredRule, isDrivenAlone, type KnownRule, reasonToReplace } from "./plan.ts";
import { whoseIs } from "./resource.ts";
import { say, sayGone } from "./say.ts";
import { naming, type Task, Written } from "./task.ts";
import { drive } from "./transitions.ts";
import { judgeUpdate } from "./whose.ts";

/**
 * Changes a rule to be as declared.
 * @returns the rule as the state should know it; undefined: it is another's by now or gone, and a new one is to be made
 * @throws MerchantRulesError RULE_NOT_FOUND: it is gone, and only a refresh can tell the engine; RULE_CONFLICT: it is another's
 * @throws Written: the service keeps something else than was declared
 */
export async function update(known: KnownRule, declared: DeclaredRule, task: Task): Promise<KnownRule | undefined> {
  const { of, place, key } = task;
  const { ruleId } = known;
  const { definition, adopt } = declared;
  const attempted = `update rule ${of.label(key) ?? ruleId}`;
  const isAdopted = adopt === ruleId;
  const sight =
    needsLook(known, place) || isAdopted ? await place.live.look(known, of.label(key), lookBefore(place)) : undefined;
  const rule = sight?.is === "present" ? sight.rule : undefined;
  if (rule !== undefined && place.live.isForeign(rule)) throw isForeign(ruleId, attempted);
  const verdict = judgeUpdate({
    ...factsOf(known, rule, task),
    isThere: sight?.is !== "absent",
    isAdopted,
    isAnotherKey: isAnotherKey(known, definition, place),
  });
  switch (verdict) {
    case "refused: two hold it": {
      const holder = named(place.holders.keeperOf(ruleId)?.owner);
      const advice = "declare the rule once: remove it from one of the two resources, and run again";
      const reason = `rule ${ruleId} is managed by ${holder} of this stack as well`;
      throw new MerchantRulesError("RULE_CONFLICT", reason, { attempted, advice });
    }
    case "refused: another's":
      throw anothers(ruleId, rule, attempted, task);
    case "let go and create":
      return undefined;
    case "create":
      return await goneAtUpdate(known, declared, attempted, task);
    case "take over":
      say(`is taken over from ${whoIs(rule && markIn(rule, place.contract))}`, ruleId, task);
      return await overwrite({ ...known, isTaken: true }, declared, rule, task);
    case "write":
      return await overwrite(known, declared, rule, task);
  }
}

/** The rule is another's by now. */
function anothers(
  ruleId: string,
  rule: JsonObject | undefined,
  attempted: string,
  { of, key, place }: Task,
): MerchantRulesError {
  const { formerNames, howToNameFormer, moved } = place.options;
  const renamed =
    of.copiedFrom === undefined
      ? ""
      : `; if this stack was ${of.copiedFrom.name} before, and its state is no copy, set ${howToNameFormer}=${[...formerNames, of.copiedFrom.name].join()} for one run`;
  const advice = `to take it over, add ${of.adopting(key, ruleId)}; to leave it, remove it from the program. If the rules are to be at another place from now on, set ${moved.howTo} for one run of \`pulumi up --refresh\`${renamed}`;
  const reason = `rule ${ruleId} is managed by ${whoIs(rule && markIn(rule, place.contract))} now, as its mark says`;
  return new MerchantRulesError("RULE_CONFLICT", reason, { attempted, advice });
}

/** Sends the update. @param rule the rule as it is, where it was looked at */
export async function overwrite(
  known: KnownRule,
  declared: DeclaredRule,
  rule: JsonObject | undefined,
  task: Task,
): Promise<KnownRule | undefined> {
  const { definition } = declared;
  const { key, of, place } = task;
  const { ruleId } = known;
  const attempted = `update rule ${of.label(key) ?? ruleId}`;
  const markNow = rule === undefined ? undefined : markIn(rule, place.contract);
  if (
    rule !== undefined &&
    whoseIs(markNow, of) !== "another's" &&
    isAsDeclared(rule, definition, place) &&
    !hasFormerFields(rule, lookedAtBy(known), definition, place)
  )
    return {
      ruleId,
      definition,
      ...seenMark(markNow, place),
      ...(known.isTaken ? { isTaken: true } : {}),
    };
  if (known.doubt !== undefined && rule !== undefined) demandChangeable(known, rule, definition, attempted, task);
  // Where requests of their own make the whole change, no update is sent.
  const isUpdate =
    rule === undefined
      ? !isDrivenAlone(known.definition, definition, place.contract)
      : differs(known, rule, definition, task);
  if (known.isTaken && isUpdate && rule !== undefined)
    demandNothingErased({ ruleId, rule }, definition, attempted, task);
  const mark = isUpdate ? ownMark(task) : markNow;
  const sent = marked(definition, mark, place.contract);
  /** The rule as it is written, by the id that it has afterwards. */
  let written: KnownRule = { ruleId, definition, ...seenMark(mark, place) };
  let isAnswered = false;
  let notFound: MerchantRulesError | undefined;
  const write = async (): Promise<Done<KnownRule | undefined>> => {
    // While this update waited for its turn, the list may have been read anew, and show that another stack has the rule.
    if (known.isTaken !== true && known.doubt === undefined && needsLook(known, place)) {
      const now = await place.live.look(known, of.label(key), "cheap");
      if (now.is === "present" && whoseIs(markIn(now.rule, place.contract), of) === "another's")
        throw anothers(ruleId, now.rule, attempted, task);
    }
    const before = idsChange(place) && place.contract.operations.list ? (await place.live.listed()).byId : undefined;
    let answer: LiveRule | undefined;
    if (!isUpdate) {
      await drive(rule === undefined ? undefined : { ruleId, rule }, written, task);
      place.live.remember(ruleId, definition);
      return { value: { ...written, ...(known.isTaken ? { isTaken: true } : {}) }, isDone: true };
    }
    try {
      const seen = await versioned(known, definition, task);
      const options = { ...naming(known, task), ...(seen === undefined ? {} : { seen }) };
      answer = await (await place.live.client()).update(ruleId, sent, options);
    } catch (error) {
      if (!isMerchantRulesError(error)) throw error;
      if (isOfVersion(error, task)) {
        const { live, error: changed } = await refusedVersion(known, definition, task);
        if (changed !== undefined) throw changed;
        // It is as declared: by an attempt of this run whose answer was lost.
        return { value: await kept(await drive(live, written, task), written, "update", task), isDone: true };
      }
      // A service that keeps deleted rules may refuse to change one as a conflict.
      const isConflict = error.code === "RULE_CONFLICT" && place.contract.rule.gone.length > 0;
      if (idsChange(place) && error.outcomeUnknown) answer = await afterLostAnswer(error, definition, before, task);
      else {
        if (error.code !== "RULE_NOT_FOUND" && !isConflict) throw inTheWay(error, known, definition, place);
        if (await isSeen(known, task))
          throw isConflict ? inTheWay(error, known, definition, place) : yetFound("update", error);
        notFound = error;
        return { value: undefined, isDone: false };
      }
    }
    written = { ...written, ruleId: answer?.ruleId ?? ruleId };
    follow(known, written.ruleId, definition, before, task);
    isAnswered = true;
    place.live.remember(written.ruleId, definition);
    const shownBefore = answer === undefined || isIdAlone(answer.rule, place) ? known.definition : undefined;
    const value = await kept(await drive(answer, written, task), written, "update", task, shownBefore);
    return { value, isDone: true, ruleId: written.ruleId };
  };
  try {
    const now = await place.firstWrites.run("update", known, definition, write);
    return notFound === undefined ? now : await goneAtUpdate(known, declared, attempted, task, notFound);
  } catch (error) {
    if (!isAnswered || !isMerchantRulesError(error)) throw error;
    const now = await asItIs({ ...known, ruleId: written.ruleId }, definition, task);
    if (now !== undefined) throw new Written(now, error);
    // By its old id the state would lose it.
    throw written.ruleId === ruleId ? error : new Written({ ...written, doubt: {} }, error);
  }
}

/** True of a looked-at rule that an update has to change, wholly or in part. */
function differs(known: KnownRule, rule: JsonObject, definition: JsonObject, { of, place }: Task): boolean {
  if (place.contract.rule.transitions.length === 0 || whoseIs(markIn(rule, place.contract), of) === "another's")
    return true;
  const before = withoutDriven(lookedAtBy(known), place.contract);
  return (
    !isAsSent(rule, definition, place) ||
    hasFormerFields(rule, before, withoutDriven(definition, place.contract), place)
  );
}

/** A doubt may hide a change that only a replacement makes: the state has to know it first. @throws Written */
function demandChangeable(
  known: KnownRule,
  rule: JsonObject,
  definition: JsonObject,
  attempted: string,
  { place }: Task,
): void {
  const seen = seenAs(rule, lookedAtBy(known), place);
  const why = reasonToReplace(seen, definition, place.contract);
  if (why === undefined) return;
  const reason = `the rule differs at ${pathsBetween(seen, definition, place)}, and has to be replaced, because by the contract ${why}; it is in the state now as it is at the service`;
  throw new Written(
    { ruleId: known.ruleId, definition: seen, ...seenMark(markIn(rule, place.contract), place), isSealed: true },
    new MerchantRulesError("RULE_DIFFERS", reason, { attempted, advice: "run `pulumi up` again, which replaces it" }),
  );
}

/**
 * A rule after a first update with which the service did something else: the next run has to begin with what there is.
 * @returns undefined where it is as it was, is not there, or cannot be read: an answer without any field of it and without its id is another's
 */
async function asItIs(
  { ruleId, definition: before }: KnownRule,
  definition: JsonObject,
  { key, of, place }: Task,
): Promise<KnownRule | undefined> {
  const sight = await place.live.look({ ruleId, definition }, of.label(key), "fresh").catch((error) => {
    if (!isMerchantRulesError(error)) throw error;
  });
  if (sight?.is !== "present" || isAsDeclared(sight.rule, before, place)) return undefined;
  const definitionNow = seenAs(sight.rule, definition, place);
  const { id } = place.contract.rule;
  if (Object.keys(definitionNow).length === 0 && id.every((at) => String(valueAt(sight.rule, at)) !== ruleId))
    return undefined;
  const mark = markIn(sight.rule, place.contract);
  return { ruleId, definition: definitionNow, ...seenMark(mark, place), isSealed: true };
}

/**
 * A set makes its rule anew. A resource of one rule has the id of the rule that is gone, so the engine must hear of it, but
 * where updates give other ids.
 */
async function goneAtUpdate(
  known: KnownRule,
  { definition, adopt }: DeclaredRule,
  attempted: string,
  task: Task,
  error?: MerchantRulesError,
): Promise<undefined> {
  const { of, place } = task;
  const { ruleId } = known;
  const isNamed = typeof adopt === "string" && adopt !== ruleId;
  if (idsChange(place) && !isNamed) demandLookUp(known, definition, attempted, task);
  place.live.remember(ruleId, null);
  place.holders.release(ruleId);
  if (!of.isRule || idsChange(place)) {
    sayGone(ruleId, place.options, task);
    return undefined;
  }
  const gone = {
    attempted,
    advice: "run `pulumi up --refresh`, which sees that it is gone and makes it again",
  };
  const reason = `rule ${ruleId} is no longer there`;
  throw (
    error?.with({ code: "RULE_NOT_FOUND", reason, ...gone }) ?? new MerchantRulesError("RULE_NOT_FOUND", reason, gone)
  );
}

function isAnotherKey({ ruleId, definition }: KnownRule, declared: JsonObject, { live }: Place): boolean {
  const wanted = live.naturalKeyOf(declared);
  return wanted !== undefined && wanted !== live.naturalKeyOf(live.written(ruleId) ?? definition);
}

/** A service calls a natural key a conflict that another rule has, and the version of a rule that somebody has changed. */
function inTheWay(
  error: MerchantRulesError,
  known: KnownRule,
  definition: JsonObject,
  place: Place,
): MerchantRulesError {
  if (error.code !== "RULE_CONFLICT") return error;
  const { naturalKey } = place.contract.rule;
  const { serviceCode, serviceMessage, serviceDetails } = error.exchange ?? {};
  const saysWhat =
    error.exchange?.meaning === "exists" ||
    [serviceCode, serviceMessage, serviceDetails].some((text) => text !== undefined);
  const advice =
    saysWhat && isAnotherKey(known, definition, place)
      ? `another rule may have its natural key (${naturalKey}) still. Two rules that swap theirs need two runs: give one of them another first`
      : "the service's own message, where it has one, says what the change conflicts with. If the rule was changed there meanwhile, run `pulumi up --refresh`, which sees it as it is now";
  return error.with({ advice });
}
