import { demandOwnFields } from "../../sdk/client/update-body.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { isWholeAsKnown } from "../decide/live-rule.ts";
import { isLasting, isOpaque, type KnownRule } from "../decide/plan.ts";
import { type Claim, isOurs, judgeClaim, judgeRows, type KnownFacts } from "../decide/whose.ts";
import { markId, markIn } from "../merchant/mark.ts";
import type { Heard } from "../run/claims.ts";
import type { How, Sight } from "../run/live.ts";
import type { Place } from "../run/place.ts";
import { isOwnMark } from "../run/resource.ts";
import type { Task } from "../run/task.ts";

/** A rule that the state knows, as it is live. */
export interface Sighted {
  /** By the id that it has now. */
  readonly known: KnownRule;
  /** Undefined: it is not there, or was not looked at because nothing depends on it. */
  readonly rule: JsonObject | undefined;
  readonly facts: KnownFacts;
}

/**
 * Looks at a known rule as far as a decision needs it.
 * @param isRead it is looked at in any case
 * @throws MerchantRulesError as PlaceCheck.ofRow, or of the look
 */
export async function sighted(
  known: KnownRule,
  task: Task,
  how: How = lookBefore(task.place),
  isRead = false,
): Promise<Sighted> {
  const { key, of, place } = task;
  const isWeak = (await place.check.ofRow(key, known, of)) === "weakly here";
  if (!isRead && !isWeak && !needsLook(known, task))
    return { known, rule: undefined, facts: { isThere: true, isWeak, isWhole: true, isOurs: true } };
  const sight = await place.live.look(known, of.label(key), how);
  const moved = isWeak ? undefined : await movedTo(known, sight, task);
  if (moved !== undefined)
    return { known: moved.known, rule: moved.rule, facts: { isThere: true, isWeak, isWhole: true, isOurs: true } };
  if (sight.is === "absent")
    return { known, rule: undefined, facts: { isThere: false, isWeak, isWhole: false, isOurs: false } };
  // An answer that is no rule at all is neither drift nor another's.
  const { rule } = place.contract;
  demandOwnFields(sight.rule, known.definition, rule, { ruleId: known.ruleId, label: of.label(key) });
  return { known, rule: sight.rule, facts: { isThere: true, isWeak, ...factsOf(known, sight.rule, task) } };
}

/** What a live rule says of itself, beside its row. */
export function factsOf(known: KnownRule, rule: JsonObject, task: Task): Pick<KnownFacts, "isWhole" | "isOurs"> {
  const { key, of, place } = task;
  const { contract, live } = place;
  const mark = markIn(rule, contract);
  const isOwn = mark !== undefined && (markId(mark) === known.mark || isOwnMark(mark, of, key));
  return {
    isWhole: isWholeAsKnown(rule, known, live),
    isOurs: isOurs({
      mark: mark === undefined ? "none" : isOwn ? "own" : "another",
      wasMarked: known.mark !== undefined && contract.rule.owner !== null,
      isLasting: isLasting(known.ruleId, contract),
      // Where the service sets the key, the row has none.
      isSameKey: live.naturalKeyOf(known.definition) === undefined ? undefined : isKeyOf(rule, known, task),
    }),
  };
}

/** True of the row's natural key, or of that which a write of no known outcome was to give it. */
function isKeyOf(rule: JsonObject, { definition, doubt, wanted }: KnownRule, { place: { live } }: Task): boolean {
  const now = live.naturalKeyOf(rule);
  return (
    now === live.naturalKeyOf(definition) ||
    (doubt !== undefined && wanted !== undefined && now === live.naturalKeyOf(wanted))
  );
}

/** True where the rule must be seen before it is written. */
function needsLook({ isTaken, doubt, notOurs, ruleId }: KnownRule, { key, of, place }: Task): boolean {
  const { rule } = place.contract;
  return (
    isTaken === true ||
    doubt !== undefined ||
    notOurs === true ||
    rule.owner !== null ||
    rule.foreign.length > 0 ||
    (rule.naturalKey !== null && !isLasting(ruleId, place.contract)) ||
    place.claims.others(ruleId, of, key).length > 0
  );
}

/** The way to look at a rule before it is written: a list that lags shows neither a new mark nor the last write. */
export function lookBefore({ contract }: Place): How {
  const { list } = contract.operations;
  return list === null || list.lagMs === 0 ? "cheap" : "fresh";
}

