import { getOrMake } from "../../sdk/get-or-make.ts";
import { printableJson } from "../../sdk/json/printable.ts";
import type { Comparison, Condition, Operand } from "../language/normal-form.ts";
import type { Semantics } from "../language/schema.ts";
import type { PaymentField } from "../language/schema-payment.ts";
import type { OperatorName, ValueType } from "../language/schema-words.ts";
import { networkOf } from "../language/values.ts";
import { networkWords, textWords, valueWords } from "./value-words.ts";

/**
 * Returns a condition in words that say the same and can be read in one way only: `amount > 10,000 and card country is not DE, AT`.
 * Groups of several stand in brackets where they are inside another one.
 */
export function conditionWords(condition: Condition, semantics: Semantics): string {
  switch (condition.kind) {
    case "comparison":
      return comparisonWords(condition, semantics);
    case "always":
    case "never":
      return condition.kind;
    case "not":
      return `not (${conditionWords(condition.of, semantics)})`;
    case "all":
    case "any": {
      const parts = partsOf(condition);
      const [only] = parts;
      if (only === undefined) return condition.kind === "all" ? "always" : "never";
      if (parts.length === 1) return conditionWords(only, semantics);
      return parts.map((each) => partWords(each, semantics)).join(condition.kind === "all" ? " and " : " or ");
    }
  }
}

/** Returns the members of a group, with those of groups of the same kind inside it; a group of one member counts as that member. */
function partsOf(group: Condition & { readonly kind: "all" | "any" }): readonly Condition[] {
  return group.of.flatMap((each): readonly Condition[] => {
    const inside = unwrapped(each);
    return inside.kind === group.kind ? partsOf({ ...group, of: inside.of }) : [inside];
  });
}

function unwrapped(condition: Condition): Condition {
  if (condition.kind !== "all" && condition.kind !== "any") return condition;
  const [only, ...others] = partsOf(condition);
  return only !== undefined && others.length === 0 ? only : condition;
}

function partWords(condition: Condition, semantics: Semantics): string {
  const words = conditionWords(condition, semantics);
  const isGroup = (condition.kind === "all" || condition.kind === "any") && condition.of.length > 0;
  return isGroup ? `(${words})` : words;
}

/** Returns one comparison in words: `card country is not DE, AT`. */
export function comparisonWords(comparison: Comparison, semantics: Semantics): string {
  const field = semantics.payment.fields[comparison.field];
  const name = fieldWordsOf(semantics).get(comparison.field) ?? printableJson(comparison.field);
  const said =
    field?.list === true ? ofList(comparison, semantics) : ofOne(comparison, field?.type ?? "text", semantics);
  return `${name} ${said}${caseWords(comparison, field)}`;
}

/** Returns words for how letters are compared, where the field itself says otherwise; else an empty string. */
function caseWords({ operand, ignoresCase }: Comparison, field: PaymentField | undefined): string {
  if (field?.type !== "text" || operand.kind === "none" || ignoresCase === field.ignoresCase) return "";
  return ignoresCase === true ? " ignoring case" : " with exact case";
}

const opposites: Partial<Record<OperatorName, OperatorName>> = { gt: "lte", lte: "gt", gte: "lt", lt: "gte" };
const signs: Partial<Record<OperatorName, string>> = { gt: ">", gte: ">=", lt: "<", lte: "<=" };
const times: Partial<Record<OperatorName, string>> = {
  gt: "is after",
  gte: "is not before",
  lt: "is before",
  lte: "is not after",
};
const texts: Partial<Record<OperatorName, readonly [is: string, isNot: string]>> = {
  startsWith: ["starts with", "does not start with"],
  endsWith: ["ends with", "does not end with"],
  contains: ["contains", "does not contain"],
  matches: ["matches", "does not match"],
};

