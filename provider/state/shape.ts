import type { dynamic } from "@pulumi/pulumi";
import { isJsonObject, type Json, type JsonObject, joinPath } from "../../sdk/json/index.ts";
import { onDriftChoices } from "../decide/plan.ts";
import { ruleType, setType } from "../host/types.ts";
import { isUnknown, type Properties } from "../host/wire.ts";

type Failure = dynamic.CheckFailure;

/**
 * The differences between the two resources: how inputs and state are a map of rules by key, and how messages and the
 * engine call a rule. All else is one lifecycle.
 */
export interface ResourceShape {
  /** True where the one rule is the resource: its id is the rule's, and only the engine can replace it. */
  readonly isRule: boolean;
  /** The input, and output, that holds the definitions. */
  readonly field: "definition" | "rules";
  /** The inputs that a program may give beside it. */
  readonly options: readonly string[];
  /** Returns the values in the field by key, whatever they are; `definitionsIn` reads their meaning. */
  entries(value: Json): Map<string, Json>;
  /** Returns the field's value, from the definitions by key. */
  write(definitions: ReadonlyMap<string, Json>): Json;
  /** Returns the ids by key, in the state of a resource that has the id `id` itself. */
  ids(id: string, state: JsonObject): Map<string, string>;
  /** Returns the ids as the state keeps them. */
  writeIds(ids: ReadonlyMap<string, string>): JsonObject;
  /** Returns the program's word on adopting the rule of a key. */
  adopt(adopt: Json | undefined, key: string): string | true | undefined;
  /** Returns that word as a program writes it: `adopt: { "a": "17" }`. */
  adopting(key: string, ruleId: string): string;
  /** Returns the name of a rule in messages, beside its id. */
  label(key: string): string | undefined;
  /** Returns the property path of a rule. */
  path(key: string): string;
  /** Returns the faults in the form of the inputs. */
  faults(inputs: Properties): Failure[];
}

/** A MerchantRule: the one rule has the empty key. */
export const ruleShape: ResourceShape = {
  isRule: true,
  field: "definition",
  options: ["connection", "adopt", "onDrift"],
  entries: (value) => new Map([["", value]]),
  write: (definitions) => definitions.get("") ?? {},
  // No update changes a resource's id in the state, so where updates give a rule another id, the outputs alone have it.
  ids: (id, { ruleId }) => new Map([["", typeof ruleId === "string" && ruleId !== "" ? ruleId : id]]),
  writeIds: (ids) => ({ ruleId: ids.get("") ?? "" }),
  adopt: (adopt) => (adopt === true || typeof adopt === "string" ? adopt : undefined),
  adopting: (_, ruleId) => `adopt: ${JSON.stringify(ruleId)}`,
  label: () => undefined,
  path: () => "definition",
  faults: ({ definition, adopt, onDrift }) => [
    ...(definition === undefined
      ? [{ property: "definition", reason: "is missing: the rule as the service stores it" }]
      : []),
    ...(adopt === undefined || typeof adopt === "boolean" || (typeof adopt === "string" && adopt !== "")
      ? []
      : [{ property: "adopt", reason: "must be a ruleId, or true for the rule with the same natural key" }]),
    ...choiceFaults("onDrift", onDrift, onDriftChoices),
  ],
};

/** A MerchantRuleSet: many rules by key. */
export const setShape: ResourceShape = {
  isRule: false,
  field: "rules",
  options: ["connection", "adopt", "onDrift", "onUnmanaged", "allowEmpty"],
  entries: (value) => new Map(isJsonObject(value) ? Object.entries(value) : []),
  write: (rules) => Object.fromEntries(rules),
  ids: (_, { ruleIds }) =>
    new Map(
      Object.entries(isJsonObject(ruleIds) ? ruleIds : {}).flatMap(([key, ruleId]) =>
        typeof ruleId === "string" ? [[key, ruleId]] : [],
      ),
    ),
  writeIds: (ids) => ({ ruleIds: Object.fromEntries(ids) }),
  adopt(adopt, key) {
    const named = isJsonObject(adopt) && Object.hasOwn(adopt, key) ? adopt[key] : adopt;
    return named === true || typeof named === "string" ? named : undefined;
  },
  adopting: (key, ruleId) => `adopt: { ${JSON.stringify(key)}: ${JSON.stringify(ruleId)} }`,
  label: (key) => key,
  path: (key) => joinPath("rules", key),
  faults: ({ rules, adopt, onDrift, onUnmanaged, allowEmpty }) => [
    ...keyFaults(rules),
    ...emptyFaults(rules, allowEmpty),
    ...adoptFaults(adopt, rules),
    ...choiceFaults("onDrift", onDrift, onDriftChoices),
    ...choiceFaults("onUnmanaged", onUnmanaged, onUnmanagedChoices),
  ],
};

/** Returns the shape of a resource's type; undefined of one that holds no rules. */
export function shapeOf(type: string): ResourceShape | undefined {
  if (type === ruleType) return ruleShape;
  return type === setType ? setShape : undefined;
}

function choiceFaults(property: string, value: Json | undefined, choices: readonly string[]): Failure[] {
  if (value === undefined || isUnknown(value) || choices.some((choice) => choice === value)) return [];
  return [{ property, reason: `must be one of ${choices.join(", ")}` }];
}

/** Refuses a set without rules: a folder that was moved or a filter that is wrong would delete every rule. */
function emptyFaults(rules: Json | undefined, allowEmpty: Json | undefined): Failure[] {
  if (allowEmpty !== undefined && typeof allowEmpty !== "boolean" && !isUnknown(allowEmpty))
    return [{ property: "allowEmpty", reason: "must be true or false" }];
  if (allowEmpty === true || isUnknown(allowEmpty) || !isJsonObject(rules) || Object.keys(rules).length > 0) return [];
  const reason =
    "is empty, which deletes every rule of the set. Check where the rules are read from; if there are to be none, set allowEmpty: true";
  return [{ property: "rules", reason }];
}

const onUnmanagedChoices = ["ignore", "warn", "fail"];

function keyFaults(rules: Json | undefined): Failure[] {
  if (isUnknown(rules)) return [];
  if (!isJsonObject(rules)) return [{ property: "rules", reason: "must be an object: definitions by key" }];
  const reason =
    "has a key that is not a usable name: 1 to 200 letters, digits and . _ : / @ - or blanks, a letter or digit first";
  return Object.keys(rules)
    .filter((key) => !usableKey.test(key))
    .map((key) => ({ property: joinPath("rules", key), reason }));
}

/** Keys stand in paths, messages and file names; those with __ in front the engine keeps to itself. */
export const usableKey = /^[\p{L}\p{N}][\p{L}\p{N}._:/@ -]{0,199}$/u;

function adoptFaults(adopt: Json | undefined, rules: Json | undefined): Failure[] {
  if (adopt === undefined || typeof adopt === "boolean" || isUnknown(adopt)) return [];
  if (!isJsonObject(adopt))
    return [{ property: "adopt", reason: "must be true, or ruleIds by key of the rules to take over" }];
  return Object.entries(adopt).flatMap(([key, ruleId]) => {
    const property = joinPath("adopt", key);
    if (isJsonObject(rules) && !Object.hasOwn(rules, key)) return [{ property, reason: "names no rule of the set" }];
    return typeof ruleId === "string" && ruleId !== "" ? [] : [{ property, reason: "must be a ruleId" }];
  });
}
