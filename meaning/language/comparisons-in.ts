import type { Comparison, Condition, RuleReading } from "./normal-form.ts";

/** Returns every comparison of a condition, in the order in which the definition has them. */
export function comparisonsIn(condition: Condition): readonly Comparison[] {
  switch (condition.kind) {
    case "always":
    case "never":
      return [];
    case "comparison":
      return [condition];
    case "not":
      return comparisonsIn(condition.of);
    case "all":
    case "any":
      return condition.of.flatMap(comparisonsIn);
  }
}

/** Returns the names of the payment's fields that a comparison reads: its own, and the one that is its operand. */
export function comparedFields({ field, operand }: Comparison): readonly string[] {
  return operand.kind === "field" ? [field, operand.field] : [field];
}

/** Returns the names of the payment's fields that conditions of rules read. Of rules that cannot be read, the known conditions count. */
export function fieldsIn(readings: readonly RuleReading[]): Set<string> {
  return new Set(
    readings.flatMap((reading) => {
      const { when } = reading.kind === "rule" ? reading.rule : reading.known;
      return when === undefined ? [] : comparisonsIn(when).flatMap(comparedFields);
    }),
  );
}
