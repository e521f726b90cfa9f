import type { LiveRule } from "../../sdk/client/index.ts";
import { withoutDriven } from "../../sdk/contract/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { differsUnseen, isJsonObject, type JsonObject, valueAt, withValueAt } from "../../sdk/json/index.ts";
import {
  hasFormerFields,
  isAsDeclared,
  isAsSent,
  lookedAtBy,
  pathsBetween,
  seenAs,
  undeclaredOf,
  whoIs,
} from "../decide/live-rule.ts";
import { type DeclaredRule, idsChange, isDrivenAlone, type KnownRule, reasonToReplace } from "../decide/plan.ts";
import { judgeUpdate } from "../decide/whose.ts";
import { type Mark, marked, markId, markIn, named, parsedMark, personsText } from "../merchant/mark.ts";
import { notAsKnown, unclear } from "../refusals/place.ts";
import { say, warnOf } from "../refusals/say.ts";
import { othersRow, rowIsNotOurs, twoHold } from "../refusals/update-errors.ts";
import type { Place } from "../run/place.ts";
import { ownMark } from "../run/resource.ts";
import type { Sent } from "../run/sent.ts";
import { naming, noted, sending, type Task } from "../run/task.ts";
import { Written } from "../run/written.ts";
import { demandNothingErased } from "./erased.ts";
import type { Before } from "./find.ts";
import {
  type Claimed,
  claimOn,
  factsOf,
  isForeign,
  isSeen,
  type Sighted,
  sameRow,
  sighted,
  yetFound,
} from "./known.ts";
import { isOfVersion, refusedVersion, versioned } from "./meanwhile.ts";
import { afterLostAnswer, demandLookUp, follow } from "./new-ids.ts";
import { drive } from "./transitions.ts";

/**
 * Changes a rule to be as declared.
 * @returns the rule as the state should know it; undefined: it is another's by now or gone, and a new one is to be made
 * @throws MerchantRulesError RULE_CONFLICT: it is another's; CONNECTION_FAILED: it may be another merchant's
 * @throws Written: the service keeps something else than was declared
 */
export async function update(row: KnownRule, declared: DeclaredRule, task: Task): Promise<KnownRule | undefined> {
  const { of, place, key } = task;
  const attempted = `update rule ${of.label(key) ?? row.ruleId}`;
  if (isTakenByOther(row, declared.definition, task)) return undefined;
  const isAdopted = declared.adopt === row.ruleId;
  // A row that is as declared is to be seen, or the program names its rule: nothing is written unseen.
  const isLook = isAdopted || declared.definition === row.definition;
  const seen = await sighted({ ...row, wanted: declared.definition }, task, isAdopted ? "list" : undefined, isLook);
  const { rule } = seen;
  const { wanted: _, ...known } = seen.known;
  if (rule !== undefined && place.live.isForeign(rule)) throw isForeign(known.ruleId, attempted);
  const claimed = claimOn(known.ruleId, rule, task);
  const verdict = judgeUpdate({
    ...seen.facts,
    claim: claimed.claim,
    isSameKeyDeclared: isSameKeyDeclared(claimed, declared.definition, place),
    isThisRowsAlone: isThisRowsAlone(claimed, seen, place),
    isAdopted,
  });
  switch (verdict) {
    case "write":
      return await overwrite(known, declared, rule === undefined ? undefined : { rule }, task);
    case "take over":
      say(
        rule === undefined ? "is taken over" : `is taken over from ${whoIs(markIn(rule, place.contract))}`,
        known.ruleId,
        task,
      );
      return await overwrite({ ...known, isTaken: true }, declared, rule && { rule, isMarked: true }, task);
    case "make own":
      return undefined;
    case "make anew":
      return goneAtUpdate(known, declared, attempted, task);
    default:
      throw refusalOf(verdict, claimed, seen, attempted, task);
  }
}

function refusalOf(
  verdict: Extract<ReturnType<typeof judgeUpdate>, `refused: ${string}`>,
  { by }: Claimed,
  { known, rule, facts }: Sighted,
  attempted: string,
  task: Task,
): MerchantRulesError {
  const { of, key, place, site } = task;
  const { ruleId } = known;
  const now = site ?? place.site(undefined);
  const adopting = of.adopting(key, ruleId);
  const who = named(by?.of.owner);
  switch (verdict) {
    case "refused: cannot tell":
      return notAsKnown(
        place,
        { of, before: known.site, now },
        { ruleId, isThere: facts.isThere, attempted, adopting },
      );
    case "refused: unclear":
      return unclear({ of, before: by?.row.site, now }, { ruleId, who, attempted });
    case "refused: two hold it":
      return twoHold(ruleId, who, attempted);
    case "refused: the other row's":
      return othersRow(ruleId, who, attempted);
    case "refused: not ours":
      return rowIsNotOurs(known, rule, { attempted, adopting, place });
  }
}

