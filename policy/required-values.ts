import { pointers } from "./base/configuration.ts";
import { missingAt } from "./base/places.ts";
import { rulePolicy } from "./base/rule-policy.ts";

/**
 * A rule has a value at each configured pointer; null is none. Where the pointer has a `*`, every element needs one, and
 * a rule without elements passes: name the array itself, too, where it must be there.
 */
export const requiredValues = rulePolicy({
  name: "required-values",
  description: "A rule has a value at each configured pointer.",
  config: {
    pointers: pointers.default([]).describe('Where a value must be: ["/owner", "/actions/*/type"]'),
  },
  idle: ({ pointers }) => (pointers.length === 0 ? "no pointer is configured" : undefined),
  *check(rule, { pointers }) {
    for (const pattern of pointers) {
      // Where the elements themselves are not known, nothing is missing, and yet nothing was checked.
      rule.isUnknown(pattern, "shallow");
      for (const { pointer, found } of missingAt(rule.definition, pattern)) {
        if (!rule.isUnknown(pointer)) yield { pointer, found, allowed: "a value" };
      }
    }
  },
});
