import { asWritten, canonical, type Pointer } from "../../sdk/json/index.ts";
import type { DeclaredRule } from "./declared-rule.ts";
import { type Finding, shown } from "./rule-policy.ts";

/**
 * The values at a pointer that an earlier rule of the same connection has, too. Equal is what is equal as JSON: 1 and
 * 1.0 are, 1 and "1" are not. null is no value. Within one rule a value may be repeated.
 */
export function* repeatedValues(rules: readonly DeclaredRule[], pattern: Pointer): Iterable<Finding> {
  for (const ofConnection of Map.groupBy(rules, (rule) => rule.connection).values()) {
    const first = new Map<string, DeclaredRule>();
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

/** A rule, and its set where it is in one. */
function nameOf({ key, label, resource }: DeclaredRule): string {
  return key === resource.name ? shown(label) : `${shown(label)} of ${shown(resource.name)}`;
}
