import type { LiveRule } from "../../sdk/client/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import type { Json, JsonObject } from "../../sdk/rules/index.ts";
import * as json from "../../sdk/rules/index.ts";
import type { Resource } from "./observe.ts";
import { marked, markedOwner } from "./owner.ts";
import type { Place } from "./place.ts";
import type { KnownRule } from "./plan.ts";

/** What is done for one rule of a resource. */
export interface Task {
  readonly key: string;
  readonly of: Resource;
  readonly place: Place;
}

/** A rule was written, and something is wrong with what is there now: the state must know it as it is. */
export class Written extends Error {
  readonly known: KnownRule;
  readonly error: MerchantRulesError;

  constructor(known: KnownRule, error: MerchantRulesError) {
    super(error.message);
    this.known = known;
    this.error = error;
  }
}

/**
 * Changes a rule to be as declared.
 * @throws MerchantRulesError RULE_NOT_FOUND: it is gone; RULE_CONFLICT: it is another's
 * @throws Written: the service keeps something else than was declared
 */
export async function update(known: KnownRule, definition: JsonObject, task: Task): Promise<KnownRule> {
  const { key, of, place } = task;
  const { ruleId } = known;
  const attempted = `update rule ${of.label(key) ?? ruleId}`;
  const whose = await notOurs(known, task);
  if (whose !== undefined) {
    const advice = `to take it over, declare it as a new resource with ${of.adopting(key, ruleId)}; to leave it, remove it from the program`;
    throw new MerchantRulesError("RULE_CONFLICT", `rule ${ruleId} is ${whose}`, { attempted, advice });
  }
  let answer: LiveRule | undefined;
  try {
    const sent = marked(definition, of.owner, key, place.contract);
    answer = await (await place.client()).update(ruleId, sent, naming(known, task));
  } catch (error) {
    if (!isMerchantRulesError(error)) throw error;
    // A service that keeps deleted rules may refuse to change one as a conflict.
    const isConflict = error.code === "RULE_CONFLICT" && place.contract.rule.gone.length > 0;
    if (error.code !== "RULE_NOT_FOUND" && !isConflict) throw inTheWay(error, place);
    if (await isThere(known, task)) throw isConflict ? inTheWay(error, place) : yetFound("update", error);
    const advice = "run `pulumi up --refresh`, which sees that it is gone and makes it again";
    throw error.with({ code: "RULE_NOT_FOUND", attempted, reason: `rule ${ruleId} is no longer there`, advice });
  }
  place.remember(ruleId, definition);
  return kept(answer, { ruleId, definition }, "update", task);
}

/**
 * Deletes a rule. One that is gone already counts as deleted. One that another resource of the stack holds by now, or
 * that is another's at the service, is left alone.
 */
export async function remove(known: KnownRule, task: Task): Promise<void> {
  const { of, place } = task;
  const { ruleId } = known;
  if (place.isHeldByOther(ruleId, of.owner) || place.record(ruleId).rule === null || place.isPassedOn(ruleId)) return;
  const whose = await notOurs(known, task);
  if (whose !== undefined) return say(`is ${whose}, and is not deleted`, ruleId, task);
  await place.judge.deleting(ruleId, async () => {
    // While this delete waited for its turn, another resource may have taken the rule over.
    if (place.isHeldByOther(ruleId, of.owner) || place.isPassedOn(ruleId)) return;
    await place.deleting(ruleId, () => removeNow(known, task));
  });
}

async function removeNow(known: KnownRule, task: Task): Promise<void> {
  const { place } = task;
  const { ruleId } = known;
  let isSure = !place.contract.operations.delete.readAfter;
  let notFound: MerchantRulesError | undefined;
  try {
    isSure &&= (await (await place.client()).delete(ruleId, naming(known, task))) === "deleted";
  } catch (error) {
    if (!isMerchantRulesError(error) || error.code !== "RULE_NOT_FOUND") throw error;
    notFound = error;
  }
  // A path that is wrong in the contract is answered 404, too; a page in between says 200.
  if ((notFound !== undefined || !isSure) && (await isThere(known, task)))
    throw notFound === undefined ? stillThere(known, task) : yetFound("delete", notFound);
  if (notFound !== undefined && !place.judge.hasWitness)
    say(
      `was not there and counts as deleted; if connection "${place.options.name}" is not the one that made it, it still is in force there`,
      ruleId,
      task,
    );
  place.remember(ruleId, null);
}

/**
 * The rule as the state should know it after a write: as declared, unless the answer says that the service keeps
 * something else.
 * @throws Written RULE_DIFFERS
 */
