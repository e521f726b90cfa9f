import { setTimeout as sleep } from "node:timers/promises";
import type { LiveRule } from "../../sdk/client/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { differences, isEqual, isJsonObject, type JsonObject, project, valueAt } from "../../sdk/rules/index.ts";
import type { Resource } from "./observe.ts";
import { isSameStack, marked, markedOwner, type Owner } from "./owner.ts";
import type { Place } from "./place.ts";
import { type DeclaredRule, type KnownRule, plan, reasonToReplace } from "./plan.ts";
import { kept, naming, ownFields, pathsOf, remove, say, update, Written } from "./write.ts";

/** What every step of making one declared rule needs to know. */
interface Making {
  readonly declared: DeclaredRule;
  readonly key: string;
  readonly of: Resource;
  readonly place: Place;
  /** `create rule "limit-1"`, for messages. */
  readonly attempted: string;
}

/**
 * Makes a declared rule exist exactly once. It looks before it creates, where the contract allows it. A rule that exists
 * already is taken over when it is this resource's own, or the program or the user says so; else it is refused.
 * @throws MerchantRulesError RULE_CONFLICT: another rule has its natural key; RULE_OUTCOME_UNKNOWN: the rule may exist
 * @throws Written: the service keeps something else than was declared
 */
export function createOnce(declared: DeclaredRule, key: string, of: Resource, place: Place): Promise<KnownRule> {
  const label = of.label(key);
  const making = { declared, key, of, place, attempted: `create rule${label === undefined ? "" : ` ${label}`}` };
  return place.oneAtATime(declared.definition, async () => {
    const { definition, adopt } = declared;
    if (typeof adopt === "string") return adoptNamed(adopt, making);
    if (adopt === true && !place.canSearch(definition)) throw cannotSearch(making);
    const existing = await place.search(definition);
    return existing === undefined ? create(making) : settleWith(existing, making);
  });
}

async function create(making: Making): Promise<KnownRule> {
  const { declared, key, of, place } = making;
  const { definition } = declared;
  const { maxAttempts } = place.contract.limits;
  for (let attempt = 1; ; attempt += 1) {
    let answer: LiveRule;
    try {
      const sent = marked(definition, of.owner, key, place.contract);
      answer = await (await place.client()).create(sent, naming(of.label(key), definition));
    } catch (error) {
      if (!isMerchantRulesError(error) || !(error.outcomeUnknown || error.code === "RULE_CONFLICT")) throw error;
      const found = await afterLostAnswer(error, making);
      if (found !== undefined) return found;
      if (attempt >= maxAttempts || !mayBeSentAgain(error, place)) throw mayExist(error, making);
      await sleep(Math.random() * 200 * 2 ** attempt);
      continue;
    }
    const { ruleId } = answer;
    place.remember(ruleId, definition);
    place.claim(ruleId, of.owner);
    return kept(answer, { ruleId, definition }, "create", key, of, place);
  }
}

/** The service may or may not have made the rule. Only the service knows, so it is asked; undefined: it shows none. */
async function afterLostAnswer(error: MerchantRulesError, making: Making): Promise<KnownRule | undefined> {
  const { declared, of, place } = making;
  const { definition } = declared;
  if (!place.canSearch(definition)) {
    if (error.outcomeUnknown) throw mayExist(error, making);
    throw inTheWay(error, making);
  }
  await sleep(place.contract.operations.list?.lagMs ?? 0);
  const found = await place.search(definition, { isFresh: true });
  if (found === undefined) {
    if (error.outcomeUnknown) return undefined;
    throw inTheWay(error, making);
  }
  // There was none before, so one that is as declared was made by this create. A mark says so itself.
  const isOwn = error.outcomeUnknown && markedOwner(found.rule, place.contract) === undefined;
  if (!isOwn || !isAsDeclared(found, definition, place)) return settleWith(found, making);
  place.claim(found.ruleId, of.owner);
  return { ruleId: found.ruleId, definition };
}

