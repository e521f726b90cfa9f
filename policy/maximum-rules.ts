import { z } from "zod";
import { stackPolicy } from "./base/rule-policy.ts";

/** A stack has no more rules than its service carries, or than its team can oversee. Each connection is counted by itself. */
export const maximumRules = stackPolicy({
  name: "maximum-rules",
  description: "A stack has no more rules than configured.",
  config: {
    maximum: z.int().min(0).nullable().default(null).describe("How many rules each connection may have"),
  },
  idle: ({ maximum }) => (maximum === null ? "no maximum is configured" : undefined),
  *check(rules, { maximum }) {
    // Nobody knows yet how many rules these sets have.
    for (const rule of rules.filter(({ key }) => key === undefined)) rule.isUnknown("");
    const known = rules.filter(({ key }) => key !== undefined);
    for (const [connection, { length }] of Map.groupBy(known, (rule) => rule.connection)) {
      if (maximum !== null && length > maximum)
        yield {
          rule: `connection ${connection}`,
          pointer: "",
          found: `${length} rules`,
          allowed: `at most ${maximum}`,
        };
    }
  },
});
