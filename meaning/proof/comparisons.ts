import type { Bound, Comparison, Rule } from "../language/normal-form.ts";
import { valuesIn } from "../language/operand-values.ts";
import type { PaymentField } from "../language/schema-payment.ts";
import { isEquality } from "../language/schema-words.ts";
import { addressesOf, casesOf, type Value } from "../language/values.ts";
import { behindPrefix, spellings } from "./scale.ts";

/** The bounds of a rule's force. */
export function boundsOf({ force: { from, until } }: Pick<Rule, "force">): readonly Bound[] {
  return [from, until].filter((bound) => bound !== undefined);
}

/** True where some spelling of the texts of a field may be like another one. */
export function folds({ ignoresCase, operand }: Comparison): boolean {
  return ignoresCase !== false && operand.kind !== "none";
}

/**
 * True where what a comparison says cannot be told from the region that the field's value is in. It then is a variable of its own, of
 * which only that it is the same for the same comparison is known.
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

/** The values at which what a comparison says may change. */
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
      const values = valuesIn(operand);
      const spelled = values.flatMap((value) => casesOf(ignoresCase).flatMap((alike) => spellings(value, alike)));
      if (operator !== "startsWith") return spelled;
      const behind = values.flatMap((value) =>
        casesOf(ignoresCase).flatMap((alike) => (value.type === "text" ? (behindPrefix(value.text, alike) ?? []) : [])),
      );
      return [
        ...spelled,
        ...behind.flatMap((text) => casesOf(ignoresCase).flatMap((alike) => spellings({ type: "text", text }, alike))),
      ];
    }
  }
}
