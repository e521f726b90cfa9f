import { MerchantRulesError } from "../../sdk/errors.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import type { How } from "./live.ts";
import { markIn } from "./mark.ts";
import type { Place } from "./place.ts";
import type { KnownRule } from "./plan.ts";
import { isOwnMark, whoseIs } from "./resource.ts";
import type { Task } from "./task.ts";
import type { KnownFacts } from "./whose.ts";

/** True where the rule must be seen before it is written. */
export function needsLook({ isTaken, doubt }: KnownRule, { contract }: Place): boolean {
  return isTaken === true || doubt !== undefined || contract.rule.owner !== null || contract.rule.foreign.length > 0;
}

/** The way to look at a rule before it is written: a list that lags shows neither a new mark nor the last write. */
export function lookBefore({ contract }: Place): How {
  const { list } = contract.operations;
  return list === null || list.lagMs === 0 ? "cheap" : "fresh";
}

export function factsOf(known: KnownRule, rule: JsonObject | undefined, { key, of, place }: Task): KnownFacts {
  const mark = rule === undefined ? undefined : markIn(rule, place.contract);
  return {
    isThere: true,
    isHeldByOther: place.holders.isHeldByOther(known.ruleId, of),
    mark: whoseIs(mark, of),
    // Its own mark is there, too, when the answer of its last update was lost.
    isMarkAsLastSeen: known.mark === undefined || known.mark === (mark?.place ?? null) || isOwnMark(mark, of, key),
    isAdopted: false,
    isAnotherKey: false,
    moved: place.options.moved.isGiven,
  };
}

/** True where the list or a read shows a rule of which a write says that it is gone. */
export async function isSeen(known: KnownRule, task: Task): Promise<boolean> {
  return (await task.place.live.isStillListed(known.ruleId)) || isThere(known, task);
}

/** True where a read shows the rule. */
export async function isThere(known: KnownRule, { key, of, place }: Task): Promise<boolean> {
  return (await place.proof.observe(of, new Map([[key, known]]), "fresh")).get(key) !== undefined;
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
