import type { LiveRule } from "../../sdk/client/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { candidates, type Found, search } from "./candidates.ts";
import { cannotSearch, inItsOwnWay, inTheWay, mayExist, refused, several, unmarked } from "./create-errors.ts";
import { kept } from "./kept.ts";
import { isAsDeclared, isAsSent, isIdAlone, seenAs, whoIs } from "./live-rule.ts";
import { type Before, canLookUp, madeMeanwhile, wasBefore } from "./made-meanwhile.ts";
import { type Made, type Making, mayReplace } from "./making.ts";
import { marked, markIn, named } from "./mark.ts";
import { ownMark, seenMark } from "./own-mark.ts";
import { type DeclaredRule, type KnownRule, reasonToReplace } from "./plan.ts";
import { remove } from "./remove.ts";
import { isOwnMark } from "./resource.ts";
import { warnOf } from "./say.ts";
import { adoptNamed, asOurs, takeOver } from "./take-over.ts";
import { naming, type Task, Written } from "./task.ts";
import { driveNew } from "./transitions.ts";
import { judgeCreate } from "./whose.ts";

/**
 * Makes a declared rule exist exactly once. It looks before it creates, where the contract allows it. A rule that exists
 * already is taken when it is this resource's own, or the program or the user says so; else it is refused. Nothing is
 * overwritten without a word that names the rule.
 * @param inPlaceOf a rule that the state knows and that is gone
 * @throws MerchantRulesError RULE_CONFLICT: another rule has its natural key; RULE_OUTCOME_UNKNOWN: the rule may exist
 * @throws Written: the state must know the rule as it is, and the run has not made it as declared
 */
export function createOnce(declared: DeclaredRule, task: Task, inPlaceOf?: KnownRule): Promise<Made> {
  const { definition, adopt } = declared;
  const { key, of, place } = task;
  const making = { ...declared, ...task, inPlaceOf, attempted: `create rule ${of.label(key) ?? ""}`.trimEnd() };
  return place.live.oneAtATime(definition, async () => {
    if (typeof adopt === "string") return (await adoptNamed(adopt, making)) ?? create(making);
    if (adopt === true && !place.live.canSearch(definition)) throw cannotSearch(making);
    return made(making);
  });
}

async function made(given: Making): Promise<Made> {
  const { found: searched, ...chosen } = await search(given);
  const making = { ...given, ...chosen };
  const { definition, adopt, place, of } = making;
  const found = await candidates(searched, making);
  const verdict = judgeCreate(
    found.map(({ facts }) => facts),
    { adopt: adopt === true, recover: place.options.recover.isGiven },
  );
  // A rule that a create of this run made all the same is no other run's.
  if (making.sent === undefined) bewareOfOthers(found, making);
  const [first] = found;
  if (verdict === "create" || first === undefined) return create(making);
  const { existing, mark } = first;
  // Its delete has begun since it was found, or is done. The next search waits for the end of that.
  if (place.live.isBeingDeleted(existing.ruleId) || place.live.isGone(existing.ruleId)) return made(making);
  if (!(await areThere(found, making))) return made(making);
  switch (verdict) {
    case "ours": {
      const own = found.find(({ facts }) => facts.mark === "ours" || facts.isGivenUp) ?? first;
      const isDifferent = !isAsDeclared(own.existing.rule, definition, place);
      if (isDifferent && mustGoFirst(own, making)) return replacing(own.existing, making);
      return asOurs(own, making);
    }
    case "take over":
      return (await takeOver(existing, making)) ?? create(making);
    case "recover":
      return (
        (await takeOver(existing, making, "exists, is as declared as a whole, and is taken over to recover")) ??
        create(making)
      );
    case "refused: still declared": {
      const held = found.find(({ facts }) => facts.isHeld) ?? first;
      const keeper = place.holders.keeperOf(held.existing.ruleId);
      if (keeper?.holder === of.holder && mayReplace(making)) throw inItsOwnWay(held.existing, making);
      throw refused(held.existing, `is managed by ${named(keeper?.owner)} of this stack`, making);
    }
    case "refused: the service's own":
      throw refused(existing, "is the service's own (rule.foreign)", making);
    case "refused: another's":
      throw refused(existing, `is managed by ${whoIs(mark)}, as its mark says`, making, true);
    case "refused: copies":
    case "refused: several":
      throw several(found, making);
    case "refused: unmarked":
      throw unmarked(existing, making);
  }
}

