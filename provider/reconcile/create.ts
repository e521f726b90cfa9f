import { setTimeout as sleep } from "node:timers/promises";
import type { LiveRule } from "../../sdk/client/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { differences, valueAt } from "../../sdk/rules/index.ts";
import { isSameStack, marked, markedOwner, named } from "./owner.ts";
import type { Place } from "./place.ts";
import { type DeclaredRule, type KnownRule, plan, reasonToReplace } from "./plan.ts";
import * as write from "./write.ts";

/** The making of one declared rule. */
interface Making extends write.Task, DeclaredRule {
  /** `create rule limit-1`, for messages. */
  readonly attempted: string;
}

/**
 * Makes a declared rule exist exactly once. It looks before it creates, where the contract allows it. A rule that exists
 * already is taken over when it is this resource's own, or the program or the user says so; else it is refused.
 * @throws MerchantRulesError RULE_CONFLICT: another rule has its natural key; RULE_OUTCOME_UNKNOWN: the rule may exist
 * @throws Written: the service keeps something else than was declared
 */
export function createOnce(declared: DeclaredRule, task: write.Task): Promise<KnownRule> {
  const { definition, adopt } = declared;
  const { key, of, place } = task;
  const making = { ...declared, ...task, attempted: `create rule ${of.label(key) ?? ""}`.trimEnd() };
  return place.oneAtATime(definition, async () => {
    if (typeof adopt === "string") return adoptNamed(adopt, making);
    if (adopt === true && !place.canSearch(definition)) throw cannotSearch(making);
    return made(making);
  });
}

async function made(making: Making): Promise<KnownRule> {
  const existing = await making.place.search(making.definition);
  return existing === undefined ? create(making) : goOnWith(existing, making);
}

async function create(making: Making): Promise<KnownRule> {
  const { definition, key, of, place } = making;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const sent = marked(definition, of.owner, key, place.contract);
      const answer = await (await place.client()).create(sent, write.naming(making, making));
      const { ruleId } = answer;
      place.remember(ruleId, definition);
      place.claim(ruleId, of.owner);
      return await write.kept(answer, { ruleId, definition }, "create", making);
    } catch (error) {
      if (!isMerchantRulesError(error) || !(error.outcomeUnknown || error.code === "RULE_CONFLICT")) throw error;
      const found = await afterLostAnswer(error, making);
      if (found !== undefined) return found;
      if (attempt >= place.contract.limits.maxAttempts || !mayBeSentAgain(error, place)) throw mayExist(error, making);
      await sleep(Math.random() * 200 * 2 ** attempt);
    }
  }
}

/** The service may or may not have made the rule. Only the service knows, so it is asked; undefined: it shows none. */
async function afterLostAnswer(error: MerchantRulesError, making: Making): Promise<KnownRule | undefined> {
  const { definition, of, place } = making;
  const { outcomeUnknown } = error;
  if (!place.canSearch(definition)) throw outcomeUnknown ? mayExist(error, making) : inTheWay(error, making);
  await sleep(place.contract.operations.list?.lagMs ?? 0);
  const found = await place.search(definition, { isFresh: true });
  if (found === undefined) {
    if (outcomeUnknown) return undefined;
    throw inTheWay(error, making);
  }
  // There was none before, so one that is as declared was made by this create. A mark says so itself.
  const isOwn = outcomeUnknown && markedOwner(found.rule, place.contract) === undefined;
  if (!isOwn || !write.isAsDeclared(found.rule, definition, place)) return goOnWith(found, making);
  place.claim(found.ruleId, of.owner);
  return { ruleId: found.ruleId, definition };
}

/**
 * Whether a look-up that shows nothing is proof. Without an answer the request may be carried out later still. With one,
 * the list's lag must be known, or the service itself said that it did nothing.
 */
function mayBeSentAgain({ exchange }: MerchantRulesError, { contract }: Place): boolean {
  const isAnswered = exchange?.status !== undefined;
  return isAnswered && (typeof contract.operations.list?.lagMs === "number" || exchange.status === 503);
}

