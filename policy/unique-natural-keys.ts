import { segmentsOf } from "../sdk/json/index.ts";
import { pointer } from "./base/configuration.ts";
import { repeatedValues } from "./base/repeated-values.ts";
import { stackPolicy } from "./base/rule-policy.ts";

const naturalKey = pointer.refine((text) => !segmentsOf(text).includes("*"), {
  error: "allowed: a JSON Pointer (RFC 6901) without *, because a rule has one natural key",
});

/**
 * No two rules of one connection have the same natural key, whichever resources declare them: the service would see one
 * rule, and the resources would fight over it. A rule without a natural key passes; see `required-values`.
 */
export const uniqueNaturalKeys = stackPolicy({
  name: "unique-natural-keys",
  description: "No two rules of one connection have the same natural key.",
  config: {
    naturalKey: naturalKey
      .nullable()
      .default(null)
      .describe('Where the natural key stands, as rule.naturalKey in the contract: "/name"'),
  },
  idle: ({ naturalKey }) => (naturalKey === null ? "no natural key is configured" : undefined),
  check: (rules, { naturalKey }) => (naturalKey === null ? [] : repeatedValues(rules, naturalKey)),
});
