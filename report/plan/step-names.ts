import { unknownValue } from "../../provider/host/wire.ts";
import { naturalKeyText } from "../../sdk/contract/natural-key.ts";
import { canonicalAt, type Json, valueAt } from "../../sdk/json/index.ts";
import type { RuleStep } from "./rule-steps.ts";
import { isMasked } from "./secrets.ts";

/** Returns the rule's name for people: its natural key, else its key, else the resource. */
export function nameOf({ key, known, declared, of, kind }: RuleStep): string {
  const own = naturalKeyText(declared?.definition ?? known?.definition, of.contract);
  if (own !== undefined && own !== "" && !isHidden(own)) return own;
  if (key !== "") return key;
  return kind === "opaque" && known === undefined ? of.resource : of.resource.replace(/^\S+ /, "");
}

/** Says which resource declares a rule, and under which key. */
export function whereOf({ key, of }: RuleStep): string {
  return key === "" ? of.resource : `${of.resource}, key ${key},`;
}

/** Returns the natural key in a definition, by which rules are found at the step's connection; undefined where none can be. */
export function naturalKeyIn({ of }: Pick<RuleStep, "of">, definition: Json | undefined): string | undefined {
  const { operations, rule } = of.contract;
  if (rule.naturalKey === null || operations.list === null) return undefined;
  const identity = canonicalAt(definition, rule.naturalKey, rule);
  if (identity === undefined || isHidden(valueAt(definition, rule.naturalKey) ?? null)) return undefined;
  return JSON.stringify([of.connection, `key ${identity}`]);
}

export function isHidden(value: Json): boolean {
  return value === unknownValue || isMasked(value);
}

/** Decides whether a rule gets another key or goes to another resource. */
export function isRenamed({ formerKey, formerResource, key }: RuleStep): boolean {
  return formerResource !== undefined || (formerKey !== undefined && formerKey !== key);
}
