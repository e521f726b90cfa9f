import { isJsonArray, type Json } from "../../sdk/json/json.ts";
import { type Pointer, valueAt } from "../../sdk/json/pointer.ts";
import type { Operand } from "./normal-form.ts";
import { isCommonPattern, patternFault } from "./pattern.ts";
import type { Semantics } from "./schema.ts";
import type { Operator } from "./schema-conditions.ts";
import type { PaymentField } from "./schema-payment.ts";
import { type OperatorName, operatorsOf, type ValueType } from "./schema-words.ts";
import { type Read, shown, unreadable } from "./unreadable.ts";
import { casesOf, compareValues, networkOf, readValue, readValues } from "./values.ts";

/** The operands that a condition may have; null where it has none. */
export interface Operands {
  readonly value: Json;
  /** The name of a value list. */
  readonly valueList: Json;
  /** The name of another field. */
  readonly valueField: Json;
}

/** Comparisons that can have another field of the payment as their operand. */
const ofFields: readonly OperatorName[] = ["eq", "ne", "gt", "gte", "lt", "lte", "startsWith", "endsWith", "contains"];

export class OperandReader {
  readonly #semantics: Semantics;
  readonly #valueLists: ReadonlyMap<string, readonly Json[]>;

  constructor(semantics: Semantics, valueLists: ReadonlyMap<string, readonly Json[]>) {
    this.#semantics = semantics;
    this.#valueLists = valueLists;
  }

  /**
   * Returns the operand of a comparison; or the faults, where it does not fit the operator and the field.
   * @param by with `ignoresCase` as it is for this field
   * @param at the place of the operand, for messages
   */
  read(operands: Operands, by: Operator, field: PaymentField, at: Pointer): Read<Operand> {
    const { value, valueList, valueField } = operands;
    if (!this.#isMeant(by.is, field))
      return unreadable(
        at,
        `is compared by ${by.is}, which has no meaning for ${field.list ? "a list of " : ""}${field.type}`,
      );
    const given = [value, valueList, valueField].filter((each) => each !== null);
    if (by.is === "exists" || by.is === "absent") {
      // Where the operator is the name of a property, it has a value: { "absent": true }.
      const isNone = valueList === null && valueField === null && (value === null || value === true);
      return isNone
        ? { value: { kind: "none" } }
        : unreadable(at, `is ${shown(given[0] ?? null)}, where ${by.is} has no operand`);
    }
    if (given.length !== 1)
      return unreadable(
        at,
        given.length === 0 ? "is not there, so the condition has no operand" : "is one of several operands",
      );
    if (valueField !== null) return this.#field(valueField, by, field, at);
    if (valueList !== null) return this.#list(valueList, by, field, at);
    return this.#literal(value, by, field, at);
  }

  #isMeant(operator: OperatorName, { type, list }: PaymentField): boolean {
    const { eq, contains } = this.#semantics.lists;
    if (!list || operator === "exists" || operator === "absent") return operatorsOf[type].includes(operator);
    if (operator === "contains") return contains === "element" || (contains === "textOfElement" && type === "text");
    if (operator === "eq" || operator === "ne") return eq !== null;
    return (operator === "in" || operator === "notIn") && eq === "anyElement";
  }

  #field(name: Json, by: Operator, field: PaymentField, at: Pointer): Read<Operand> {
    const { fields } = this.#semantics.payment;
    const other = typeof name === "string" && Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (typeof name !== "string" || other === undefined)
      return unreadable(at, `is ${shown(name)}, which payment.fields does not have`);
    if (!ofFields.includes(by.is) || other.list || other.type !== field.type || this.#isWhole(by, field))
      return unreadable(
        at,
        `is the field ${shown(name)}, with which ${by.is} cannot compare ${field.list ? "a list of " : ""}${field.type}`,
      );
    return { value: { kind: "field", field: name } };
  }

  #list(name: Json, by: Operator, field: PaymentField, at: Pointer): Read<Operand> {
    const values = typeof name === "string" ? this.#valueLists.get(name) : undefined;
    if (values === undefined) return unreadable(at, `is the value list ${shown(name)}, which is not known`);
    if (by.is === "in" || by.is === "notIn" || by.is === "inCidr") return this.#literal(values, by, field, at);
    return unreadable(at, `is a value list, which ${by.is} does not take`);
  }

  #isWhole({ is }: Operator, { list }: PaymentField): boolean {
    return list && (is === "eq" || is === "ne") && this.#semantics.lists.eq === "wholeList";
  }

  #literal(written: Json, by: Operator, field: PaymentField, at: Pointer): Read<Operand> {
    const { type } = field;
    if (by.is === "inCidr") {
      const networks = (isJsonArray(written) ? written : [written]).map(networkOf);
      if (networks.every((network) => network !== undefined)) return { value: { kind: "networks", networks } };
      return unreadable(at, `is ${shown(written)}, which is no network in CIDR notation, or a list of such`);
    }
    if (by.is === "in" || by.is === "notIn" || this.#isWhole(by, field)) {
      const values = readValues(written, type);
      return values === undefined
        ? unreadable(at, `is ${shown(written)}, which is no list of ${type}`)
        : { value: { kind: "values", values } };
    }
    if (by.is === "between") return range(written, by, field.type, at);
    if (by.is === "matches") return this.#pattern(written, by, at);
    const value = readValue(written, type);
    return value === undefined
      ? unreadable(at, `is ${shown(written)}, which is no ${type}`)
      : { value: { kind: "value", value } };
  }

  #pattern(written: Json, { ignoresCase }: Operator, at: Pointer): Read<Operand> {
    const { patterns } = this.#semantics;
    if (patterns === null) return unreadable(at, "is a pattern, and patterns is null");
    if (typeof written !== "string") return unreadable(at, `is ${shown(written)}, which is no pattern`);
    // RE2 has no case of ASCII alone either: to it, k is like the sign of Kelvin.
    const isCommon = patterns.dialect !== "re2" || ignoresCase !== false;
    if (isCommon && !isCommonPattern(written))
      return unreadable(at, `is the pattern ${shown(written)}, which not every dialect reads as RE2 does`);
    const fault = patternFault(written);
    if (fault !== undefined) return unreadable(at, `is the pattern ${shown(written)}, which cannot be read: ${fault}`);
    return { value: { kind: "pattern", source: written, isWhole: patterns.anchoring === "whole", isCommon } };
  }
}

function range(written: Json, { ends, from, to, ignoresCase }: Operator, type: ValueType, at: Pointer): Read<Operand> {
  const [low, high] = [valueAt(written, from), valueAt(written, to)].map((end) =>
    end === undefined ? end : readValue(end, type),
  );
  if (low === undefined || high === undefined || ends === null)
    return unreadable(at, `is ${shown(written)}, which does not have two ends of the type ${type}`);
  // Services do not agree whether such a range is empty or turned round.
  if (casesOf(ignoresCase).some((each) => compareValues(low, high, each) > 0))
    return unreadable(at, `is ${shown(written)}, whose lower end is above its upper end`);
  return { value: { kind: "range", from: low, to: high, ends } };
}