/** True where another resource of this run made or took the rule, and this one is to be another rule. */
function isTakenByOther(row: KnownRule, declared: JsonObject, task: Task): boolean {
  const { claim, by } = sameRow(row, task, false);
  if (claim !== "yes" || by === undefined || by.isOfState) return false;
  const naturalKey = task.place.live.naturalKeyOf(declared);
  return naturalKey === undefined || naturalKey !== by.naturalKey;
}

function isSameKeyDeclared({ by }: Claimed, declared: JsonObject, { live }: Place): boolean {
  const naturalKey = live.naturalKeyOf(declared);
  return naturalKey !== undefined && by?.naturalKey === naturalKey;
}

/** Of two rows of one rule the live mark decides; where there are none, the content. */
function isThisRowsAlone({ by }: Claimed, { known, rule, facts }: Sighted, place: Place): boolean {
  if (by === undefined || rule === undefined) return false;
  const mark = markIn(rule, place.contract);
  if (mark !== undefined) return facts.isOurs && by.row.mark !== markId(mark);
  return isAsSent(rule, known.definition, place) && !isAsSent(rule, by.row.definition, place);
}

/** The rule as it is before a write. */
export interface Looked {
  readonly rule: JsonObject;
  /** The own mark is to be written, whatever else differs. */
  readonly isMarked?: boolean;
}

/** Sends the update, where the rule is not as declared already. @param looked the rule as it is, where it was looked at */
export async function overwrite(
  known: KnownRule,
  declared: DeclaredRule,
  looked: Looked | undefined,
  task: Task,
): Promise<KnownRule | undefined> {
  const { definition } = declared;
  const { key, of, place } = task;
  const { ruleId } = known;
  const attempted = `update rule ${of.label(key) ?? ruleId}`;
  const { rule, isMarked = false } = looked ?? {};
  const markNow = rule === undefined ? undefined : markIn(rule, place.contract);
  const isToBeMarked =
    isMarked &&
    markNow !== undefined &&
    !(markNow.ownerId === of.link?.ownerId && markNow.resource === ownMark(of, key)?.resource);
  if (
    rule !== undefined &&
    !isToBeMarked &&
    isAsDeclared(rule, definition, place) &&
    !hasFormerFields(rule, lookedAtBy(known), definition, place) &&
    !isUnseen(known, definition, place)
  )
    return {
      ruleId,
      definition,
      ...noted(markNow, task),
      ...(known.isTaken ? { isTaken: true } : {}),
      ...(known.undeclared === undefined ? undeclaredOf(rule, definition, place) : { undeclared: known.undeclared }),
    };
  demandChangeable(known, rule, definition, attempted, task);
  // Where requests of their own make the whole change, no update is sent.
  const isUpdate =
    rule === undefined
      ? !isDrivenAlone(known.definition, definition, place.contract)
      : isToBeMarked || differs(known, rule, definition, task);
  if (known.isTaken && isUpdate && rule !== undefined)
    demandNothingErased({ ruleId, rule }, definition, attempted, task);
  const mark = isUpdate ? markToWrite(known, rule, task) : markNow;
  const sent = { definition, body: bodyOf(definition, mark, rule, task), mark, isUpdate };
  return await new Update({ known, declared, rule, attempted }, sent, task).run();
}

/** True where the service may have another value than the declared one at a place that no reading shows. */
function isUnseen({ definition, doubt, isTaken }: KnownRule, declared: JsonObject, { contract }: Place): boolean {
  const isUnsure = (doubt !== undefined || isTaken === true) && contract.operations.update !== null;
  return differsUnseen(isUnsure ? {} : definition, declared, contract.rule);
}

/** The mark to write: a rule keeps its random bits; a person's text in its place is left alone, and that is said. */
function markToWrite(known: KnownRule, rule: JsonObject | undefined, { of, key, place }: Task): Mark | undefined {
  if (rule !== undefined && personsText(rule, place.contract) !== undefined) {
    warnOf("keeps the text that a person wrote where its mark would stand", known.ruleId, { key, of });
    return undefined;
  }
  const before = [rule === undefined ? undefined : markIn(rule, place.contract), parsedMark(known.mark)];
  return ownMark(of, key, before.find((mark) => mark !== undefined && mark.ownerId === of.link?.ownerId)?.bits);
}

