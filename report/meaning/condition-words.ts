import {
  type Condition,
  type ConditionTrace,
  comparisonWords,
  type Semantics,
  shortWords,
} from "../../meaning/index.ts";
import { printable, printableJson } from "../../sdk/json/printable.ts";

const mostOfValue = 200;

/** Says a condition on one line, in the words of rules: `amount > 500`. A group says what it asks of the lines below it. */
export function conditionText(condition: Condition, semantics: Semantics): string {
  switch (condition.kind) {
    case "comparison":
      return printable(shortWords(comparisonWords(condition, semantics)));
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

/** Says what the payment has, or why the comparison is unknown; empty where there is nothing to say. */
export function foundText({ condition, found, comparedWith, why }: ConditionTrace): string {
  if (condition.kind !== "comparison") return "";
  if (why !== undefined) return printable(why, mostOfValue);
  if (condition.operand.kind === "none") return "";
  const own = `the payment has ${valueText(found)}`;
  return condition.operand.kind === "field" ? `${own} and ${valueText(comparedWith)}` : own;
}

/** Returns the comparisons of a rule, those inside groups too. */
export function comparisonsIn(trace: ConditionTrace): ConditionTrace[] {
  return trace.condition.kind === "comparison" ? [trace] : trace.of.flatMap(comparisonsIn);
}

function valueText(value: unknown): string {
  return value === undefined ? "nothing" : printable(printableJson(value), mostOfValue);
}
