import { z } from "zod";
import { isJsonArray } from "../sdk/json/index.ts";
import { pointer } from "./base/configuration.ts";
import { ofStack, rulePolicy, stackPolicy } from "./base/rule-policy.ts";

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
        yield ofStack(`${length} rules`, `at most ${maximum}`, `connection ${connection}`);
    }
  },
});

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
