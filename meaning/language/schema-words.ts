/** The closed vocabularies of a semantics file. */

/** Every comparison that a condition can make. */
export const operatorNames = [
  "eq",
  "ne",
  "in",
  "notIn",
  "gt",
  "gte",
  "lt",
  "lte",
  "between",
  "startsWith",
  "endsWith",
  "contains",
  "matches",
  "exists",
  "absent",
  "inCidr",
] as const;
export type OperatorName = (typeof operatorNames)[number];

/** Every type that a payment's field can have. */
export const valueTypes = ["decimal", "text", "boolean", "instant", "ip"] as const;
export type ValueType = (typeof valueTypes)[number];

/** The outcomes that every service's words can mean. A file can name others. */
export const outcomeNames = ["accept", "decline", "review"] as const;

const equalities: readonly OperatorName[] = ["eq", "ne", "in", "notIn"];
const ordered: readonly OperatorName[] = [...equalities, "gt", "gte", "lt", "lte", "between"];
const everywhere: readonly OperatorName[] = ["exists", "absent"];

/** The comparisons that have a meaning for values of a type. */
export const operatorsOf: Readonly<Record<ValueType, readonly OperatorName[]>> = {
  decimal: [...ordered, ...everywhere],
  text: [...ordered, "startsWith", "endsWith", "contains", "matches", ...everywhere],
  boolean: [...equalities, ...everywhere],
  instant: [...ordered, ...everywhere],
  ip: [...equalities, "inCidr", ...everywhere],
};

/** Returns whether a comparison asks for equal values alone: eq, ne, in, notIn. */
export function isEquality(operator: OperatorName): boolean {
  return equalities.includes(operator);
}
