import type { Contract } from "../../sdk/contract/index.ts";
import { isEqual, isJsonArray, isJsonObject, type Json, type JsonObject } from "../../sdk/json/index.ts";
import type { Properties } from "../host/wire.ts";
import { fieldsAdded, type KnownRule, reasonToReplace } from "../reconcile/index.ts";
import { inFormOf } from "./definitions.ts";
import type { ResourceShape } from "./shape.ts";
import { keyOfLeft, outputsOf } from "./state.ts";

/** A set as it is declared, and as it was declared before. */
interface SetChange {
  readonly shape: ResourceShape;
  readonly contract: Contract;
  readonly inputs: Properties;
  readonly rules: ReadonlyMap<string, Json>;
  readonly before: ReadonlyMap<string, Json>;
}

/** Returns the most bytes of protocol buffers that a set's state can take after a run in which anything may have failed. */
export function mostStateBytesOf(change: SetChange): number {
  return bytesOf(outputsOf(change.shape, worstRules(change), change.inputs));
}

/**
 * Returns the rules of the largest state: each as it was or as it is to be, whichever is larger; both, where a change
 * replaces it and the old one may not go.
 */
function worstRules({ shape, contract, inputs, rules, before }: SetChange): Map<string, KnownRule> {
  const worst = new Map<string, KnownRule>();
  const add = (key: string, definition: Json | undefined, doubt: JsonObject = {}): void => {
    if (isJsonObject(definition))
      worst.set(key, { ruleId: longId, definition, mark: "", isTaken: true, isSealed: true, doubt });
  };
  const given = shape.entries(inputs[shape.field] ?? {});
  for (const key of new Set([...rules.keys(), ...before.keys()])) {
    const [old, next] = [before.get(key), rules.get(key)];
    const size = (rule: Json = null): number => bytesOf(isJsonObject(rule) ? inFormOf(given.get(key), rule, []) : rule);
    const isLarger = size(old) > size(next);
    const isChange = isJsonObject(old) && isJsonObject(next);
    add(key, isLarger ? old : next, isChange ? fieldsAdded(old, next) : {});
    if (!isChange || isEqual(old, next, contract.rule)) continue;
    if (reasonToReplace(old, next, contract) !== undefined) add(keyOfLeft(key), isLarger ? next : old);
  }
  return worst;
}

const longId = "0".repeat(64);

/** Returns the most bytes that a definition takes, as an object or as its JSON. */
export function mostBytesOf(definition: Json): number {
  return Math.max(bytesOf(definition), bytesOf(JSON.stringify(definition)));
}

/** Returns the most bytes of protocol buffers that a value takes. */
function bytesOf(value: Json): number {
  if (typeof value === "string") return Buffer.byteLength(value) + 4;
  if (isJsonArray(value)) return value.reduce<number>((sum, child) => sum + bytesOf(child) + 4, 4);
  if (!isJsonObject(value)) return 9;
  return Object.entries(value).reduce((sum, [key, child]) => sum + Buffer.byteLength(key) + bytesOf(child) + 11, 4);
}
