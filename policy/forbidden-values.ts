import { z } from "zod";
import { asWritten, isEqual } from "../sdk/json/index.ts";
import { pointer, pointers, scalar } from "./base/configuration.ts";
import { rulePolicy, shown } from "./base/rule-policy.ts";

/** Some fields stay away, null included, and others do not have certain values. */
export const forbiddenValues = rulePolicy({
  name: "forbidden-values",
  description: "A rule has no value that a team forbids.",
  config: {
    pointers: pointers.default([]).describe('Where nothing may be: ["/internalNote"]'),
    values: z
      .record(pointer, z.array(scalar).min(1))
      .default({})
      .describe('Forbidden values by pointer: { "/actions/*/type": ["accept"] }'),
  },
  idle: ({ pointers, values }) =>
    pointers.length === 0 && Object.keys(values).length === 0 ? "no pointer is configured" : undefined,
  *check(rule, { pointers, values }) {
    for (const pattern of pointers) {
      for (const place of rule.at(pattern, "shallow")) yield { ...place, allowed: "nothing" };
    }
    for (const [pattern, forbidden] of Object.entries(values)) {
      for (const place of rule.at(pattern, "shallow")) {
        if (forbidden.some((each) => isEqual(each, place.value, asWritten)))
          yield { ...place, allowed: `anything but ${forbidden.map(shown).join(", ")}` };
      }
    }
  },
});
