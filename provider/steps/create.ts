import type { LiveRule } from "../../sdk/client/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { isAsSent, isIdAlone } from "../decide/live-rule.ts";
import type { DeclaredRule, KnownRule } from "../decide/plan.ts";
import { judgeCreate } from "../decide/whose.ts";
import { type Mark, marked, markIn } from "../merchant/mark.ts";
import { recoverId } from "../merchant/words.ts";
import { cannotSearch, idAgain, inTheWay, mayExist, refusalOf } from "../refusals/create-errors.ts";
import { warnOf } from "../refusals/say.ts";
import type { Made, Making } from "../run/making.ts";
import { isOwnMark, ownMark } from "../run/resource.ts";
import type { Sent } from "../run/sent.ts";
import { naming, noted, sending, type Task } from "../run/task.ts";
import { Written } from "../run/written.ts";
import { type Before, canLookUp, type Found, find, madeMeanwhile, wasBefore } from "./find.ts";
import { claimOn, sameRow } from "./known.ts";
import { adoptNamed, takeOver } from "./take-over.ts";
import { drive } from "./transitions.ts";

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
  return place.paper.oneAtATime(definition, async () => {
    await place.check.ofCreate(of);
    if (typeof adopt === "string") return (await adoptNamed(adopt, making)) ?? create(making);
    if (adopt === true && !place.live.canSearch(definition)) throw cannotSearch(making);
    return made(making);
  });
}

async function made(given: Making): Promise<Made> {
  const { found, ...chosen } = await find(given);
  const making = { ...given, ...chosen };
  const { adopt, place, of, definition } = making;
  const verdict = judgeCreate(
    found.map(({ facts }) => facts),
    {
      adopt: adopt === true,
      recover: of.link !== undefined && place.words.recover.includes(recoverId(of.link.ownerId)),
      hasNaturalKey: place.live.naturalKeyOf(definition) !== undefined,
      canUpdate: place.contract.operations.update !== null,
    },
  );
  // A rule that a create of this run made all the same is no other run's.
  if (making.sent === undefined) bewareOfOthers(found, making);
  if (verdict.is === "make") return create(making);
  const meant = found[verdict.at];
  if (meant === undefined) return create(making);
  const { ruleId } = meant.existing;
  // Its delete has begun since it was found, or is done. The next search waits for the end of that.
  if (place.paper.isBeingDeleted(ruleId) || place.paper.isGone(ruleId)) return made(making);
  if (!(await areThere(found, making))) return made(making);
  if (verdict.is !== "take") throw refusalOf(verdict.is, meant, found, making);
  return (await takeOver(meant, verdict.by, making)) ?? create(making);
}

/** A rule that no state knows, and that the last reading may show wrongly, is looked at, before it is taken or refused. */
async function areThere(found: readonly Found[], { of, key, place }: Making): Promise<boolean> {
  const unseen = found.filter(
    ({ existing: { ruleId } }) =>
      place.live.mayBeGone(ruleId) && !place.claims.isKnown(ruleId) && place.paper.written(ruleId) === undefined,
  );
  for (const { existing } of unseen)
    if (!(await place.live.isThere(existing.ruleId, of.label(key)))) place.paper.remember(existing.ruleId, null);
  return unseen.every(({ existing }) => !place.paper.isGone(existing.ruleId));
}

