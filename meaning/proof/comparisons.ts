import { type Bound, type Comparison, type Rule, textsIn, valuesIn } from "../language/normal-form.ts";
import type { PaymentField } from "../language/schema-payment.ts";
import { isEquality } from "../language/schema-words.ts";
import { addressesOf, casesOf, type Value } from "../language/values.ts";
import { behindPrefix, spellings } from "./scale.ts";

/** Returns the bounds of a rule's force: none, one or two. */
export function boundsOf({ force: { from, until } }: Pick<Rule, "force">): readonly Bound[] {
  return [from, until].filter((bound) => bound !== undefined);
}

/** Returns whether a comparison takes A to Z and a to z for alike, or may. */
export function folds({ ignoresCase, operand }: Comparison): boolean {
  return ignoresCase !== false && operand.kind !== "none";
}

/**
 * Returns whether the region of the field's value does not decide a comparison. Such a comparison is a variable of its own; nothing is
 * known of it but that equal comparisons have equal results.
 * @param isFolded whether the field's texts are sorted by their small letters first
 */
export function isOpaque(
  { operand, operator, ignoresCase }: Comparison,
  field: PaymentField,
  isFolded: boolean,
): boolean {
  if (operand.kind === "none") return false;
  if (field.list || operand.kind === "field" || operand.kind === "pattern") return true;
  if (operator === "endsWith" || operator === "contains") return true;
  return field.type === "text" && !isEquality(operator) && ignoresCase !== isFolded;
}

/** Returns the values at which the result of a comparison may change. */
export function bordersOf({ operand, operator, ignoresCase }: Comparison): readonly Value[] {
  switch (operand.kind) {
    case "none":
    case "field":
    case "pattern":
      return [];
    case "networks":
      return operand.networks.flatMap(addressesOf);
    case "value":
    case "values":
    case "range": {
      const alikes = casesOf(ignoresCase);
      const behind = (operator === "startsWith" ? textsIn(operand) : []).flatMap((text) =>
        alikes.flatMap((alike) => behindPrefix(text, alike) ?? []),
      );
      const values = [...valuesIn(operand), ...behind.map((text): Value => ({ type: "text", text }))];
      return values.flatMap((value) => alikes.flatMap((alike) => spellings(value, alike)));
    }
  }
}
