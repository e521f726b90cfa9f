import type { Contract } from "../../sdk/contract/index.ts";
import { fieldsAdded } from "../../sdk/json/added-fields.ts";
import { isEqual, isJsonArray, isJsonObject, type Json, type JsonObject } from "../../sdk/json/index.ts";
import { type KnownRule, reasonToReplace } from "../decide/plan.ts";
import type { Properties } from "../host/wire.ts";
import { linkIn, type Site } from "../merchant/site.ts";
import { inFormOf } from "./definitions.ts";
import { linkField } from "./names.ts";
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
  const { site = longSite } = linkIn(inputs[linkField]) ?? {};
  const add = (key: string, definition: Json | undefined, doubt: JsonObject = {}): void => {
    if (!isJsonObject(definition)) return;
    // Of two rows that stand at one place, one would leave it out.
    const own = { ...site, key: worst.size.toString(16).padStart(16, "0"), identity: longSite.identity };
    const rest = { notOurs: true, isTaken: true, isSealed: true } as const;
    worst.set(key, { ruleId: longId, definition, mark: longMark, site: own, ...rest, doubt });
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
const longMark = `${"0".repeat(32)}.${"0".repeat(16)}.${"0".repeat(16)}`;
const longSite: Site = { connection: "0".repeat(50), address: "0".repeat(100), key: null, identity: "0".repeat(12) };

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