export async function kept(
  answer: LiveRule | undefined,
  written: KnownRule,
  operation: "create" | "update",
  task: Task,
): Promise<KnownRule> {
  const { key, of, place } = task;
  const { definition, ruleId } = written;
  if (answer === undefined || Object.keys(ownFields(answer.rule, place)).length === 0) return written;
  let live = answer.rule;
  if (isAsDeclared(live, definition, place)) return written;
  if (Object.keys(definition).some((name) => !Object.hasOwn(live, name))) {
    // Some services answer with a part of the rule.
    if (place.answersInPart.has(operation)) return written;
    const sight = await place.look(written, of.label(key), "fresh").catch((error) => {
      throw isMerchantRulesError(error) ? new Written(written, error) : error;
    });
    if (sight.is === "absent") return written;
    live = sight.rule;
    if (isAsDeclared(live, definition, place)) {
      place.answersInPart.add(operation);
      return written;
    }
  }
  const now = { ruleId, definition: seenAs(live, definition, place) };
  place.remember(ruleId, now.definition);
  const reason = `the service keeps another rule than the declared one: it differs at ${pathsOf(live, definition, place)}`;
  const error = new MerchantRulesError("RULE_DIFFERS", reason, {
    attempted: `${operation} rule ${of.label(key) ?? ruleId} (id ${ruleId})`,
    advice: `declare these fields as the service keeps them (\`pulumi preview --diff\` shows how); if the service lost them, correct operations.${operation} in the contract (body, bodyAt)`,
  });
  throw new Written(now, error);
}

/** A live rule as far as a definition speaks of it. */
export function seenAs(live: JsonObject, definition: JsonObject, { contract }: Place): JsonObject {
  const seen = json.project(live, definition, contract.rule);
  return json.isJsonObject(seen) ? seen : {};
}

export function isAsDeclared(live: JsonObject, definition: JsonObject, place: Place): boolean {
  return json.isEqual(seenAs(live, definition, place), definition, place.contract.rule);
}

/** A rule without what the service adds to it: its id, the mark, what it alone sets. */
export function ownFields(rule: JsonObject, { contract }: Place): JsonObject {
  const { id, owner, readOnly } = contract.rule;
  return [...id, ...readOnly, ...(owner === null ? [] : [owner.at])].reduce(json.withoutValueAt, rule);
}

/** The paths at which a live rule differs; values may be secret. */
export function pathsOf(live: Json, definition: JsonObject, { contract }: Place): string {
  const seen = json.project(live, definition, contract.rule);
  const paths = json.differences(seen, definition, contract.rule).map(({ path }) => json.pathOf(path));
  return paths.length > 10 ? `${paths.slice(0, 10).join(", ")} and ${paths.length - 10} more` : paths.join(", ");
}

/** Whose a known rule is, where it is not ours: the service says so by a mark or by `rule.foreign`. */
async function notOurs(known: KnownRule, { key, of, place }: Task): Promise<string | undefined> {
  const { owner, foreign } = place.contract.rule;
  if (owner === null && foreign.length === 0) return undefined;
  const sight = await place.look(known, of.label(key), "cheap");
  if (sight.is === "absent") return undefined;
  if (place.isForeign(sight.rule)) return "the service's own (rule.foreign)";
  const mark = markedOwner(sight.rule, place.contract);
  if (mark === undefined || mark === of.owner || mark === known.markedAs) return undefined;
  return `managed by "${mark}" now, as its mark says`;
}

async function isThere(known: KnownRule, { key, of, place }: Task): Promise<boolean> {
  return (await place.judge.observe(of, new Map([[key, known]]), "fresh")).get(key) !== undefined;
}

function inTheWay(error: MerchantRulesError, { contract }: Place): MerchantRulesError {
  const { naturalKey } = contract.rule;
  if (error.code !== "RULE_CONFLICT" || naturalKey === null) return error;
  const advice = `another rule may have its natural key (${naturalKey}) still. Two rules that swap theirs need two runs: give one of them another first`;
  return error.with({ advice });
}

function yetFound(operation: "update" | "delete", notFound: MerchantRulesError): MerchantRulesError {
  return notFound.with({
    code: "RESPONSE_INVALID",
    reason: `${notFound.reason} to the ${operation}, yet a read finds the rule`,
    advice: `run again; if it stays, see whether operations.${operation}.path and operations.${operation}.identifyBy in the contract are right`,
  });
}

function stillThere({ ruleId }: KnownRule, { key, of }: Task): MerchantRulesError {
  return new MerchantRulesError("SERVICE_FAILED", "by its answers the rule is deleted, but a read still finds it", {
    attempted: `delete rule ${of.label(key) ?? ruleId}`,
    advice:
      "run again; if it stays, see whether operations.delete.path and operations.delete.identifyBy in the contract are right, or whether the service keeps deleted rules (rule.gone)",
  });
}

export function naming(known: { definition: JsonObject }, { key, of }: Task): { label?: string; known: JsonObject } {
  const label = of.label(key);
  return { known: known.definition, ...(label === undefined ? {} : { label }) };
}

/** What a run does that nobody asked for by name is said. The engine shows what a provider prints. */
export function say(what: string, ruleId: string, { key, of }: Pick<Task, "key" | "of">): void {
  const label = of.label(key);
  console.error(`rule ${label === undefined ? ruleId : `${label} (${ruleId})`} ${what}`);
}
