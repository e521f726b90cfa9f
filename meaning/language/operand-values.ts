import type { Operand } from "./normal-form.ts";
import type { Value } from "./values.ts";

/** Returns the literal values of an operand; none of networks, patterns and other fields. */
export function valuesIn(operand: Operand): readonly Value[] {
  switch (operand.kind) {
    case "value":
      return [operand.value];
    case "values":
      return operand.values;
    case "range":
      return [operand.from, operand.to];
    default:
      return [];
  }
}

/** Returns the literal texts of an operand. */
export function textsIn(operand: Operand): string[] {
  return valuesIn(operand).flatMap((value) => (value.type === "text" ? [value.text] : []));
}
