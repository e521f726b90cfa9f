import type { LiveRule } from "../../sdk/client/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import {
  differences,
  isEqual,
  isJsonObject,
  type Json,
  type JsonObject,
  pathOf,
  project,
  withoutValueAt,
} from "../../sdk/rules/index.ts";
import type { Resource } from "./observe.ts";
import { marked, markedOwner } from "./owner.ts";
import type { Place } from "./place.ts";
import type { KnownRule } from "./plan.ts";

/** A rule was written, and something is wrong with what is there now: the state must know it as it is. */
export class Written extends Error {
  readonly known: KnownRule | undefined;
  readonly error: MerchantRulesError;

  constructor(known: KnownRule | undefined, error: MerchantRulesError) {
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
export async function update(
  known: KnownRule,
  definition: JsonObject,
  key: string,
  of: Resource,
  place: Place,
): Promise<KnownRule> {
  const { ruleId } = known;
  const label = of.label(key);
  const attempted = `update rule ${label ?? ruleId}`;
  const whose = await notOurs(known, key, of, place);
  if (whose !== undefined) {
    throw new MerchantRulesError("RULE_CONFLICT", `rule ${ruleId} is ${whose}`, {
      attempted,
      advice: `to take it over, add ${of.adopting(key, ruleId)} to a new resource; to have a rule of your own, remove this one from the program and declare it anew`,
    });
  }
  let answer: LiveRule | undefined;
  try {
    const sent = marked(definition, of.owner, key, place.contract);
    answer = await (await place.client()).update(ruleId, sent, naming(label, known.definition));
  } catch (error) {
    if (!isMerchantRulesError(error) || error.code !== "RULE_NOT_FOUND") throw error;
    if (await isThere(known, key, of, place)) throw yetFound("update", error);
    throw error.with({
      attempted,
      reason: `rule ${ruleId} is no longer there`,
      advice: "run `pulumi up --refresh`, which sees that it is gone and makes it again",
    });
  }
  place.remember(ruleId, definition);
  const { markedAs: _, ...written } = known;
  return kept(answer, { ...written, definition }, "update", key, of, place);
}

/**
 * Deletes a rule. One that is gone already counts as deleted. One that another resource of the stack holds by now, or
 * that is another's at the service, is left alone.
 */
export async function remove(known: KnownRule, key: string, of: Resource, place: Place): Promise<void> {
  const { ruleId } = known;
  const label = of.label(key);
  if (place.isHeldByOther(ruleId, of.owner) || place.isGone(ruleId) || place.isPassedOn(ruleId)) return;
  const whose = await notOurs(known, key, of, place);
  if (whose !== undefined) return say(`rule ${label ?? ruleId} (${ruleId}) is ${whose}, and is not deleted`);
  await place.judge.deleting(ruleId, async () => {
    // While this delete waited, another resource may have taken the rule over.
    if (place.isHeldByOther(ruleId, of.owner) || place.isPassedOn(ruleId)) return;
    await place.deleting(ruleId, () => removeNow(known, key, of, place));
  });
}

async function removeNow(known: KnownRule, key: string, of: Resource, place: Place): Promise<void> {
  const { ruleId } = known;
  const label = of.label(key);
  let isSure = !place.contract.operations.delete.readAfter;
  let notFound: MerchantRulesError | undefined;
  try {
    const answer = await (await place.client()).delete(ruleId, naming(label, known.definition));
    isSure &&= answer === "deleted";
  } catch (error) {
    if (!isMerchantRulesError(error) || error.code !== "RULE_NOT_FOUND") throw error;
    notFound = error;
  }
  if (notFound !== undefined || !isSure) {
    // A path that is wrong in the contract is answered 404, too; a page in between says 200.
    if (await isThere(known, key, of, place))
      throw notFound === undefined ? stillThere(known, label) : yetFound("delete", notFound);
    if (notFound !== undefined && !place.judge.hasWitness)
      say(
        `rule ${label ?? ruleId} was not there and counts as deleted; if connection "${place.options.connection}" is not the one that made it, it still is in force there`,
      );
  }
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
  key: string,
  of: Resource,
  place: Place,
): Promise<KnownRule> {
  const { rule: options } = place.contract;
  const { definition, ruleId } = written;
  const { isSealed: _, ...known } = written;
  if (answer === undefined || Object.keys(ownFields(answer.rule, place)).length === 0) return known;
  let seen = project(answer.rule, definition, options);
  if (isEqual(seen, definition, options)) return known;
  const label = of.label(key);
  if (Object.keys(definition).some((name) => !Object.hasOwn(answer.rule, name))) {
    // Some services answer with a part of the rule.
    if (place.answersInPart(operation)) return known;
    const sight = await place.look(known, label, "fresh").catch((error) => {
      throw isMerchantRulesError(error) ? new Written(known, error) : error;
    });
    if (sight.is === "absent") return known;
    seen = project(sight.rule, definition, options);
    if (isEqual(seen, definition, options)) {
      place.answersInPart(operation, true);
      return known;
    }
  }
  const now = { ...known, definition: isJsonObject(seen) ? seen : {} };
  place.remember(ruleId, now.definition);
  throw new Written(
    now,
    new MerchantRulesError(
      "RULE_DIFFERS",
      `the service keeps another rule than the declared one: it differs at ${pathsOf(seen, definition, place)}`,
      {
        attempted: `${operation} rule ${label ?? ruleId} (id ${ruleId})`,
        advice: `declare these fields as the service keeps them (\`pulumi preview --diff\` shows how); if the service lost them, correct operations.${operation} in the contract (body, bodyAt)`,
      },
    ),
  );
}

/** A rule without what the service adds to it: its id, the mark, what it alone sets. */
export function ownFields(rule: JsonObject, { contract }: Place): JsonObject {
  const { id, owner, readOnly } = contract.rule;
  const added = [...id, ...readOnly, ...(owner === null ? [] : [owner.at])];
  return added.reduce(withoutValueAt, rule);
}

/** The paths at which a live rule differs; values may be secret. */
export function pathsOf(live: Json, definition: JsonObject, { contract }: Place): string {
  const seen = project(live, definition, contract.rule);
  const paths = differences(seen, definition, contract.rule).map(({ path }) => pathOf(path));
  return paths.length > 10 ? `${paths.slice(0, 10).join(", ")} and ${paths.length - 10} more` : paths.join(", ");
}

/** Whose a known rule is, where it is not ours: the service says so by a mark or by `rule.foreign`. */
async function notOurs(known: KnownRule, key: string, of: Resource, place: Place): Promise<string | undefined> {
  const { owner, foreign } = place.contract.rule;
  if (owner === null && foreign.length === 0) return undefined;
  const sight = await place.look(known, of.label(key), "cheap");
  if (sight.is === "absent") return undefined;
  if (place.isForeign(sight.rule)) return "the service's own (rule.foreign)";
  const mark = markedOwner(sight.rule, place.contract);
  if (mark === undefined || mark === of.owner || mark === known.markedAs) return undefined;
  return `managed by "${mark}" now, as its mark says`;
}

async function isThere(known: KnownRule, key: string, of: Resource, place: Place): Promise<boolean> {
  return (await place.judge.observe(of, new Map([[key, known]]), { isFresh: true })).get(key)?.is === "present";
}

function yetFound(operation: "update" | "delete", notFound: MerchantRulesError): MerchantRulesError {
  return notFound.with({
    code: "RESPONSE_INVALID",
    reason: `${notFound.reason} to the ${operation}, yet a read finds the rule`,
    advice: `run again; if it stays, see whether operations.${operation}.path and operations.${operation}.identifyBy in the contract are right`,
  });
}

function stillThere({ ruleId }: KnownRule, label: string | undefined): MerchantRulesError {
  return new MerchantRulesError("SERVICE_FAILED", "by its answers the rule is deleted, but a read still finds it", {
    attempted: `delete rule ${label ?? ruleId}`,
    advice:
      "run again; if it stays, see whether operations.delete.path and operations.delete.identifyBy in the contract are right, or whether the service keeps deleted rules (rule.gone)",
  });
}

export function naming(label: string | undefined, known: JsonObject): { label?: string; known: JsonObject } {
  return label === undefined ? { known } : { label, known };
}

/** What a run does that nobody asked for by name is said. The engine shows it with the resource. */
export function say(text: string): void {
  console.error(text);
}