/** The rule with the row's very mark under one other id: restored, imported again, or with a new id after an update. */
async function movedTo(
  known: KnownRule,
  sight: Sight,
  { place }: Task,
): Promise<Pick<Sighted, "known" | "rule"> | undefined> {
  const { contract, live } = place;
  if (known.mark === undefined) return undefined;
  const mark = sight.is === "present" ? markIn(sight.rule, contract) : undefined;
  if (mark !== undefined && markId(mark) === known.mark) return undefined;
  const marked = await live.withMark(known.mark);
  const [only, ...others] = marked.filter(({ ruleId }) => ruleId !== known.ruleId && !place.claims.isKnown(ruleId));
  if (only === undefined || others.length > 0) return undefined;
  return { known: { ...known, ruleId: only.ruleId }, rule: only.rule };
}

/** A heard row of another resource or key, and its claim. */
export interface Claimed {
  readonly claim: Claim;
  readonly by: Heard | undefined;
}

/** The strongest claim of others on a live rule. */
export function claimOn(ruleId: string, rule: JsonObject | undefined, task: Task): Claimed {
  const others = task.place.claims.others(ruleId, task.of, task.key);
  return strongest(others, (heard) => claimOf(heard, rule, task));
}

/** The row of this very resource out of its state, but for one that is known to be another merchant's rule of that id. */
export function ownRowOf(ruleId: string, rule: JsonObject, task: Task): Heard | undefined {
  const own = task.place.claims.ownOfState(ruleId, task.of, task.key);
  return own === undefined || claimOf(own, rule, task) === "no" ? undefined : own;
}

function claimOf(heard: Heard, rule: JsonObject | undefined, task: Task): Claim {
  const { row } = heard;
  const mark = rule === undefined ? undefined : markIn(rule, task.place.contract);
  return judgeClaim({
    ...factsBetween(heard, task.site, task),
    isOpaque: isOpaque(row.ruleId, task.place.contract),
    isSameMark: row.mark === undefined ? undefined : mark !== undefined && row.mark === markId(mark),
  });
}

/** Whether a heard row is of the same rule as a row: of others, and of what this resource itself has made or taken. */
export function sameRow(row: KnownRule, task: Pick<Task, "of" | "key" | "place">, withOwn: boolean): Claimed {
  const { of, key, place } = task;
  const own = withOwn ? place.claims.ownOfRun(row.ruleId, of, key) : undefined;
  const heard = [...place.claims.others(row.ruleId, of, key), ...(own === undefined ? [] : [own])];
  return strongest(heard, (each) =>
    judgeRows({
      ...factsBetween(each, row.site, task),
      isOpaque: isOpaque(row.ruleId, place.contract),
    }),
  );
}

function factsBetween({ row }: Heard, site: KnownRule["site"], { of, place }: Pick<Task, "of" | "place">) {
  if (site === undefined) return { isSamePlace: true, isSameIdentity: undefined, word: undefined };
  return place.facts(of.link?.ownerId, row.site, site);
}

function strongest(heard: readonly Heard[], judge: (each: Heard) => Claim): Claimed {
  const judged = heard.map((by) => ({ by, claim: judge(by) }));
  return (
    judged.find(({ claim }) => claim === "yes") ??
    judged.find(({ claim }) => claim === "unclear") ?? { claim: "no", by: undefined }
  );
}

/** True where the list or a read shows a rule of which a write says that it is gone. */
export async function isSeen(known: KnownRule, task: Task): Promise<boolean> {
  return (await task.place.live.isStillListed(known.ruleId)) || isThere(known, task);
}

/** True where a read shows the rule. */
export async function isThere(known: KnownRule, { key, of, place }: Task): Promise<boolean> {
  return (await place.live.look(known, of.label(key), "fresh")).is === "present";
}

export function isForeign(ruleId: string, attempted: string): MerchantRulesError {
  const advice = "remove it from the program: rules of the service's own are neither changed nor deleted";
  return new MerchantRulesError("RULE_CONFLICT", `rule ${ruleId} is the service's own (rule.foreign)`, {
    attempted,
    advice,
  });
}

export function yetFound(operation: "update" | "delete", notFound: MerchantRulesError): MerchantRulesError {
  return notFound.with({
    code: "RESPONSE_INVALID",
    reason: `${notFound.reason} to the ${operation}, but a read finds the rule`,
    advice: `run again; if it stays, see whether operations.${operation}.path and operations.${operation}.identifyBy in the contract are right`,
  });
}