/** A rule that no state knows, and that the last reading may show wrongly, is looked at, before it is taken or refused. */
async function areThere(found: readonly Found[], { of, key, place }: Making): Promise<boolean> {
  const unseen = found.filter(
    ({ existing: { ruleId } }) =>
      place.live.mayBeGone(ruleId) && !place.holders.isKnown(ruleId) && place.live.written(ruleId) === undefined,
  );
  for (const { existing } of unseen)
    if (!(await place.live.isThere(existing.ruleId, of.label(key)))) place.live.remember(existing.ruleId, null);
  return unseen.every(({ existing }) => !place.live.isGone(existing.ruleId));
}

/** A rule that came since this run began, and not by it: another run of the stack makes the same rules now. */
function bewareOfOthers(found: readonly Found[], { place, of, key }: Making): void {
  const other = found.find(({ facts, existing: { ruleId } }) => {
    const isNew = !place.live.wasThere(ruleId) && place.live.written(ruleId) === undefined;
    return isNew && !facts.isHeld && !place.holders.isKnown(ruleId);
  });
  if (other === undefined || place.contract.operations.list === null) return;
  place.live.beware();
  const fact =
    "was made while this run went on, and not by it: another run of this stack may be under way. End it first";
  warnOf(fact, other.existing.ruleId, { key, of });
}

/**
 * Creates wait for their turns, as many at once as requests may be; then the list is looked through once more. What is
 * asked after a lost answer waits for no turn, nor does it keep others from theirs.
 */
async function create(making: Making): Promise<Made> {
  const { live, firstWrites, contract } = making.place;
  const { sent } = making;
  // All turns may be taken by creates that wait for the end of this one's search.
  if (sent?.exchange?.isWithoutId) throw mayExist(sent, making);
  if (making.isDue) return send(making);
  const { found } = await live.inTurn(async () => {
    await firstWrites.waitForIds();
    const due = { ...making, isDue: true as const };
    const done = contract.operations.list === null ? send(due) : made(due);
    return await done.then(
      (rule) => ({ found: rule }),
      (error: unknown) => {
        // The search begins before the next turn does, and does not end in this one.
        if (error instanceof Unanswered) return { found: afterLostAnswer(error, making) };
        throw error;
      },
    );
  });
  return await found;
}

/** A create of which only the service knows what it did. */
class Unanswered extends Error {
  readonly error: MerchantRulesError;
  /** The rules that were there before. */
  readonly before: Before;

  constructor(error: MerchantRulesError, before: Before) {
    super(error.message);
    this.error = error;
    this.before = before;
  }
}

/**
 * Sends the create, once: after a lost answer the rule is looked for, and nothing else tells whether to send it again. The
 * client alone does that, all attempts with one idempotency key.
 */
async function send(making: Making): Promise<Made> {
  const { definition, of, place, ruleId: chosen, sent: failed } = making;
  if (failed?.outcomeUnknown) throw mayExist(failed, making);
  const before = place.contract.operations.list === null ? undefined : (await place.live.listed()).byId;
  const mark = ownMark(making);
  try {
    place.firstWrites.demandGoingOn();
    const body = marked(definition, mark, place.contract);
    const options = { ...naming(making, making), ...(chosen === undefined ? {} : { ruleId: chosen }) };
    const client = await place.live.client();
    const answer = await place.live.sending(async () => {
      const created = await client.create(body, options);
      const isOld =
        created.ruleId !== chosen &&
        wasBefore(created.ruleId, before, place) &&
        !place.live.isBeingDeleted(created.ruleId);
      demandOwnMaking(created, isOld, making);
      if (place.live.isBeingDeleted(created.ruleId)) place.holders.release(created.ruleId);
      place.live.madeNow(created.ruleId, definition);
      place.holders.claim(created.ruleId, of);
      return created;
    });
    const written = { ruleId: answer.ruleId, definition, ...seenMark(mark, place) };
    if (await isTakenByDelete(written, making)) {
      place.live.remember(written.ruleId, null);
      place.holders.release(written.ruleId);
      return await made(making);
    }
    if (chosen !== undefined && answer.ruleId !== chosen) throw new Written(written, notChosen(answer.ruleId, making));
    const driven = await driveNew(answer, written, making);
    return { known: await kept(driven, written, "create", making), isTakenOver: false };
  } catch (error) {
    if (!isMerchantRulesError(error) || !(error.outcomeUnknown || error.code === "RULE_CONFLICT")) throw error;
    if (error.cause === notOurMaking) throw error;
    const unanswered = new Unanswered(error, before);
    if (making.isDue) throw unanswered;
    return afterLostAnswer(unanswered, making);
  }
}

/**
 * A service may give the id of a rule whose delete is under way. That delete, sent again after a lost answer, takes the new
 * rule.
 */
async function isTakenByDelete(written: KnownRule, { of, key, place: { live } }: Making): Promise<boolean> {
  if (!(await live.deleteEnded(written.ruleId))) return false;
  const sight = await live.look(written, of.label(key), "fresh");
  return sight.is === "absent" && !(await live.isStillListed(written.ruleId));
}