/** A rule with this natural key exists already. Whose is it? */
async function goOnWith(existing: LiveRule, making: Making): Promise<KnownRule> {
  const { adopt, of, place } = making;
  const { ruleId, rule } = existing;
  if (place.isForeign(rule)) throw refused(existing, "is the service's own (rule.foreign)", making);
  const mark = markedOwner(rule, place.contract);
  if (mark === undefined && adopt !== true) await place.holderKnown(ruleId);
  const holder = place.record(ruleId);
  // Its delete has begun since it was found, or is done. The next search waits for the end of that.
  if (holder.busy !== undefined || holder.rule === null) return made(making);
  if (holder.owner === of.owner && !holder.isLeaving && mayReplace(making)) throw inItsOwnWay(existing, making);
  if (holder.owner !== undefined && !holder.isLeaving)
    throw refused(existing, `is managed by ${named(holder.owner)} of this stack`, making);
  const owner = holder.owner ?? mark;
  if (owner !== undefined && isSameStack(owner, of.owner)) {
    if (owner !== of.owner) write.say(`is taken over from ${named(owner)} of this stack`, ruleId, making);
    return asOurs(existing, making);
  }
  if (mark !== undefined) throw refused(existing, `is managed by "${mark}", as its mark says`, making);
  if (adopt === true) return adopted(existing, making);
  if (!place.options.recover.isGiven || !isWhole(existing, making)) throw unmarked(existing, making);
  return adopted(existing, making, "exists, is as declared as a whole, and is taken over to recover");
}

/** Goes on with a rule that is the stack's own already, as if the state had known it. */
async function asOurs(existing: LiveRule, making: Making): Promise<KnownRule> {
  const { definition, key, place } = making;
  const known = knownOf(existing, making);
  const [step] = plan(new Map([[key, known]]), new Map([[key, { definition }]]), place.contract);
  if (step?.kind !== "replace")
    return claimed(known, making, step?.kind === "update" || isToBeMarked(existing, making));
  await write.remove(known, making);
  return create(making);
}

async function adoptNamed(ruleId: string, making: Making): Promise<KnownRule> {
  const { key, of, place } = making;
  const attempted = `take over rule ${of.label(key) ?? ruleId}`;
  const holder = place.record(ruleId);
  if (holder.busy !== undefined || (holder.owner !== undefined && !holder.isLeaving)) {
    const reason = `rule ${ruleId} is managed by ${named(holder.owner)} of this stack`;
    const advice =
      "declare the rule once. Where the other resource was only renamed to this one, give this one an alias";
    throw new MerchantRulesError("RULE_CONFLICT", reason, { attempted, advice });
  }
  const sight = await place.look({ ...making, ruleId }, of.label(key), "list");
  if (sight.is === "absent") {
    const reason = `rule ${ruleId}, which adopt names, is not there`;
    const advice = "correct the id; or remove adopt, and the rule is created";
    throw new MerchantRulesError("RULE_NOT_FOUND", reason, { attempted, advice });
  }
  const existing = { ruleId, rule: sight.rule };
  if (place.isForeign(sight.rule)) throw refused(existing, "is the service's own (rule.foreign)", making);
  const mark = markedOwner(sight.rule, place.contract);
  const isOthers = mark !== undefined && mark !== of.owner;
  return adopted(existing, making, isOthers ? `is taken over from "${mark}"` : undefined);
}

