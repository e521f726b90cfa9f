import { z } from "zod";
import { isJsonArray } from "../sdk/json/index.ts";
import { pointer } from "./base/configuration.ts";
import { rulePolicy } from "./base/rule-policy.ts";

/** A rule has no more conditions than its service takes, or than people can follow. What is there and is no array passes. */
export const maximumConditions = rulePolicy({
  name: "maximum-conditions",
  description: "A rule has no more conditions than configured.",
  config: {
    conditions: pointer
      .nullable()
      .default(null)
      .describe('Where the array of conditions stands: "/conditions"; with * each array by itself'),
    maximum: z.int().min(0).nullable().default(null).describe("How many conditions an array may have"),
  },
  idle: ({ conditions }) => (conditions === null ? "no pointer is configured" : undefined),
  conflict({ conditions, maximum }) {
    if ((conditions === null) === (maximum === null)) return undefined;
    return `found ${maximum === null ? "conditions without maximum" : "maximum without conditions"}, allowed: both, or none`;
  },
  *check(rule, { conditions, maximum }) {
    if (conditions === null || maximum === null) return;
    for (const { pointer, value } of rule.at(conditions, "shallow")) {
      if (isJsonArray(value) && value.length > maximum)
        yield { pointer, found: `${value.length} conditions`, allowed: `at most ${maximum}` };
    }
  },
});
