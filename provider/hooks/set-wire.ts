import { field, isJsonArray, isJsonObject, type Json, type JsonObject, jsonObject } from "../../sdk/rules/index.ts";
import type { DeclaredRule, KnownRule } from "../reconcile/index.ts";
import { migrate } from "./state-versions.ts";
import { connectionOf, kept, leaving, leavingDefinition, type Properties, providerField, secret } from "./wire.ts";

/** What to do about rules that are at the service and not in the set. */
export type OnUnmanaged = "ignore" | "warn" | "fail";

export interface RuleSetInputs {
  readonly rules: ReadonlyMap<string, DeclaredRule>;
  readonly connection: string;
  readonly onUnmanaged: OnUnmanaged;
}

/** The inputs of a MerchantRuleSet, as its `check` passed them. */
export function readRuleSetInputs(news: Properties): RuleSetInputs {
  const { adopt, onUnmanaged } = news;
  const rules = entriesOf(news.rules).map(([key, definition]): [string, DeclaredRule] => {
    const named = isJsonObject(adopt) ? field(adopt, key) : adopt;
    const declared = { definition: isJsonObject(definition) ? definition : {} };
    return [key, named === true || typeof named === "string" ? { ...declared, adopt: named } : declared];
  });
  return {
    rules: new Map(rules),
    connection: connectionOf(news),
    onUnmanaged: onUnmanaged === "warn" || onUnmanaged === "fail" ? onUnmanaged : "ignore",
  };
}

export interface RuleSetState {
  readonly rules: ReadonlyMap<string, KnownRule>;
  readonly connection: string;
}

/** The state of a MerchantRuleSet, whichever version of this package wrote it. */
export function readRuleSetState(olds: Properties): RuleSetState {
  const state = migrate(olds);
  const definitions = new Map(entriesOf(state.rules));
  const takeovers = new Map(entriesOf(state.takeovers));
  const sealed = isJsonArray(state.sealed) ? state.sealed : [];
  const rules = entriesOf(state.ruleIds).flatMap(([key, ruleId]): [string, KnownRule][] => {
    const definition = definitions.get(key);
    const takeover = takeovers.get(key);
    if (typeof ruleId !== "string") return [];
    return [
      [
        key,
        {
          ruleId,
          definition: isJsonObject(definition) ? definition : {},
          ...(typeof takeover === "string" ? { takeover } : {}),
          ...(sealed.includes(key) ? { isSealed: true } : {}),
        },
      ],
    ];
  });
  return { rules: new Map(rules), connection: connectionOf(state) };
}

/** The outputs to keep for a set: the rules as they were written or seen, and their ids. */
export function writeRuleSetState(rules: ReadonlyMap<string, KnownRule>, from: Properties): Properties {
  const takeovers = [...rules].flatMap(([key, { takeover }]): [string, Json][] =>
    takeover === undefined ? [] : [[key, takeover]],
  );
  const sealed = [...rules].flatMap(([key, { isSealed }]) => (isSealed === true ? [key] : []));
  return leaving({
    ...kept(from, [...kinds, providerField]),
    rules: definitionsOf(rules),
    ruleIds: jsonObject([...rules].map(([key, { ruleId }]) => [key, ruleId])),
    ...(takeovers.length === 0 ? {} : { takeovers: jsonObject(takeovers) }),
    ...(sealed.length === 0 ? {} : { sealed }),
  });
}

/** The inputs that a set would have been declared with to be as it is seen. */
export function writeRuleSetInputs(rules: ReadonlyMap<string, KnownRule>, from: Properties): Properties {
  return leaving({ ...kept(from, [...kinds, providerField]), rules: definitionsOf(rules) });
}

const kinds = ["connection", "adopt", "onUnmanaged"];

function definitionsOf(rules: ReadonlyMap<string, KnownRule>): JsonObject {
  return jsonObject(
    [...rules].map(([key, { definition, isSealed }]) => [
      key,
      isSealed ? secret(definition) : leavingDefinition(definition),
    ]),
  );
}

function entriesOf(value: Json | undefined): [string, Json][] {
  return isJsonObject(value) ? Object.entries(value) : [];
}