function bodyOf(
  definition: JsonObject,
  mark: Mark | undefined,
  rule: JsonObject | undefined,
  { place: { contract } }: Task,
): JsonObject {
  const { owner } = contract.rule;
  if (mark !== undefined || owner === null || rule === undefined || personsText(rule, contract) === undefined)
    return marked(definition, mark, contract);
  const kept = withValueAt(definition, owner.at, valueAt(rule, owner.at) ?? null);
  return isJsonObject(kept) ? kept : definition;
}

interface Target {
  readonly known: KnownRule;
  readonly declared: DeclaredRule;
  /** The rule as it is, where it was looked at. */
  readonly rule: JsonObject | undefined;
  readonly attempted: string;
}

interface ToSend {
  readonly definition: JsonObject;
  readonly body: JsonObject;
  readonly mark: Mark | undefined;
  /** False where requests of their own make the whole change. */
  readonly isUpdate: boolean;
}

/** One update under way. */
class Update {
  readonly #target: Target;
  readonly #sent: ToSend;
  readonly #task: Task;
  /** The rule as it is written, by the id that it has afterwards. */
  #written: KnownRule;
  #request: Sent | undefined;
  /** The version that the update names. */
  #version: LiveRule["version"];

  constructor(target: Target, sent: ToSend, task: Task) {
    this.#target = target;
    this.#sent = sent;
    this.#task = task;
    this.#written = { ruleId: target.known.ruleId, definition: sent.definition, ...noted(sent.mark, task) };
  }

