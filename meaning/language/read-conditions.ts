import {
  field as fieldOf,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  maxDepth,
} from "../../sdk/json/json.ts";
import { type Pointer, pointerOf, valueAt } from "../../sdk/json/pointer.ts";
import type { Comparison, Condition, Unreadable } from "./normal-form.ts";
import { OperandReader, type Operands } from "./read-operand.ts";
import type { Semantics } from "./schema.ts";
import { type ConditionShape, type Operator, plainOperator } from "./schema-conditions.ts";
import type { PaymentField } from "./schema-payment.ts";
import { faultsOf, isOneOf, type Read, shown, unexplained, unreadable } from "./unreadable.ts";

export class ConditionReader {
  readonly #semantics: Semantics;
  readonly #operands: OperandReader;

  constructor(semantics: Semantics, valueLists: ReadonlyMap<string, readonly Json[]>) {
    this.#semantics = semantics;
    this.#operands = new OperandReader(semantics, valueLists);
  }

  read(definition: JsonObject): Read<Condition> {
    const { at, list, without } = this.#semantics.applies;
    const written = valueAt(definition, at) ?? null;
    if (written === null || (isJsonArray(written) && written.length === 0))
      return without === null
        ? unreadable(at, "has no conditions, and applies.without is null")
        : { value: { kind: without, at } };
    if (!isJsonArray(written)) return this.#condition(written, at, 0);
    if (list === null) return unreadable(at, "is a list, and applies.list is null");
    return this.#several(written, list, at, 0);
  }

  #condition(written: Json, at: Pointer, level: number): Read<Condition> {
    if (level >= maxDepth) return unreadable(at, `is nested more than ${maxDepth} levels deep`);
    if (!isJsonObject(written)) return unreadable(at, `is ${shown(written)}, which is no condition`);
    const { all, any, not } = this.#semantics.applies.groups;
    const names = [...all, ...any, ...not];
    return names.some((name) => (fieldOf(written, name) ?? null) !== null)
      ? this.#group(written, names, at, level)
      : this.#comparison(written, at);
  }

  #group(written: JsonObject, names: readonly string[], at: Pointer, level: number): Read<Condition> {
    const { all, any } = this.#semantics.applies.groups;
    const faults: Unreadable[] = unexplained(
      written,
      names.map((name) => pointerOf([name])),
    ).map((fault) => ({
      ...fault,
      at: `${at}${fault.at}`,
    }));
    const parts: Condition[] = [];
    for (const name of names) {
      const inside = fieldOf(written, name) ?? null;
      if (inside === null) continue;
      const place = `${at}${pointerOf([name])}`;
      const kind = any.includes(name) ? "any" : "all";
      const read = isJsonArray(inside)
        ? this.#several(inside, kind, place, level + 1)
        : this.#condition(inside, place, level + 1);
      if ("faults" in read) faults.push(...read.faults);
      else if (all.includes(name) || any.includes(name)) parts.push(read.value);
      else parts.push({ kind: "not", at: place, of: read.value });
    }
    if (faults.length > 0) return { faults };
    const [only, ...others] = parts;
    return { value: only !== undefined && others.length === 0 ? only : { kind: "all", at, of: parts } };
  }

  #several(written: readonly Json[], kind: "all" | "any", at: Pointer, level: number): Read<Condition> {
    if (written.length === 0 && this.#semantics.applies.groups.empty === null)
      return unreadable(at, "is a group without conditions, and applies.groups.empty is null");
    const read = written.map((each, index) => this.#condition(each, `${at}/${index}`, level + 1));
    const faults = faultsOf(...read);
    if (faults.length > 0) return { faults };
    return { value: { kind, at, of: read.flatMap((each) => ("value" in each ? [each.value] : [])) } };
  }

  #comparison(written: JsonObject, at: Pointer): Read<Comparison> {
    const shape = this.#semantics.applies.conditions.find((each) => fits(each, written));
    if (shape === undefined) return unreadable(at, "is a condition of no shape that applies.conditions has");
    const named = this.#field(written, shape, at);
    const operator = this.#operator(written, shape, at);
    const turned = flagOf(written, shape, at);
    if (!("value" in named && "value" in operator && "value" in turned))
      return { faults: faultsOf(named, operator, turned) };
    const { operands, by, operandAt, property } = operator.value;
    const odd = unexplained(written, placesOf(shape, property)).map((fault) => ({ ...fault, at: `${at}${fault.at}` }));
    if (odd.length > 0) return { faults: odd };
    const { name, field } = named.value;
    const ignoresCase = field.type === "text" ? (by.ignoresCase ?? field.ignoresCase) : false;
    const operand = this.#operands.read(operands, { ...by, ignoresCase }, field, `${at}${operandAt}`);
    if ("faults" in operand) return operand;
    return {
      value: {
        kind: "comparison",
        at,
        field: name,
        operator: by.is,
        isNegated: by.not !== turned.value,
        ignoresCase,
        operand: operand.value,
        written: [operands.value, operands.valueList, operands.valueField].find((each) => each !== null),
      },
    };
  }

  #field(written: JsonObject, shape: ConditionShape, at: Pointer): Read<{ name: string; field: PaymentField }> {
    const { fields } = this.#semantics.payment;
    const given = valueAt(written, shape.field) ?? null;
    const place = `${at}${shape.field}`;
    if (typeof given !== "string")
      return unreadable(
        place,
        given === null ? "is not there, so the condition names no field" : `is ${shown(given)}, which is no field`,
      );
    const pointer = shape.fieldIs === "jsonPath" ? pointerOfJsonPath(given) : given;
    const name = shape.fieldIs === "name" ? given : Object.keys(fields).find((each) => fields[each]?.at === pointer);
    const field = name !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (name === undefined || field === undefined)
      return unreadable(place, `is ${shown(given)}, which payment.fields does not have`);
    return { value: { name, field } };
  }

  #operator(written: JsonObject, shape: ConditionShape, at: Pointer): Read<FoundOperator> {
    const { operator } = shape;
    const operands = operandsIn(written, shape);
    const given = (["value", "valueList", "valueField"] as const).filter((kind) => operands[kind] !== null);
    const operandAt = shape[given[0] ?? "value"] ?? "";
    if ("is" in operator)
      return { value: { by: plainOperator(operator.is), operands, operandAt, property: undefined } };
    if ("at" in operator) {
      const word = valueAt(written, operator.at) ?? null;
      const by = this.#wordOf(word, shape);
      if (by === undefined) return unreadable(`${at}${operator.at}`, unknownWord(word));
      return { value: { by, operands, operandAt, property: undefined } };
    }
    const holder = valueAt(written, operator.nameIn) ?? null;
    const place = `${at}${operator.nameIn}`;
    if (!isJsonObject(holder))
      return unreadable(place, `is ${shown(holder)}, which has no property that is an operator`);
    const others = placesOf(shape, undefined);
    const words = Object.keys(holder).filter((key) => !others.includes(`${operator.nameIn}${pointerOf([key])}`));
    const [word, ...more] = words;
    if (word === undefined || more.length > 0)
      return unreadable(
        place,
        words.length === 0
          ? "has no operator"
          : `has several properties that may be operators: ${words.map(shown).join(", ")}`,
      );
    const by = this.#wordOf(word, shape);
    const property = `${operator.nameIn}${pointerOf([word])}`;
    if (by === undefined) return unreadable(`${at}${property}`, unknownWord(word));
    return {
      value: { by, operands: { ...operands, value: fieldOf(holder, word) ?? null }, operandAt: property, property },
    };
  }

  #wordOf(word: Json, shape: ConditionShape): Operator | undefined {
    const operators = shape.operators ?? this.#semantics.applies.operators;
    return typeof word === "string" && Object.hasOwn(operators, word) ? operators[word] : undefined;
  }
}