/** Returns the words behind a field that is no list: `is not DE, AT`. */
function ofOne(comparison: Comparison, type: ValueType, semantics: Semantics): string {
  const { operator, operand } = comparison;
  const isNot = isOpposite(comparison);
  const is = isNot ? "is not" : "is";
  const list = listNameOf(comparison);
  if (list !== undefined) return `${is} in the list ${printableJson(list)}`;
  switch (operand.kind) {
    case "none":
      return isNot ? "is missing" : "exists";
    case "values": {
      const all = operand.values.map((value) => valueWords(value));
      if (all.length === 0) return `${is} one of nothing`;
      return isNot || all.length === 1 ? `${is} ${all.join(", ")}` : `is one of ${all.join(", ")}`;
    }
    case "networks":
      return `${is} in ${operand.networks.map(networkWords).join(", ") || "nothing"}`;
    case "range": {
      const { from, to, ends } = operand;
      const [above, below] = [ends === "upper" || ends === "none", ends === "lower" || ends === "none"];
      return `${is} from ${above ? "over " : ""}${valueWords(from, true)} to ${below ? "under " : ""}${valueWords(to, true)}`;
    }
    case "pattern":
      return `${phrase("matches", isNot)} ${printableJson(operand.source)} ${operand.isWhole ? "as a whole" : "in a part"}`;
    case "value":
    case "field": {
      const turned = (isNot ? opposites[operator] : undefined) ?? operator;
      const order = (type === "instant" ? times : signs)[turned];
      const other = otherWords(operand, semantics, order !== undefined);
      if (order !== undefined) return `${order} ${other}`;
      return operator === "eq" || operator === "ne" ? `${is} ${other}` : `${phrase(operator, isNot)} ${other}`;
    }
  }
}

/** Returns the words behind a field that is a list: `has one of DE, AT`. */
function ofList(comparison: Comparison, semantics: Semantics): string {
  const { operator, operand } = comparison;
  const isNot = isOpposite(comparison);
  const list = listNameOf(comparison);
  if (operand.kind === "none") return isNot ? "is missing" : "exists";
  const all = operand.kind === "values" ? operand.values.map((value) => valueWords(value)).join(", ") : undefined;
  if (all !== undefined && semantics.lists.eq === "wholeList")
    return `${isNot ? "is not" : "is"} exactly ${all || "nothing"}`;
  if (list !== undefined) return `has ${isNot ? "none" : "one"} of the list ${printableJson(list)}`;
  if (operand.kind === "values" && operand.values.length !== 1)
    return `has ${isNot ? "none" : "one"} of ${all || "nothing"}`;
  const other = all ?? otherWords(operand, semantics, false);
  if (operator === "contains" && semantics.lists.contains === "textOfElement")
    return `has ${isNot ? "no text" : "a text"} that contains ${other}`;
  return `${isNot ? "does not have" : "has"} ${other}`;
}

function otherWords(operand: Operand, semantics: Semantics, isGrouped: boolean): string {
  if (operand.kind === "value") return valueWords(operand.value, isGrouped);
  if (operand.kind !== "field") throw new TypeError(`${operand.kind} is no single operand`);
  return `the payment's ${fieldWordsOf(semantics).get(operand.field) ?? textWords(operand.field)}`;
}

function phrase(operator: OperatorName, isNot: boolean): string {
  const [is, not] = texts[operator] ?? [operator, `not ${operator}`];
  return isNot ? not : is;
}

/** Returns whether a comparison is a negative one: either its operator (ne, notIn, absent) or its negation says "not", but not both. */
function isOpposite({ operator, isNegated }: Comparison): boolean {
  return isNegated !== (operator === "ne" || operator === "notIn" || operator === "absent");
}

/** Returns the name of the value list that the rule names; undefined where the rule has the values itself. */
function listNameOf({ operand, written }: Comparison): string | undefined {
  if (typeof written !== "string") return undefined;
  if (operand.kind === "values") return written;
  return operand.kind === "networks" && networkOf(written) === undefined ? written : undefined;
}

/** The first words of phrases before or behind a field, and the words that join conditions. A name with one of them is quoted. */
const reserved = /^(?:and|contains|does|ends|exists|has|ignoring|is|matches|not|or|starts|with)$/;

const known = new WeakMap<Semantics, ReadonlyMap<string, string>>();

/** Returns words for each field's name: `card country` for `card_country`; the quoted name itself where words could be misread. */
export function fieldWordsOf(semantics: Semantics): ReadonlyMap<string, string> {
  return getOrMake(known, semantics, () => {
    const names = Object.keys(semantics.payment.fields);
    const byWords = Map.groupBy(names, plain);
    return new Map(
      names.map((name) => {
        const own = plain(name);
        return [name, own === undefined || byWords.get(own)?.length !== 1 ? printableJson(name) : own];
      }),
    );
  });
}

/** Splits a name into words: `amount in usd` for `amountInUSD`; undefined of a name that does not consist of plain words. */
function plain(name: string): string | undefined {
  const words = name
    .replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, " ")
    .toLowerCase()
    .split(/[ ._-]+/);
  return words.every((word) => /^[a-z0-9]+$/.test(word) && !reserved.test(word)) ? words.join(" ") : undefined;
}
