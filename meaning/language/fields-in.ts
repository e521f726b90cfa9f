import type { Condition, RuleReading } from "./normal-form.ts";

/** The names of the payment's fields that conditions of rules name. */
export function fieldsIn(readings: readonly RuleReading[]): Set<string> {
  const fields = new Set<string>();
  const walk = (condition: Condition): void => {
    if (condition.kind === "all" || condition.kind === "any") for (const each of condition.of) walk(each);
    if (condition.kind === "not") walk(condition.of);
    if (condition.kind !== "comparison") return;
    fields.add(condition.field);
    if (condition.operand.kind === "field") fields.add(condition.operand.field);
  };
  for (const reading of readings) {
    const { when } = reading.kind === "rule" ? reading.rule : reading.known;
    if (when !== undefined) walk(when);
  }
  return fields;
}
