import { printable, printableJson } from "../../sdk/rules/printable.ts";
import type { Comparison, Condition, ConditionTrace } from "../../sdk/semantics/index.ts";

const mostOfValue = 200;

const phrases: Readonly<Record<Comparison["operator"], readonly [is: string, isNot: string]>> = {
  eq: ["is", "is not"],
  ne: ["is not", "is"],
  in: ["is one of", "is none of"],
  notIn: ["is none of", "is one of"],
  gt: ["is over", "is not over"],
  gte: ["is at least", "is not at least"],
  lt: ["is under", "is not under"],
  lte: ["is at most", "is not at most"],
  between: ["is between", "is not between"],
  startsWith: ["starts with", "does not start with"],
  endsWith: ["ends with", "does not end with"],
  contains: ["contains", "does not contain"],
  matches: ["matches", "does not match"],
  exists: ["is there", "is not there"],
  absent: ["is not there", "is there"],
  inCidr: ["is in the network", "is not in the network"],
};

/** A condition on one line: `amount is over 500`. */
export function conditionText(condition: Condition): string {
  switch (condition.kind) {
    case "comparison": {
      const { field, operator, isNegated, operand, written } = condition;
      const phrase = phrases[operator][isNegated ? 1 : 0];
      const other = operand.kind === "field" ? ` the payment's ${operand.field}` : "";
      const value = operand.kind === "none" || operand.kind === "field" ? "" : ` ${valueText(written)}`;
      return `${printable(field, 100)} ${phrase}${printable(other, 100)}${value}`;
    }
    case "always":
      return "always";
    case "never":
      return "never";
    case "all":
      return "all of:";
    case "any":
      return "one of:";
    case "not":
      return "not:";
  }
}

/** What the payment has, and why that decides nothing, where it does not. */
export function foundText({ condition, found, comparedWith, why }: ConditionTrace): string {
  if (condition.kind !== "comparison") return "";
  if (why !== undefined) return printable(why, mostOfValue);
  if (condition.operand.kind === "none") return "";
  const own = `the payment has ${valueText(found)}`;
  return condition.operand.kind === "field" ? `${own} and ${valueText(comparedWith)}` : own;
}

/** The comparisons of a rule, those inside groups too. */
export function comparisonsIn(trace: ConditionTrace): ConditionTrace[] {
  return trace.condition.kind === "comparison" ? [trace] : trace.of.flatMap(comparisonsIn);
}

function valueText(value: unknown): string {
  return value === undefined ? "nothing" : printable(printableJson(value), mostOfValue);
}
