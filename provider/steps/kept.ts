import type { LiveRule } from "../../sdk/client/index.ts";
import { fittingForms } from "../../sdk/contract/fitting-forms.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { fieldsAdded } from "../../sdk/json/added-fields.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { isAsDeclared, listed, pathsOf, seenAs } from "../decide/live-rule.ts";
import type { KnownRule } from "../decide/plan.ts";
import { type Mark, marked, markId, markIn, parsedMark } from "../merchant/mark.ts";
import type { Place } from "../run/place.ts";
import { ownMark } from "../run/resource.ts";
import type { Task } from "../run/task.ts";
import { Written } from "../run/written.ts";

/**
 * The rule as the state should know it after a write: as declared, unless the answer says that the service keeps
 * something else. Where the answer does not show all that was sent, the rule is read.
 * @param before the rule before an update whose answer shows nothing of it
 * @throws Written RULE_DIFFERS
 */
export async function kept(
  answer: LiveRule | undefined,
  written: KnownRule,
  operation: "create" | "update",
  task: Task,
  before?: JsonObject,
): Promise<KnownRule> {
  const { key, of, place } = task;
  const { definition, ruleId } = written;
  const mark = written.mark === undefined ? undefined : ownMark(of, key, parsedMark(written.mark)?.bits);
  const isAsSent = (rule: JsonObject): boolean =>
    isAsDeclared(rule, definition, place) && isMarkKept(rule, mark, place);
  let live = answer?.rule ?? {};
  if (isAsSent(live)) return written;
  const sent = marked(definition, mark, place.contract);
  if (Object.keys(sent).some((name) => !Object.hasOwn(live, name))) {
    // Services answer with a part of the rule or its id alone, and keep the rest in a form of their own.
    const sight = await place.live.look(written, of.label(key), "fresh").catch((error) => {
      throw isMerchantRulesError(error) ? new Written({ ...written, doubt: {} }, error) : error;
    });
    if (sight.is === "absent") return written;
    live = sight.rule;
    if (isAsSent(live)) return written;
    // A read may be behind, or the service keeps the same in its own form: the next run looks again.
    if (before !== undefined && isAsDeclared(live, before, place))
      return { ...written, definition: before, doubt: fieldsAdded(before, definition) };
  }
  const now = { ...written, definition: seenAs(live, definition, place) };
  place.paper.remember(ruleId, now.definition);
  const attempted = `${operation} rule ${of.label(key) ?? ruleId} (id ${ruleId})`;
  if (isAsDeclared(live, definition, place)) throw new Written(unmarked(now), markLost(attempted, place));
  const reason = `the service keeps another rule than the declared one: it differs at ${pathsOf(live, definition, place)}`;
  const error = new MerchantRulesError("RULE_DIFFERS", reason, {
    attempted,
    advice: waysOut(live, definition, operation, place),
  });
  throw new Written(now, error);
}

function unmarked({ mark: _, ...known }: KnownRule): KnownRule {
  return known;
}

/** The advice about a rule that the service keeps otherwise: it would be so again at every run. */
function waysOut(live: JsonObject, definition: JsonObject, operation: string, { contract }: Place): string {
  const { forms, unordered, missing, isPart } = fittingForms(live, definition, contract);
  const entries = [
    ...(forms.length === 0 ? [] : [`rule.forms: [${forms.join(", ")}]`]),
    ...(unordered.length === 0 ? [] : [`rule.unordered: [${unordered.join(", ")}]`]),
  ];
  const others = entries.length === 0 ? "these fields" : "the other fields";
  const byHand = `declare ${others} as the service keeps them (\`pulumi preview --diff\` shows how); if the service lost them, correct operations.${operation} in the contract (${operation === "update" ? "body, " : ""}bodyAt), or where its answers have the rule (rule.envelope); if it changes them by requests of their own, such as activate or publish, name these in rule.transitions`;
  const byDefault = `where the service leaves out what is a default, say so in the contract: add { at, default } to rule.forms (${listed(missing)})`;
  return [
    ...(entries.length === 0
      ? []
      : [`say in the contract that the service stores the same in another form: add ${entries.join(" and ")}`]),
    ...(missing.length === 0 ? [] : [byDefault]),
    ...(isPart || missing.length > 0 ? [byHand] : []),
  ].join("; ");
}

function isMarkKept(rule: JsonObject, mark: Mark | undefined, { contract }: Place): boolean {
  if (mark === undefined || contract.rule.owner === null) return true;
  const found = markIn(rule, contract);
  return found !== undefined && markId(found) === markId(mark);
}

function markLost(attempted: string, { contract }: Place): MerchantRulesError {
  const reason = `the service does not keep the mark of the rule's owner as it was sent, at ${contract.rule.owner?.at} (rule.owner)`;
  const advice =
    "name a field in rule.owner.at that keeps a text of 200 characters as it is; or leave rule.owner out, and delete the marks at the service";
  return new MerchantRulesError("RULE_DIFFERS", reason, { attempted, advice });
}
