import { asWritten, canonical, type Pointer } from "../../sdk/json/index.ts";
import type { AnalyzedRule } from "./analyzed-rule.ts";
import { type PolicyFinding, shown } from "./rule-policy.ts";

/**
 * Yields the values at a pointer that an earlier rule of the same connection has, too. Values are equal as JSON: 1 and
 * 1.0 are, 1 and "1" are not. null is no value. Within one rule a value may be repeated.
 */
export function* repeatedValues(rules: readonly AnalyzedRule[], pattern: Pointer): Iterable<PolicyFinding> {
  for (const ofConnection of Map.groupBy(rules, (rule) => rule.connection).values()) {
    const first = new Map<string, AnalyzedRule>();
    for (const rule of ofConnection) {
      for (const place of rule.at(pattern)) {
        if (place.value === null || rule.isUnknown(place.pointer)) continue;
        const value = canonical(place.value, asWritten);
        const other = first.get(value);
        if (other === undefined) first.set(value, rule);
        else if (other !== rule)
          yield { rule, ...place, remark: `which rule ${nameOf(other)} has too`, allowed: "a value of its own" };
      }
    }
  }
}

/** Returns the name of a rule, with its set where it is in one. */
function nameOf({ key, label, resource }: AnalyzedRule): string {
  return key === resource.name ? shown(label) : `${shown(label)} of ${shown(resource.name)}`;
}
