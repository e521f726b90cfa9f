import { pointers } from "./base/configuration.ts";
import { repeatedValues } from "./base/repeated-values.ts";
import { stackPolicy } from "./base/rule-policy.ts";

/** Each rule of a connection has a value of its own at the configured pointers; say a priority. Rules without one pass. */
export const uniqueValues = stackPolicy({
  name: "unique-values",
  description: "No two rules of one connection have the same value at a configured pointer.",
  config: {
    pointers: pointers.default([]).describe('Where no two rules may have the same value: ["/priority"]'),
  },
  idle: ({ pointers }) => (pointers.length === 0 ? "no pointer is configured" : undefined),
  check: (rules, { pointers }) => pointers.flatMap((pattern) => [...repeatedValues(rules, pattern)]),
});