/** Whether a look-up that shows nothing is proof enough: the list's lag is known, or the service itself said that it did nothing. */
function mayBeSentAgain({ exchange }: MerchantRulesError, { contract }: Place): boolean {
  return (contract.operations.list?.lagMs ?? null) !== null || exchange?.status === 503;
}

/** A rule with this natural key exists already. Whose is it? */
async function settleWith(existing: LiveRule, making: Making): Promise<KnownRule> {
  const { declared, of, place } = making;
  const { ruleId, rule } = existing;
  if (place.isForeign(rule)) throw refused(existing, "is the service's own (rule.foreign)", making);
  const mark = markedOwner(rule, place.contract);
  if (mark === undefined && declared.adopt !== true) await place.holderKnown(ruleId);
  const holder = place.holderOf(ruleId);
  if (holder !== undefined && !holder.isLeaving)
    throw refused(existing, `is managed by ${named(holder.owner)} of this stack`, making);
  const owner = holder?.owner ?? mark;
  if (owner !== undefined && isSameStack(owner, of.owner)) {
    if (owner !== of.owner) told(existing, `is taken over from ${named(owner)} of this stack`, making);
    return goOn(existing, making);
  }
  if (mark !== undefined) throw refused(existing, `is managed by "${mark}", as its mark says`, making);
  if (declared.adopt === true) return adopted(existing, making);
  if (!place.options.recover.isGiven || !isWhole(existing, declared.definition, place))
    throw unmarked(existing, making);
  told(existing, "exists, is as declared as a whole, and is taken over to recover", making);
  return adopted(existing, making);
}

/** Goes on with a rule that is the stack's own already, as if the state had known it. */
async function goOn(existing: LiveRule, making: Making): Promise<KnownRule> {
  const { declared, key, of, place } = making;
  const { definition } = declared;
  const known = knownOf(existing, making);
  const [step] = plan(new Map([[key, known]]), new Map([[key, { definition }]]), place.contract);
  if (step?.kind === "replace") {
    await remove(known, key, of, place);
    return create(making);
  }
  return claiming(known, making, () =>
    step?.kind === "update" ? update(known, definition, key, of, place) : { ...known, definition },
  );
}

async function adoptNamed(ruleId: string, making: Making): Promise<KnownRule> {
  const { declared, key, of, place } = making;
  const attempted = `take over rule ${of.label(key) ?? ruleId}`;
  const holder = place.holderOf(ruleId);
  if (place.isBeingDeleted(ruleId) || (holder !== undefined && !holder.isLeaving)) {
    throw new MerchantRulesError(
      "RULE_CONFLICT",
      `rule ${ruleId} is managed by ${named(holder?.owner ?? "")} of this stack`,
      {
        attempted,
        advice: "declare the rule once. Where the other resource was only renamed to this one, give this one an alias",
      },
    );
  }
  const sight = await place.look({ ruleId, definition: declared.definition }, of.label(key), "list");
  if (sight.is === "absent") {
    throw new MerchantRulesError("RULE_NOT_FOUND", `rule ${ruleId}, which adopt names, is not there`, {
      attempted,
      advice: "correct the id; or remove adopt, and the rule is created",
    });
  }
  const existing = { ruleId, rule: sight.rule };
  if (place.isForeign(sight.rule)) throw refused(existing, "is the service's own (rule.foreign)", making);
  const mark = markedOwner(sight.rule, place.contract);
  if (mark !== undefined && mark !== of.owner) told(existing, `is taken over from "${mark}"`, making);
  return adopted(existing, making);
}

