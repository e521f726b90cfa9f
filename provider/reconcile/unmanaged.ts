import { MerchantRulesError } from "../../sdk/errors.ts";
import { markedOwner } from "./owner.ts";
import type { Place } from "./place.ts";
import type { Declared, Known } from "./plan.ts";

/**
 * Looks for rules at the service that the set neither holds nor is about to take over.
 * @throws MerchantRulesError RULE_CONFLICT: for `fail`, naming them; before anything is written
 */
export async function lookForUnmanaged(
  known: Known,
  place: Place,
  { onUnmanaged, rules }: { onUnmanaged: "ignore" | "warn" | "fail"; rules: Declared },
): Promise<void> {
  if (onUnmanaged === "ignore") return;
  const managed = new Set([...known.values()].map(({ ruleId }) => ruleId));
  for (const { definition, adopt } of rules.values()) {
    const existing = typeof adopt === "string" ? adopt : (await place.search(definition))?.ruleId;
    if (existing !== undefined) managed.add(existing);
  }
  const unmanaged = (await place.all()).filter(({ ruleId, rule }) => !managed.has(ruleId) && !place.isForeign(rule));
  if (unmanaged.length === 0) return;
  const named = unmanaged.slice(0, 20).map(({ ruleId, rule }) => {
    const owner = markedOwner(rule, place.contract);
    return owner === undefined ? ruleId : `${ruleId} (of "${owner}")`;
  });
  if (unmanaged.length > named.length) named.push(`and ${unmanaged.length - named.length} more`);
  const [what, are] = unmanaged.length === 1 ? ["rule", "is"] : ["rules", "are"];
  const found = `${unmanaged.length} ${what} at the service ${are} not in the set: ${named.join(", ")}`;
  if (onUnmanaged === "warn") return console.error(found);
  throw new MerchantRulesError("RULE_CONFLICT", found, {
    advice: "declare them in the set (with adopt), delete them at the service, or set onUnmanaged to warn or ignore",
  });
}
