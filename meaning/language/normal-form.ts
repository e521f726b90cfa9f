import type { Json } from "../../sdk/json/json.ts";
import type { Pointer } from "../../sdk/json/pointer.ts";
import type { OperatorName } from "./schema-words.ts";
import type { Network, Value } from "./values.ts";

/** A rule as everything that speaks of its meaning reads it. Plain JSON. */
export interface Rule {
  readonly when: Condition;
  readonly force: Force;
  /** The name of its outcome. */
  readonly outcome: string;
  /** Its number in the order; undefined where the semantics have none. */
  readonly order: Value | undefined;
}

/** A rule that could be read; or what could not, and the parts that stand in spite of it. */
export type RuleReading =
  | { readonly kind: "rule"; readonly rule: Rule }
  | { readonly kind: "unknown"; readonly faults: readonly Unreadable[]; readonly known: Partial<Rule> };

/** A place of a definition that the semantics do not explain. */
export interface Unreadable {
  readonly at: Pointer;
  /** The rest of a sentence that begins with the place: `has the operator "near", which applies.operators does not have`. */
  readonly why: string;
}

/** When a rule applies: a tree. Every node has the place of the definition that says so. */
export type Condition =
  | { readonly kind: "always" | "never"; readonly at: Pointer }
  | { readonly kind: "all" | "any"; readonly at: Pointer; readonly of: readonly Condition[] }
  | { readonly kind: "not"; readonly at: Pointer; readonly of: Condition }
  | Comparison;

export interface Comparison {
  readonly kind: "comparison";
  readonly at: Pointer;
  /** The name of the field in the semantics' payment.fields. */
  readonly field: string;
  readonly operator: OperatorName;
  /** True where it means the opposite. */
  readonly isNegated: boolean;
  /** Whether A to Z and a to z are alike; null where the semantics do not say. */
  readonly ignoresCase: boolean | null;
  readonly operand: Operand;
  /** The operand as the definition has it; undefined of exists and absent. */
  readonly written: Json | undefined;
}

export type Operand =
  | { readonly kind: "none" }
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "values"; readonly values: readonly Value[] }
  | { readonly kind: "networks"; readonly networks: readonly Network[] }
  | { readonly kind: "range"; readonly from: Value; readonly to: Value; readonly ends: Ends }
  /** A pattern in the syntax of RE2. `isCommon`: it means the same to all dialects, but only on texts of common characters. */
  | { readonly kind: "pattern"; readonly source: string; readonly isWhole: boolean; readonly isCommon: boolean }
  | { readonly kind: "field"; readonly field: string };

export type Ends = "both" | "lower" | "upper" | "none";

export interface Force {
  readonly isEnabled: boolean;
  readonly from: Bound | undefined;
  readonly until: Bound | undefined;
}

export interface Bound {
  readonly instant: Value;
  /** True where the rule is in force at the instant itself. */
  readonly counts: boolean;
}

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