interface FoundOperator {
  readonly by: Operator;
  readonly operands: Operands;
  /** The place of the operand in the condition, for messages. */
  readonly operandAt: Pointer;
  /** The place of the property whose name is the operator. */
  readonly property: Pointer | undefined;
}

function unknownWord(word: Json): string {
  return word === null
    ? "is not there, so the condition has no operator"
    : `is the operator ${shown(word)}, which applies.operators does not have`;
}

function fits({ when, field }: ConditionShape, written: JsonObject): boolean {
  if (when.length === 0) return (valueAt(written, field) ?? null) !== null;
  return when.every(({ at, is }) => isOneOf(valueAt(written, at) ?? null, is));
}

function operandsIn(written: JsonObject, { value, valueList, valueField }: ConditionShape): Operands {
  const at = (pointer: Pointer | null): Json => (pointer === null ? null : (valueAt(written, pointer) ?? null));
  return { value: at(value), valueList: at(valueList), valueField: at(valueField) };
}

/** Returns every pointer in a condition that its shape explains. */
function placesOf(shape: ConditionShape, property: Pointer | undefined): Pointer[] {
  const { field, operator, value, valueList, valueField, not, when, ignored } = shape;
  const places = [field, "at" in operator ? operator.at : null, value, valueList, valueField, not?.at, property];
  return [...places.filter((place) => place !== null && place !== undefined), ...when.map(({ at }) => at), ...ignored];
}

function flagOf(written: JsonObject, { not }: ConditionShape, at: Pointer): Read<boolean> {
  const flag = not === null ? null : (valueAt(written, not.at) ?? null);
  if (not === null || flag === null) return { value: false };
  if (isOneOf(flag, not.is)) return { value: true };
  return flag === false
    ? { value: false }
    : unreadable(`${at}${not.at}`, `is ${shown(flag)}, which is neither false nor one of the flag's values`);
}

/**
 * Returns the pointer that a plain JSONPath (RFC 9535) means: `$.card.country`, `$['card'].items[0]`; undefined of one with wildcards,
 * filters, slices or a descent, which can name several values.
 */
function pointerOfJsonPath(path: string): Pointer | undefined {
  if (!path.startsWith("$")) return undefined;
  const step = /\.([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)|\[(0|[1-9]\d{0,8})\]|\['([^'\\]*)'\]|\["([^"\\]*)"\]/y;
  const segments: (string | number)[] = [];
  step.lastIndex = 1;
  while (step.lastIndex < path.length) {
    const match = step.exec(path);
    if (match === null) return undefined;
    const [, name, index, quoted, doubleQuoted] = match;
    segments.push(name ?? quoted ?? doubleQuoted ?? Number(index));
  }
  return pointerOf(segments);
}