/** A rule that came since this run began, and not by it: another run of the stack makes the same rules now. */
function bewareOfOthers(found: readonly Found[], { place, of, key }: Making): void {
  const other = found.find(({ existing: { ruleId } }) => {
    const isNew = !place.live.wasThere(ruleId) && place.paper.written(ruleId) === undefined;
    return isNew && !place.claims.isKnown(ruleId);
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
  const { live, audits, contract } = making.place;
  const { sent } = making;
  // A create is sent once: after a lost answer nothing shows whether the service carries it out later still.
  if (sent !== undefined) throw sent.outcomeUnknown ? mayExist(sent, making) : inTheWay(sent, making);
  if (making.isDue) return send(making);
  const { found } = await live.inTurn(async () => {
    await audits.waitForIds();
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
  /** The mark that was sent. */
  readonly mark: Mark | undefined;
  readonly request: Sent | undefined;

  constructor(error: MerchantRulesError, before: Before, mark: Mark | undefined, request: Sent | undefined) {
    super(error.message);
    this.error = error;
    this.before = before;
    this.mark = mark;
    this.request = request;
  }
}

/**
 * Sends the create, once: after a lost answer the rule is looked for, and nothing else tells whether to send it again. The
 * client alone does that, all attempts with one idempotency key.
 */
async function send(making: Making): Promise<Made> {
  const { definition, of, key, place, ruleId: chosen } = making;
  const before = place.contract.operations.list === null ? undefined : (await place.live.listed()).byId;
  const mark = ownMark(of, key);
  let request: Sent | undefined;
  try {
    const body = marked(definition, mark, place.contract);
    const options = { ...naming(making, making), ...(chosen === undefined ? {} : { ruleId: chosen }) };
    const client = await place.live.client();
    const create = async (sent: Sent): Promise<LiveRule> => {
      request = sent;
      const created = await client.create(body, options);
      sent.isAnswered = true;
      const isOld =
        created.ruleId !== chosen &&
        wasBefore(created.ruleId, before, place) &&
        !place.paper.isBeingDeleted(created.ruleId);
      demandOwnMaking(created, isOld, making);
      place.paper.madeNow(created.ruleId, definition);
      sent.is({ ruleId: created.ruleId, definition, ...noted(mark, making) });
      return created;
    };
    const toSend = { kind: "create", ruleId: chosen, ...sending(definition, mark, making) } as const;
    const answer = await place.audits.send(toSend, (sent) => place.paper.sending(() => create(sent)));
    const written = { ruleId: answer.ruleId, definition, ...noted(mark, making) };
    const { claim: isGivenAgain, by } = sameRow(written, making, false);
    hear(written, making);
    if (await isTakenByDelete(written, making)) {
      place.paper.remember(written.ruleId, null);
      place.claims.drop(of, key);
      request?.void();
      return await made(making);
    }
    // Of a rule that this run deletes nothing is lost.
    if (isGivenAgain === "yes" && !place.paper.isGivenAgain(written.ruleId))
      throw new Written(written, idAgain(written.ruleId, by?.of.owner, making));
    if (chosen !== undefined && answer.ruleId !== chosen) throw new Written(written, notChosen(answer.ruleId, making));
    await drive(answer, written, making);
    return { known: written, isTakenOver: false };
  } catch (error) {
    if (!isMerchantRulesError(error) || !(error.outcomeUnknown || error.code === "RULE_CONFLICT")) throw error;
    if (error.cause === notOurMaking) throw error;
    const unanswered = new Unanswered(error, before, mark, request);
    if (making.isDue) throw unanswered;
    return afterLostAnswer(unanswered, making);
  }
}

/** Says that this resource has the rule by now. */
function hear(row: KnownRule, { of, key, place, definition }: Making): void {
  place.claims.hear({ of, key, row, naturalKey: place.live.naturalKeyOf(definition), isOfState: false });
}

/**
 * A service may give the id of a rule whose delete is under way. That delete, sent again after a lost answer, takes the new
 * rule.
 */
async function isTakenByDelete(written: KnownRule, { of, key, place: { live, paper } }: Making): Promise<boolean> {
  if (!(await paper.deleteEnded(written.ruleId))) return false;
  const sight = await live.look(written, of.label(key), "fresh");
  return sight.is === "absent" && !(await live.isStillListed(written.ruleId));
}

/** The cause of an error about an answer with a rule that this run has not made. */
const notOurMaking = Symbol("not made by this run");

/**
 * A service may answer a create with a rule that was there before. Such a rule is nobody's here until a word names it.
 * @throws MerchantRulesError RULE_CONFLICT; RULE_OUTCOME_UNKNOWN: it may have been there, as far as anybody can tell
 */
function demandOwnMaking(answer: LiveRule & { status: number }, wasListed: boolean, making: Making): void {
  const { definition, place, of, key, attempted } = making;
  const isHeld = answer.status !== 201 && claimOn(answer.ruleId, answer.rule, making).claim === "yes";
  const isShown =
    answer.ruleId === making.ruleId ||
    answer.status === 201 ||
    isIdAlone(answer.rule, place) ||
    isAsSent(answer.rule, definition, place);
  const mark = markIn(answer.rule, place.contract);
  const isMarkedByOther = mark !== undefined && !isOwnMark(mark, of, key);
  const hasList = place.contract.operations.list !== null;
  if (!wasListed && !isHeld && !isMarkedByOther && (isShown || hasList)) {
    if (mark !== undefined || answer.ruleId === making.ruleId || !mayBeOld(answer, place)) return;
    const reason = `the service answered 200 in place of 201 with rule ${answer.ruleId}: it may have been there before, and the contract has no operations.list by which to tell`;
    const advice = `look at the service whether rule ${answer.ruleId} is new, and nobody else's. If it is, add ${of.adopting(key, answer.ruleId)}; and where the service answers 200 to each create, set operations.create.success in the contract to [200]`;
    const outcomeUnknown = true;
    throw new MerchantRulesError("RULE_OUTCOME_UNKNOWN", reason, {
      ...{ attempted, advice, outcomeUnknown },
      cause: notOurMaking,
    });
  }
  const reason = `the service answered with rule ${answer.ruleId}, which this run did not make`;
  const advice = `look at the service what rule ${answer.ruleId} is; to take it over, add ${of.adopting(key, answer.ruleId)}; else declare yours with another natural key`;
  throw new MerchantRulesError("RULE_CONFLICT", reason, { attempted, advice, cause: notOurMaking });
}

/**
 * True where by the contract a rule that was made is answered 201, and one that was there may be answered 200. A response to
 * an idempotency key may be repeated, and a mark that it does not show is read.
 */
function mayBeOld({ status, rule }: LiveRule & { status: number }, place: Task["place"]): boolean {
  const { operations, idempotency, rule: by } = place.contract;
  const isOther = status === 200 && operations.create.success.includes(201) && operations.list === null;
  return isOther && idempotency === null && (by.owner === null || !isIdAlone(rule, place));
}

/**
 * The service may or may not have made the rule. Only the service knows, so it is asked. A look-up that shows nothing is
 * no proof: what stands between may have answered, and the service carries the request out later still.
 * @throws MerchantRulesError RULE_OUTCOME_UNKNOWN: the rule may exist; RULE_CONFLICT
 */
function afterLostAnswer(unanswered: Unanswered, making: Making): Promise<Made> {
  const search = (): Promise<Made> => searchAfter(unanswered, making);
  const { error } = unanswered;
  return error.exchange?.isWithoutId ? making.place.audits.searchAfter(error, search) : search();
}

async function searchAfter({ error, before, mark, request }: Unanswered, making: Making): Promise<Made> {
  const { definition, place } = making;
  const { outcomeUnknown } = error;
  if (making.ruleId !== undefined) return await foundAfter(error, { ...making, isDue: true });
  if (!canLookUp(definition, making)) throw outcomeUnknown ? mayExist(error, making) : inTheWay(error, making);
  const { made, pass } = await madeMeanwhile(definition, { before, mark }, making).catch((failed: unknown) => {
    throw outcomeUnknown && isMerchantRulesError(failed) ? mayExist(error, making, { unread: failed }) : failed;
  });
  const own = outcomeUnknown ? made : undefined;
  if (own !== undefined) {
    const known = { ruleId: own.ruleId, definition, ...noted(markIn(own.rule, place.contract), making) };
    // Its id may be that of a rule which this run has deleted.
    place.paper.madeNow(own.ruleId, definition);
    hear(known, making);
    request?.is(known);
    await drive(own, known, making);
    return { known, isTakenOver: false };
  }
  return await foundAfter(error, { ...making, leftOut: place.live.leftOutOf(pass) });
}

/** A rule that is found after a create that failed is judged as before it; of one that is not found nobody knows. */
function foundAfter(error: MerchantRulesError, { isDue: _, ...making }: Making): Promise<Made> {
  return made({ ...making, sent: error });
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
