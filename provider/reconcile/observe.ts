import { isJsonObject, project } from "../../sdk/rules/index.ts";
import { demandOwnFields } from "./foreign-answer.ts";
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
  demandOwnFields(found.rule, definition, known.ruleId, label);
  const seen = project(found.rule, definition, live.contract.rule);
  return { ...known, definition: isJsonObject(seen) ? seen : {} };
}
