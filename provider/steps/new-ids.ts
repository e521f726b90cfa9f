import type { LiveRule } from "../../sdk/client/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { idsChange, type KnownRule } from "../decide/plan.ts";
import { say } from "../refusals/say.ts";
import type { Task } from "../run/task.ts";
import { Written } from "../run/written.ts";
import { type Before, canLookUp, madeMeanwhile, type Sent, wasBefore } from "./find.ts";
import { claimOn } from "./known.ts";

/**
 * All that this run knows follows a rule to the id that its update has given it.
 * @throws MerchantRulesError RULE_CONFLICT: the id is that of a rule that was there before
 */
export function follow(known: KnownRule, to: string, before: Before, task: Task): void {
  const { of, key, place } = task;
  if (to === known.ruleId) return;
  if (wasBefore(to, before, place) || claimOn(to, undefined, task).claim === "yes") {
    const reason = `the service answered with rule ${to}, which was there before`;
    throw new MerchantRulesError("RULE_CONFLICT", reason, {
      attempted: `update rule ${of.label(key) ?? known.ruleId}`,
      outcomeUnknown: true,
      advice: "correct operations.update or rule.id in the contract: the answer to an update has the rule's new id",
    });
  }
  place.paper.remember(known.ruleId, null);
}

/**
 * The rule after an update whose answer was lost: by the id that it has now.
 * @throws MerchantRulesError the same, where it is not seen: the service may not have carried it out, or may do so later
 */
export async function afterLostAnswer(
  error: MerchantRulesError,
  definition: JsonObject,
  sent: Sent,
  task: Task,
): Promise<LiveRule> {
  if (!canLookUp(definition, task)) {
    const reason = `${error.reason}; the rule may exist by another id`;
    throw error.with({ reason, advice: `run again; if it is not found then, ${lookYourself(task)}` });
  }
  const { made } = await madeMeanwhile(definition, sent, task).catch((failed: unknown) => {
    throw isMerchantRulesError(failed) ? error : failed;
  });
  if (made === undefined) throw error;
  return made;
}

/**
 * Before a rule that is gone is made anew: an update of an earlier run, which was not answered or whose run was killed, may
 * have given it another id. Where that cannot be looked up, only a person can tell.
 * @throws Written: the state keeps the rule
 */
export function demandLookUp(known: KnownRule, definition: JsonObject, attempted: string, task: Task): void {
  if (canLookUp(definition, task)) return;
  task.place.paper.remember(known.ruleId, undefined);
  const reason = `rule ${known.ruleId} is no longer there. It may have another id by now, as an update gives one (operations.update.id), and the contract has nothing to find it by`;
  const advice = `${lookYourself(task)}. With operations.list and rule.naturalKey in the contract it is found by itself`;
  throw new Written(
    { ...known, doubt: known.doubt ?? {}, isSealed: true },
    new MerchantRulesError("RULE_NOT_FOUND", reason, { attempted, advice, outcomeUnknown: true }),
  );
}

function lookYourself({ of, key }: Task): string {
  return `look at the service whether the rule is there: if it is, add ${of.adopting(key, "<its ruleId>")}; if it is not, run \`pulumi up --refresh\`, which makes it again`;
}

/** Says where a rule that was to be deleted and is gone may be in force by another id, and nothing shows which is whose. */
export async function sayWhatMayBeLeft({ ruleId, definition }: KnownRule, task: Task): Promise<void> {
  const { live, contract, claims } = task.place;
  if (!idsChange(task.place)) return;
  if (!canLookUp(definition, task)) {
    const fact = "is no longer there. One update got no answer, and may have given it another id";
    return say(`${fact}. Look at the service whether it is there, and delete it there`, ruleId, task);
  }
  if (contract.rule.owner !== null) return;
  for (const found of await live.find(definition, undefined)) {
    if (claims.isKnown(found.ruleId)) continue;
    const fact = `is no longer there, and rule ${found.ruleId} has its natural key. One update got no answer, and may have given it that id. It is not deleted; delete it at the service where it is this stack's`;
    say(fact, ruleId, task);
  }
}
