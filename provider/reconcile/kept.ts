import type { LiveRule } from "../../sdk/client/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import type { JsonObject } from "../../sdk/rules/index.ts";
import { isAsDeclared, ownFields, pathsOf, seenAs } from "./live-rule.ts";
import { type Mark, marked, markIn } from "./mark.ts";
import { ownMark } from "./own-mark.ts";
import type { Place } from "./place.ts";
import type { KnownRule } from "./plan.ts";
import { type Task, Written } from "./task.ts";

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
  const mark = ownMark(task);
  const isAsSent = (rule: JsonObject): boolean =>
    isAsDeclared(rule, definition, place) && isMarkKept(rule, mark, place);
  let live = answer.rule;
  if (isAsSent(live)) return written;
  const sent = marked(definition, mark, place.contract);
  if (Object.keys(sent).some((name) => !Object.hasOwn(live, name))) {
    // Some services answer with a part of the rule.
    if (place.answersInPart.has(operation)) return written;
    const sight = await place.live.look(written, of.label(key), "fresh").catch((error) => {
      throw isMerchantRulesError(error) ? new Written(written, error) : error;
    });
    if (sight.is === "absent") return written;
    live = sight.rule;
    if (isAsSent(live)) {
      place.answersInPart.add(operation);
      return written;
    }
  }
  const now = { ...written, definition: seenAs(live, definition, place) };
  place.live.remember(ruleId, now.definition);
  const attempted = `${operation} rule ${of.label(key) ?? ruleId} (id ${ruleId})`;
  if (isAsDeclared(live, definition, place)) throw new Written({ ...now, mark: null }, markLost(attempted, place));
  const reason = `the service keeps another rule than the declared one: it differs at ${pathsOf(live, definition, place)}`;
  const error = new MerchantRulesError("RULE_DIFFERS", reason, {
    attempted,
    advice: `declare these fields as the service keeps them (\`pulumi preview --diff\` shows how); if the service lost them, correct operations.${operation} in the contract (body, bodyAt)`,
  });
  throw new Written(now, error);
}

function isMarkKept(rule: JsonObject, mark: Mark | undefined, { contract }: Place): boolean {
  if (mark === undefined || contract.rule.owner === null) return true;
  const found = markIn(rule, contract);
  return found?.ownerId === mark.ownerId && found.place === mark.place;
}

function markLost(attempted: string, { contract }: Place): MerchantRulesError {
  const reason = `the service does not keep the mark of the rule's owner as it was sent, at ${contract.rule.owner?.at} (rule.owner)`;
  const advice =
    "name a field in rule.owner.at that keeps a text of 200 characters as it is; or leave rule.owner out, and delete the marks at the service";
  return new MerchantRulesError("RULE_DIFFERS", reason, { attempted, advice });
}
