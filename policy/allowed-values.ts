import { z } from "zod";
import { asWritten, isEqual } from "../sdk/json/index.ts";
import { pointer, scalar } from "./base/configuration.ts";
import { rulePolicy, shown } from "./base/rule-policy.ts";

/** The values at a pointer are among those that a team allows. A rule without a value there passes; see `required-values`. */
export const allowedValues = rulePolicy({
  name: "allowed-values",
  description: "A rule has only allowed values at the configured pointers.",
  config: {
    values: z
      .record(pointer, z.array(scalar).min(1))
      .default({})
      .describe('Allowed values by pointer: { "/currency": ["EUR", "USD"] }'),
  },
  idle: ({ values }) => (Object.keys(values).length === 0 ? "no pointer is configured" : undefined),
  *check(rule, { values }) {
    for (const [pattern, allowed] of Object.entries(values)) {
      for (const place of rule.at(pattern)) {
        if (!allowed.some((each) => isEqual(each, place.value, asWritten)))
          yield { ...place, allowed: allowed.map(shown).join(", ") };
      }
    }
  },
});