/** Makes an existing rule this resource's own, and as declared, and says so. Nothing is written where nothing differs. */
async function adopted(existing: LiveRule, making: Making, how?: string): Promise<KnownRule> {
  const { definition, key, of, place } = making;
  const { ruleId, rule } = existing;
  const known = knownOf(existing, making);
  const differs = !write.isAsDeclared(rule, definition, place);
  const reason = differs ? reasonToReplace(known.definition, definition, place.contract) : undefined;
  if (reason === undefined) {
    const isToBeWritten = differs || isToBeMarked(existing, making);
    const taken = await claimed(known, making, isToBeWritten);
    const usual = differs ? "is taken over, and was changed to be as declared" : "is as declared and is taken over";
    write.say(how ?? usual, ruleId, making);
    return taken;
  }
  const paths = write.pathsOf(rule, definition, place);
  const found = `rule ${ruleId} differs at ${paths} and cannot be changed: by the contract ${reason}`;
  throw new MerchantRulesError("UNSUPPORTED_BY_CONTRACT", found, {
    attempted: `take over rule ${of.label(key) ?? ruleId}`,
    advice: "declare the rule as it is at the service and take it over so; change it in a later run, which replaces it",
  });
}

/** Whether an existing rule has another mark than it should, which an update can change. */
function isToBeMarked({ rule }: LiveRule, { of, place }: Making): boolean {
  const { operations, rule: options } = place.contract;
  return options.owner !== null && operations.update !== null && markedOwner(rule, place.contract) !== of.owner;
}

/** Claimed before it is changed: of two that take a rule over at once, the one that is refused must not have written. */
async function claimed(known: KnownRule, making: Making, isToBeWritten: boolean): Promise<KnownRule> {
  const { definition, of, place } = making;
  place.claim(known.ruleId, of.owner);
  const record = place.record(known.ruleId);
  record.isTakenOver = true;
  // The delete of what the resource was, if the engine calls it, comes next.
  if (mayReplace(making)) record.isPassedOn = true;
  try {
    return isToBeWritten ? await write.update(known, definition, making) : { ...known, definition };
  } catch (error) {
    if (!(error instanceof write.Written)) delete place.record(known.ruleId).owner;
    throw error;
  }
}

/**
 * Whether the resource may be created to replace what it was. The engine says nothing of it where it has decided this alone
 * (`--replace`, `--target-replace`, `replacementTrigger`, a taint): then only create and delete are called.
 */
function mayReplace({ of }: Making): boolean {
  return of.known.size === 0 && of.owner !== "";
}

/** An existing rule as the state would know it. */
function knownOf({ ruleId, rule }: LiveRule, { definition, of, place }: Making): KnownRule {
  const known = { ruleId, definition: write.seenAs(rule, definition, place) };
  const mark = markedOwner(rule, place.contract);
  return mark === undefined || mark === of.owner ? known : { ...known, markedAs: mark };
}

/** Whether a live rule is the declared one and has nothing besides. Services drop nulls. */
function isWhole({ rule }: LiveRule, { definition, place }: Making): boolean {
  const found = differences(write.ownFields(rule, place), definition, place.contract.rule);
  return found.every(({ kind, after }) => kind === "add" && after === null);
}

/** `rule 7 has its natural key (/name: "limit-1") and`. */
function sameKey({ ruleId, rule }: LiveRule, { contract }: Place): string {
  const { naturalKey, secret } = contract.rule;
  if (naturalKey === null) return `rule ${ruleId}`;
  const value = secret.length > 0 ? "" : `: ${JSON.stringify(valueAt(rule, naturalKey) ?? null).slice(0, 100)}`;
  return `rule ${ruleId} has the same natural key (${naturalKey}${value}) and`;
}

/** The rule is another's. */
function refused(existing: LiveRule, why: string, { key, of, place, attempted }: Making): MerchantRulesError {
  const isMarked = why.includes("mark says");
  const advice = isMarked
    ? `to take it over all the same, add ${of.adopting(key, existing.ruleId)}; to leave it, declare yours with another natural key`
    : "declare yours with another natural key, or the rule once. Where the other resource was only renamed to this one, give this one an alias; where it has just been changed to be another rule, run again";
  return new MerchantRulesError("RULE_CONFLICT", `${sameKey(existing, place)} ${why}`, { attempted, advice });
}

/** The program has the engine make a new rule while the old one, which it could change in place, is still there. */
function inItsOwnWay(existing: LiveRule, { place, attempted }: Making): MerchantRulesError {
  const reason = `${sameKey(existing, place)} is this resource's own, which the new rule is to replace`;
  return new MerchantRulesError("RULE_CONFLICT", reason, {
    attempted,
    advice:
      "give the resource the option deleteBeforeReplace: true, or take from it what has it replaced (replaceOnChanges), and the rule is changed in place",
  });
}

