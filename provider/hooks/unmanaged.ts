import { MerchantRulesError } from "../../sdk/errors.ts";
import type { KnownRule, LiveRules } from "../reconcile/index.ts";
import type { OnUnmanaged, RuleSetInputs } from "./set-wire.ts";

/**
 * Looks for rules at the service that the set neither holds nor is about to take over.
 * @throws MerchantRulesError RULE_CONFLICT: for `fail`, naming them; before anything is written.
 */
export async function lookForUnmanaged(
  known: ReadonlyMap<string, KnownRule>,
  live: LiveRules,
  onUnmanaged: OnUnmanaged,
  declared: RuleSetInputs["rules"] = new Map(),
): Promise<void> {
  if (onUnmanaged === "ignore") return;
  const managed = new Set([...known.values()].map(({ ruleId }) => ruleId));
  for (const { definition, adopt } of declared.values()) {
    const existing = typeof adopt === "string" ? adopt : (await live.search(definition))?.ruleId;
    if (existing !== undefined) managed.add(existing);
  }
  const unmanaged = (await live.all()).filter(({ ruleId }) => !managed.has(ruleId)).map(({ ruleId }) => ruleId);
  if (unmanaged.length === 0) return;
  const named =
    unmanaged.length > 20
      ? `${unmanaged.slice(0, 20).join(", ")} and ${unmanaged.length - 20} more`
      : unmanaged.join(", ");
  const found = `${unmanaged.length} ${unmanaged.length === 1 ? "rule" : "rules"} at the service ${unmanaged.length === 1 ? "is" : "are"} not in the set: ${named}`;
  if (onUnmanaged === "warn") {
    console.error(`warning: ${found}`);
    return;
  }
  throw new MerchantRulesError("RULE_CONFLICT", found, {
    advice: "declare them in the set (with adopt), delete them at the service, or set onUnmanaged to warn or ignore",
  });
}
