import type { Comparison, Operand } from "../language/normal-form.ts";
import { isCommonText, matchesPattern } from "../language/pattern.ts";
import type { Semantics } from "../language/schema.ts";
import { type Alike, cased, casesOf, compareValues, isInNetwork, type Value } from "../language/values.ts";

/** A comparison for which it is decided whether A to Z and a to z are alike. */
type Cased = Comparison & Alike;

/**
 * Decides whether a comparison, without its negation, is true of the payment's values: one value, or those of a field that is a list.
 * @returns where that is unknown, the rest of a sentence that says why
 */
export function compare(
  comparison: Comparison,
  own: readonly Value[],
  operand: Operand,
  semantics: Semantics,
): boolean | string {
  const [first = false, ...others] = casesOf(comparison.ignoresCase).map((alike) =>
    compareAlike({ ...comparison, ...alike }, own, operand, semantics),
  );
  return others.every((other) => other === first) ? first : "it is not known whether the case of letters counts";
}

function compareAlike(
  comparison: Cased,
  own: readonly Value[],
  operand: Operand,
  semantics: Semantics,
): boolean | string {
  const { operator, field } = comparison;
  const isList = semantics.payment.fields[field]?.list ?? false;
  const equals = (one: Value, other: Value): boolean => compareValues(one, other, comparison) === 0;
  switch (operator) {
    case "eq":
    case "ne":
      return (operator === "eq") === isEqual(own, operand, equals);
    case "in":
    case "notIn": {
      const values = operand.kind === "values" ? operand.values : [];
      return (operator === "in") === own.some((one) => values.some((other) => equals(one, other)));
    }
    case "inCidr":
      return (
        operand.kind === "networks" && own.some((one) => operand.networks.some((network) => isInNetwork(one, network)))
      );
    case "contains":
      if (isList && semantics.lists.contains === "element") return isEqual(own, operand, equals);
      break;
  }
  // All others are of one value; contains also of each text in a list.
  const answers = own.map((one) => compareOne(comparison, one, operand));
  return answers.find((answer) => answer === true) ?? answers.find((answer) => typeof answer === "string") ?? false;
}

/** Decides equality. With an operand of several values, each value of the list equals the one in its place; else one value equals the operand. */
function isEqual(own: readonly Value[], operand: Operand, equals: (one: Value, other: Value) => boolean): boolean {
  if (operand.kind === "value") return own.some((one) => equals(one, operand.value));
  if (operand.kind !== "values" || operand.values.length !== own.length) return false;
  return operand.values.every((value, index) => {
    const one = own[index];
    return one !== undefined && equals(one, value);
  });
}

function compareOne(comparison: Cased, one: Value, operand: Operand): boolean | string {
  const { operator } = comparison;
  if (operand.kind === "pattern") return isMatch(comparison, one, operand);
  if (operand.kind === "range") {
    const { from, to, ends } = operand;
    const [below, above] = [compareValues(one, from, comparison), compareValues(one, to, comparison)];
    const isFrom = below > 0 || (below === 0 && (ends === "both" || ends === "lower"));
    return isFrom && (above < 0 || (above === 0 && (ends === "both" || ends === "upper")));
  }
  if (operand.kind !== "value") return false;
  const order = compareValues(one, operand.value, comparison);
  if (operator === "gt") return order > 0;
  if (operator === "gte") return order >= 0;
  if (operator === "lt") return order < 0;
  if (operator === "lte") return order <= 0;
  if (one.type !== "text" || operand.value.type !== "text") return false;
  const [text, part] = [cased(one.text, comparison), cased(operand.value.text, comparison)];
  if (operator === "startsWith") return text.startsWith(part);
  return operator === "endsWith" ? text.endsWith(part) : text.includes(part);
}

function isMatch(
  { ignoresCase }: Cased,
  one: Value,
  { source, isWhole, isCommon }: Operand & { kind: "pattern" },
): boolean | string {
  if (one.type !== "text") return false;
  if (isCommon && !isCommonText(one.text)) return "the text has characters on which dialects of patterns do not agree";
  return matchesPattern(source, one.text, { isWhole, ignoresCase });
}