/** The cause of an error about an answer with a rule that this run has not made. */
const notOurMaking = Symbol("not made by this run");

/**
 * A service may answer a create with a rule that was there before. Such a rule is nobody's here until a word names it.
 * @throws MerchantRulesError RULE_CONFLICT
 */
function demandOwnMaking(answer: LiveRule & { status: number }, wasListed: boolean, making: Making): void {
  const { definition, place, of, key, attempted } = making;
  const isHeld = place.holders.keeperOf(answer.ruleId) !== undefined;
  const isShown =
    answer.ruleId === making.ruleId ||
    answer.status === 201 ||
    isIdAlone(answer.rule, place) ||
    isAsSent(answer.rule, definition, place);
  const mark = markIn(answer.rule, place.contract);
  const isMarkedByOther = mark !== undefined && !isOwnMark(mark, of, key);
  const hasList = place.contract.operations.list !== null;
  if (!wasListed && !isHeld && !isMarkedByOther && (isShown || hasList)) return;
  const reason = `the service answered with rule ${answer.ruleId}, which this run did not make`;
  const advice = `look at the service what rule ${answer.ruleId} is; to take it over, add ${of.adopting(key, answer.ruleId)}; else declare yours with another natural key`;
  throw new MerchantRulesError("RULE_CONFLICT", reason, { attempted, advice, cause: notOurMaking });
}

/**
 * The service may or may not have made the rule. Only the service knows, so it is asked. A look-up that shows nothing is
 * no proof: what stands between may have answered, and the service carries the request out later still.
 * @throws MerchantRulesError RULE_OUTCOME_UNKNOWN: the rule may exist; RULE_CONFLICT
 */
function afterLostAnswer(unanswered: Unanswered, making: Making): Promise<Made> {
  const search = (): Promise<Made> => searchAfter(unanswered, making);
  const { error } = unanswered;
  return error.exchange?.isWithoutId ? making.place.firstWrites.searchAfter(error, search) : search();
}

async function searchAfter({ error, before }: Unanswered, making: Making): Promise<Made> {
  const { definition, of, place } = making;
  const { outcomeUnknown } = error;
  if (making.ruleId !== undefined) return await foundAfter(error, { ...making, isDue: true });
  if (!canLookUp(definition, making)) throw outcomeUnknown ? mayExist(error, making) : inTheWay(error, making);
  const { made, pass } = await madeMeanwhile(definition, before, making).catch((failed: unknown) => {
    throw outcomeUnknown && isMerchantRulesError(failed) ? mayExist(error, making, { unread: failed }) : failed;
  });
  const own = outcomeUnknown ? made : undefined;
  if (own !== undefined) {
    place.holders.claim(own.ruleId, of);
    const known = { ruleId: own.ruleId, definition, ...seenMark(markIn(own.rule, place.contract), place) };
    return { known: await kept(await driveNew(own, known, making), known, "create", making), isTakenOver: false };
  }
  return await foundAfter(error, making, place.live.leftOutOf(pass));
}

/** A rule that is found after a create that failed is judged as before it; of one that is not found nobody knows. */
async function foundAfter(error: MerchantRulesError, making: Making, leftOut?: string): Promise<Made> {
  const { found } = await search(making);
  if (found.length === 0) throw error.outcomeUnknown ? mayExist(error, making, { leftOut }) : inTheWay(error, making);
  const { isDue: _, ...before } = making;
  return made({ ...before, sent: error });
}

/** The service has made the rule, and gave it an id of its own, by which no later run would find it. */
function notChosen(ruleId: string, { ruleId: chosen, attempted }: Making): MerchantRulesError {
  const reason = `the service gave the rule the id ${ruleId} in place of ${chosen}, which was sent (operations.create.identifyBy)`;
  return new MerchantRulesError("RESPONSE_INVALID", reason, {
    attempted,
    advice:
      "correct operations.create.identifyBy in the contract (in, name) and idFormat; or leave it out, where the service alone gives ids. The rule is in the state by the id that it has",
  });
}

/** True where the contract cannot change the rule in place, and it is this run's to replace. */
function mustGoFirst({ existing }: Found, making: Making): boolean {
  const { definition, place } = making;
  const before = seenAs(existing.rule, definition, place);
  return (
    place.holders.leaverOf(existing.ruleId) !== undefined &&
    reasonToReplace(before, definition, place.contract) !== undefined
  );
}

async function replacing(existing: LiveRule, making: Making): Promise<Made> {
  await remove({ ruleId: existing.ruleId, definition: seenAs(existing.rule, making.definition, making.place) }, making);
  return create(making);
}