  async run(): Promise<KnownRule | undefined> {
    const { known, declared, rule, attempted } = this.#target;
    const { definition, isUpdate, mark } = this.#sent;
    const task = this.#task;
    const { place } = task;
    const before = idsChange(place) && place.contract.operations.list ? (await place.live.listed()).byId : undefined;
    if (!isUpdate) {
      await this.#demandOurs();
      await drive(rule === undefined ? undefined : { ruleId: known.ruleId, rule }, this.#written, task);
      place.paper.remember(known.ruleId, definition);
      return { ...this.#written, ...(known.isTaken ? { isTaken: true } : {}) };
    }
    try {
      await drive(await this.#send(before), this.#written, task);
    } catch (error) {
      if (!isMerchantRulesError(error)) throw error;
      const done = await this.#afterFailure(error, { before, mark });
      if (done === "gone") return goneAtUpdate(known, declared, attempted, task);
      await drive(done, this.#written, task);
    }
    return this.#written;
  }

  /** While this update waited for its turn, the list may have been read anew, and show that another stack has the rule. */
  async #demandOurs(): Promise<void> {
    const { known, rule, attempted } = this.#target;
    const { of, key, place } = this.#task;
    if (known.isTaken === true || known.doubt !== undefined || rule === undefined) return;
    const now = await place.live.look(known, of.label(key), "cheap");
    if (now.is !== "present" || now.rule === rule || factsOf(known, now.rule, this.#task).isOurs) return;
    throw rowIsNotOurs(known, now.rule, { attempted, adopting: of.adopting(key, known.ruleId), place });
  }

  async #send(listed: Before): Promise<LiveRule | undefined> {
    const { known, rule } = this.#target;
    const { definition, body, mark } = this.#sent;
    const task = this.#task;
    const { live, audits } = task.place;
    const was = rule === undefined ? known.definition : seenAs(rule, lookedAtBy(known), task.place);
    const before = withoutDriven(was, task.place.contract);
    const toSend = { ...sending(definition, mark, task), kind: "update", ruleId: known.ruleId, before } as const;
    return await audits.send({ ...toSend, row: known, known: this.#written }, async (sent) => {
      this.#request = sent;
      await this.#demandOurs();
      const seen = await versioned(known, definition, task);
      this.#version = seen?.version;
      const whole = seen === undefined ? await live.toSendBack(known) : undefined;
      const options = {
        ...naming(known, task),
        ...(seen === undefined ? {} : { seen }),
        ...(whole === undefined ? {} : { live: whole }),
      };
      const answer = await (await live.client()).update(known.ruleId, body, options);
      this.#is(answer?.ruleId ?? known.ruleId, listed);
      return answer;
    });
  }

  /** The service has made the rule as it was sent, under an id. */
  #is(ruleId: string, before: Before): void {
    const { known } = this.#target;
    follow(known, ruleId, before, this.#task);
    this.#written = { ...this.#written, ruleId };
    this.#request?.is(this.#written);
    this.#task.place.paper.remember(ruleId, this.#sent.definition);
  }

  /**
   * What became of an update whose request failed.
   * @returns the rule that was changed all the same
   * @throws MerchantRulesError where that is all there is to say
   */
  async #afterFailure(
    error: MerchantRulesError,
    sent: Parameters<typeof afterLostAnswer>[2],
  ): Promise<LiveRule | "gone"> {
    const { known } = this.#target;
    const { definition } = this.#sent;
    const task = this.#task;
    const { place } = task;
    if (isOfVersion(error, task)) {
      const version = this.#version;
      const { live, error: refused } = await refusedVersion(error, { known, definition, version }, task);
      if (refused !== undefined) throw refused === error ? inTheWay(error, known, definition, place) : refused;
      // It is as declared: by an attempt of this run whose answer was lost.
      return live;
    }
    if (idsChange(place) && error.outcomeUnknown) {
      const live = await afterLostAnswer(error, definition, sent, task);
      this.#is(live.ruleId, sent.before);
      return live;
    }
    // A service that keeps deleted rules may refuse to change one as a conflict.
    const isConflict = error.code === "RULE_CONFLICT" && place.contract.rule.gone.length > 0;
    if (error.code !== "RULE_NOT_FOUND" && !isConflict) throw inTheWay(error, known, definition, place);
    if (await isSeen(known, task))
      throw isConflict ? inTheWay(error, known, definition, place) : yetFound("update", error);
    return "gone";
  }
}

/** True of a looked-at rule that an update has to change, wholly or in part. */
function differs(known: KnownRule, rule: JsonObject, definition: JsonObject, { place }: Task): boolean {
  if (place.contract.rule.transitions.length === 0) return true;
  const before = withoutDriven(lookedAtBy(known), place.contract);
  return (
    !isAsSent(rule, definition, place) ||
    isUnseen(known, definition, place) ||
    hasFormerFields(rule, before, withoutDriven(definition, place.contract), place)
  );
}

/**
 * A rule that no update changes so has to be replaced, and the state has to know it first: of one in doubt, and of a resource
 * of one rule, which only the engine replaces.
 * @throws Written
 */
function demandChangeable(
  known: KnownRule,
  rule: JsonObject | undefined,
  definition: JsonObject,
  attempted: string,
  task: Task,
): void {
  const { place, of } = task;
  if (rule === undefined ? !of.isRule : known.doubt === undefined && !of.isRule) return;
  const seen = rule === undefined ? known.definition : seenAs(rule, lookedAtBy(known), place);
  const why = reasonToReplace(seen, definition, place.contract);
  if (why === undefined) return;
  const reason = `the rule differs at ${pathsBetween(seen, definition, place)}, and has to be replaced, because by the contract ${why}; it is in the state now as it is at the service`;
  const here = task.site === undefined ? known : { ...known, site: task.site };
  const now = rule === undefined ? here : { ruleId: known.ruleId, ...noted(markIn(rule, place.contract), task) };
  throw new Written(
    { ...now, definition: seen, isSealed: true },
    new MerchantRulesError("RULE_DIFFERS", reason, { attempted, advice: "run `pulumi up` again, which replaces it" }),
  );
}

/** The rule is gone: a new one is made. An update of an earlier run may have given it another id. @throws Written */
function goneAtUpdate(
  known: KnownRule,
  { definition, adopt }: DeclaredRule,
  attempted: string,
  { of, key, place, ...task }: Task,
): undefined {
  const { ruleId } = known;
  const isNamed = typeof adopt === "string" && adopt !== ruleId;
  if (idsChange(place) && !isNamed) demandLookUp(known, definition, attempted, { of, key, place, ...task });
  place.paper.remember(ruleId, null);
  place.claims.drop(of, key, ruleId);
  return undefined;
}

function isAnotherKey({ ruleId, definition }: KnownRule, declared: JsonObject, { live, paper }: Place): boolean {
  const wanted = live.naturalKeyOf(declared);
  return wanted !== undefined && wanted !== live.naturalKeyOf(paper.written(ruleId) ?? definition);
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