/** Makes an existing rule this resource's own, and as declared. Nothing is written where nothing differs. */
async function adopted(existing: LiveRule, making: Making): Promise<KnownRule> {
  const { declared, key, of, place } = making;
  const { definition } = declared;
  const known = knownOf(existing, making);
  const { operations, rule } = place.contract;
  const differs = !isEqual(known.definition, definition, rule);
  const reason = differs ? reasonToReplace(known.definition, definition, place.contract) : undefined;
  if (reason !== undefined) {
    throw new MerchantRulesError(
      "UNSUPPORTED_BY_CONTRACT",
      `rule ${existing.ruleId} differs at ${pathsOf(existing.rule, definition, place)} and cannot be changed: by the contract ${reason}`,
      {
        attempted: `take over rule ${of.label(key) ?? existing.ruleId}`,
        advice:
          "declare the rule as it is at the service first and take it over so; change it in a later run, which replaces it",
      },
    );
  }
  const isToBeMarked =
    rule.owner !== null && operations.update !== null && markedOwner(existing.rule, place.contract) !== of.owner;
  return claiming(known, making, () =>
    differs || isToBeMarked ? update(known, definition, key, of, place) : { ...known, definition },
  );
}

/** Claimed before it is changed: of two that take a rule over at once, the one that is refused must not have written. */
async function claiming(
  known: KnownRule,
  { of, place }: Making,
  run: () => KnownRule | Promise<KnownRule>,
): Promise<KnownRule> {
  place.claim(known.ruleId, of.owner);
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Written)) place.release(known.ruleId);
    throw error;
  }
}

/** An existing rule as the state would know it. */
function knownOf({ ruleId, rule }: LiveRule, { declared, of, place }: Making): KnownRule {
  const seen = project(rule, declared.definition, place.contract.rule);
  const mark = markedOwner(rule, place.contract);
  return {
    ruleId,
    definition: isJsonObject(seen) ? seen : {},
    ...(mark === undefined || mark === of.owner ? {} : { markedAs: mark }),
  };
}

function isAsDeclared({ rule }: LiveRule, definition: JsonObject, { contract }: Place): boolean {
  return isEqual(project(rule, definition, contract.rule), definition, contract.rule);
}

/** Whether a live rule is the declared one and has nothing besides. Services drop nulls. */
function isWhole({ rule }: LiveRule, definition: JsonObject, place: Place): boolean {
  return differences(ownFields(rule, place), definition, place.contract.rule).every(
    ({ kind, after }) => kind === "add" && after === null,
  );
}

function told({ ruleId }: LiveRule, what: string, { key, of }: Making): void {
  say(`rule ${of.label(key) ?? ruleId} (${ruleId}) ${what}`);
}

function named(owner: Owner): string {
  return owner === "" ? "another resource" : `resource "${owner}"`;
}

/** `rule 7 has its natural key (/name: "limit-1")`. */
function sameKey({ ruleId, rule }: LiveRule, { contract }: Place): string {
  const { naturalKey, secret } = contract.rule;
  if (naturalKey === null) return `rule ${ruleId}`;
  const value = secret.length > 0 ? "" : `: ${JSON.stringify(valueAt(rule, naturalKey)).slice(0, 100)}`;
  return `rule ${ruleId} has the same natural key (${naturalKey}${value}) and`;
}

/** The rule is held, and neither the program nor the user can have it by a word. */
function refused(existing: LiveRule, why: string, { key, of, place, attempted }: Making): MerchantRulesError {
  const isMarked =
    markedOwner(existing.rule, place.contract) !== undefined && place.holderOf(existing.ruleId) === undefined;
  const ways = isMarked
    ? `to take it over all the same, add ${of.adopting(key, existing.ruleId)}; to leave it, declare yours with another natural key`
    : "declare yours with another natural key, or the rule once. Where the other resource was only renamed to this one, give this one an alias; where it has just been changed to be another rule, run again";
  return new MerchantRulesError("RULE_CONFLICT", `${sameKey(existing, place)} ${why}`, { attempted, advice: ways });
}

