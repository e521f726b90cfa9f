import { MerchantRulesError } from "../../sdk/errors.ts";
import { isJsonObject, project } from "../../sdk/rules/index.ts";
import type { LiveRules } from "./live-rules.ts";
import type { KnownRule } from "./plan.ts";

/**
 * The known rules as they are at the service now, each projected onto the fields that the stack manages; a rule that
 * is gone is missing from the answer.
 * @throws MerchantRulesError when any of them cannot be told.
 */
export async function observe(
  known: ReadonlyMap<string, KnownRule>,
  live: LiveRules,
  label: (key: string) => string | undefined,
): Promise<Map<string, KnownRule>> {
  const entries = await Promise.all(
    [...known].map(async ([key, rule]) => [key, await observeRule(rule, live, label(key))] as const),
  );
  return new Map(entries.flatMap(([key, rule]) => (rule === undefined ? [] : [[key, rule]])));
}

async function observeRule(
  known: KnownRule,
  live: LiveRules,
  label: string | undefined,
): Promise<KnownRule | undefined> {
  const { definition } = known;
  const found = await live.find(known.ruleId, label, definition);
  if (found === undefined) {
    live.forget(known.ruleId);
    return undefined;
  }
  const seen = project(found.rule, definition, live.contract.rule);
  const fields = isJsonObject(seen) ? seen : {};
  if (Object.keys(fields).length === 0 && Object.keys(definition).length > 0) throw notTheRule(known.ruleId, label);
  return { ...known, definition: fields };
}

/** Taken for drift, it would have every field written again, or the rule made a second time under its name. */
function notTheRule(ruleId: string, label: string | undefined): MerchantRulesError {
  return new MerchantRulesError(
    "RESPONSE_INVALID",
    "what the service answered has none of the fields that are declared",
    {
      attempted: `read rule ${label ?? ruleId}`,
      advice:
        "check rule.envelope and the path of operations.get in the contract: the answer is not taken for this rule",
    },
  );
}