/** Nobody can tell whose rule this is, so nobody takes it over without a word. */
function unmarked(existing: LiveRule, making: Making): MerchantRulesError {
  const { definition, key, of, place, attempted } = making;
  const differs = !write.isAsDeclared(existing.rule, definition, place);
  const isFixed =
    differs && reasonToReplace(knownOf(existing, making).definition, definition, place.contract) !== undefined;
  const others = isWhole(existing, making) ? "as it is declared" : "with the declared fields and others besides";
  const how = differs ? `and differs at ${write.pathsOf(existing.rule, definition, place)}` : others;
  const adopting = of.adopting(key, existing.ruleId);
  const ways = isFixed
    ? `to take it over, declare it as it is at the service and add ${adopting}; change it in a later run`
    : `to take it over${differs ? " and make it as declared" : ""}, add ${adopting}`;
  return new MerchantRulesError("RULE_CONFLICT", `${sameKey(existing, place)} exists already, ${how}`, {
    attempted,
    advice: `${ways}. If this resource was only renamed or moved, give it an alias. If a run of this stack was killed, set ${place.options.recover.howTo} for one run, which takes over what is as declared as a whole`,
  });
}

/** A create that may have made the rule, and nobody can tell. */
function mayExist(error: MerchantRulesError, { definition, key, of, place, attempted }: Making): MerchantRulesError {
  const { list } = place.contract.operations;
  const lag = list?.lagMs === null ? " (the contract does not say how far its list lags: operations.list.lagMs)" : "";
  const missing = list === null ? "no list operation" : "no natural key that this rule has";
  const canSearch = place.canSearch(definition);
  const shown = canSearch ? `the list does not show it${lag}` : `the contract has ${missing} to look it up by`;
  const first = isMerchantRulesError(error.cause) ? error.cause : error;
  const adopting = of.adopting(key, "<its ruleId>");
  const safer =
    "With operations.list, its lagMs and rule.naturalKey, or idempotency, in the contract this cannot happen";
  return error.with({
    code: "RULE_OUTCOME_UNKNOWN",
    reason: `${first.reason}; the rule may exist; ${shown}`,
    attempted,
    outcomeUnknown: true,
    advice: `look at the service whether the rule is there. If it is, add ${adopting}; if it is not, run again. ${safer}`,
    cause: error,
  });
}

/** The service refuses the rule because of another one that cannot be found. */
function inTheWay(error: MerchantRulesError, { definition, key, of, place, attempted }: Making): MerchantRulesError {
  const adopting = of.adopting(key, "<its ruleId>");
  const advice = place.canSearch(definition)
    ? `the list shows no rule with its natural key; look at the service for what it conflicts with. If it is this rule, add ${adopting}`
    : `look at the service for a rule like it. To take it over, add ${adopting}; with operations.list and rule.naturalKey in the contract it is found by itself`;
  return error.with({ attempted, advice });
}

function cannotSearch({ of, key, place }: Making): MerchantRulesError {
  const { operations, rule } = place.contract;
  const gap = operations.list === null ? "operations.list" : "rule.naturalKey";
  const isGap = operations.list === null || rule.naturalKey === null;
  const missing = isGap ? `which needs ${gap} in the contract` : `and the definition has none at ${rule.naturalKey}`;
  const code = isGap ? "UNSUPPORTED_BY_CONTRACT" : "RULE_INVALID";
  return new MerchantRulesError(code, `adopt: true looks the rule up by its natural key, ${missing}`, {
    attempted: `take over rule ${of.label(key) ?? ""}`.trimEnd(),
    advice: `${isGap ? `describe ${gap} in the contract` : `declare ${rule.naturalKey}`}, or name the rule: ${of.adopting(key, "<its ruleId>")}`,
  });
}