/** Nobody can tell whose rule this is, so nobody takes it over without a word. */
function unmarked(existing: LiveRule, making: Making): MerchantRulesError {
  const { declared, key, of, place, attempted } = making;
  const { definition } = declared;
  const differs = !isAsDeclared(existing, definition, place);
  const isFixed =
    differs && reasonToReplace(knownOf(existing, making).definition, definition, place.contract) !== undefined;
  const state = differs
    ? `exists already; it differs at ${pathsOf(existing.rule, definition, place)}`
    : isWhole(existing, definition, place)
      ? "exists already, as it is declared"
      : "exists already, with the declared fields and others besides";
  const adopting = of.adopting(key, existing.ruleId);
  const ways = isFixed
    ? `to take it over, declare it as it is at the service and add ${adopting}; change it in a later run`
    : `to take it over${differs ? " and make it as declared" : ""}, add ${adopting}`;
  return new MerchantRulesError("RULE_CONFLICT", `${sameKey(existing, place)} ${state}`, {
    attempted,
    advice: `${ways}. If this resource was only renamed or moved, give it an alias. If a run of this stack was killed, set ${place.options.recover.howTo} for one run, which takes over what is as declared as a whole`,
  });
}

/** A create that may have made the rule, and nobody can tell. */
function mayExist(error: MerchantRulesError, { declared, key, of, place, attempted }: Making): MerchantRulesError {
  const { contract, options } = place;
  const { list } = contract.operations;
  const first = isMerchantRulesError(error.cause) ? error.cause : error;
  const look = "look at the service whether the rule is there";
  const adopting = of.adopting(key, "<its ruleId>");
  const taken =
    contract.rule.owner === null ? `set ${options.recover.howTo} for one run` : "run again, which finds it by its mark";
  const lag = list?.lagMs === null ? " (the contract does not say how far its list lags: operations.list.lagMs)" : "";
  const [shown, advice] = place.canSearch(declared.definition)
    ? [`; the list does not show it${lag}`, `${look}. If it is, ${taken}, or add ${adopting}; if it is not, run again`]
    : [
        `; the contract has ${list === null ? "no list operation" : "no natural key that this rule has"} to look it up by`,
        `${look}. If it is, add ${adopting}; if it is not, run again. With operations.list and rule.naturalKey, or idempotency, in the contract this cannot happen`,
      ];
  return new MerchantRulesError("RULE_OUTCOME_UNKNOWN", `${first.reason}; the rule may exist${shown}`, {
    attempted,
    ...(error.exchange === undefined ? {} : { exchange: error.exchange }),
    outcomeUnknown: true,
    advice,
    cause: error,
  });
}

/** The service refuses the rule because of another one that cannot be found. */
function inTheWay(error: MerchantRulesError, { declared, key, of, place, attempted }: Making): MerchantRulesError {
  const adopting = of.adopting(key, "<its ruleId>");
  const advice = place.canSearch(declared.definition)
    ? `the list shows no rule with its natural key; look at the service for what it conflicts with. If it is this rule, add ${adopting}`
    : `look at the service for a rule like it. To take it over, add ${adopting}; with operations.list and rule.naturalKey in the contract it is found by itself`;
  return error.with({ attempted, advice });
}

function cannotSearch({ of, key, place }: Making): MerchantRulesError {
  const { operations, rule } = place.contract;
  const label = of.label(key);
  const adopting = of.adopting(key, "<its ruleId>");
  const attempted = `take over rule${label === undefined ? "" : ` ${label}`}`;
  const needed = "adopt: true looks the rule up by its natural key";
  if (operations.list !== null && rule.naturalKey !== null)
    return new MerchantRulesError("RULE_INVALID", `${needed}, and the definition has none at ${rule.naturalKey}`, {
      attempted,
      advice: `declare ${rule.naturalKey}, or name the rule: ${adopting}`,
    });
  const gap = operations.list === null ? "operations.list" : "rule.naturalKey";
  return new MerchantRulesError("UNSUPPORTED_BY_CONTRACT", `${needed}, which needs ${gap} in the contract`, {
    attempted,
    advice: `describe ${gap} in the contract, or name the rule: ${adopting}`,
  });
}
