import { MerchantRulesError } from "../../sdk/errors.ts";
import {
  findNotJson,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  joinPath,
  jsonObject,
  maxDepth,
} from "../../sdk/rules/index.ts";
import type { DeclaredRule, KnownRule } from "../reconcile/index.ts";
import { defaultConnection } from "../settings.ts";
import { migrate } from "./state-versions.ts";

/** What the engine sends in a preview for a value that is not known yet. */
export const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** The field in which the engine keeps the code of a dynamic provider; see `providerSource`. */
export const providerField = "__provider";

/** What a hook is given and gives: the engine's properties, which are JSON. */
export type Properties = JsonObject;

/** The inputs of a MerchantRule, as its `check` passed them. */
export interface RuleInputs extends DeclaredRule {
  readonly connection: string;
}

export function readRuleInputs(news: Properties): RuleInputs {
  const { definition, adopt } = news;
  return {
    definition: isJsonObject(definition) ? definition : {},
    connection: connectionOf(news),
    ...(adopt === true || typeof adopt === "string" ? { adopt } : {}),
  };
}

/** The state of a MerchantRule, whichever version of this package wrote it. */
export function readRuleState(ruleId: string, olds: Properties): KnownRule & { readonly connection: string } {
  const state = migrate(olds);
  const { definition, takeover } = state;
  return {
    ruleId,
    definition: isJsonObject(definition) ? definition : {},
    connection: connectionOf(state),
    ...(typeof takeover === "string" ? { takeover } : {}),
  };
}

/** The outputs to keep for a rule: what was declared, its id, and where it is; nothing that changes by itself. */
export function writeRuleState(known: KnownRule, from: Properties): Properties {
  const { definition, ruleId, takeover } = known;
  return leaving({
    ...kept(from, ["connection", "adopt", providerField]),
    definition: leavingDefinition(definition),
    ruleId,
    ...(takeover === undefined ? {} : { takeover }),
  });
}

/** The inputs that a rule would have been declared with to be as it is seen. */
export function writeRuleInputs(known: KnownRule, from: Properties): Properties {
  return leaving({
    ...kept(from, ["connection", "adopt", providerField]),
    definition: leavingDefinition(known.definition),
  });
}

/** A definition stands in the properties as `definition`, `rules[key]` or, sealed, as `rules[key].value`. */
const levelsAround = 3;

/**
 * Nothing but JSON leaves a hook: the provider host turns a Date into {}, NaN into null, and hangs on undefined.
 * @throws MerchantRulesError RULE_INVALID: naming the path.
 */
export function leaving(properties: Properties): Properties {
  const fault = findNotJson(properties, maxDepth + levelsAround);
  if (fault === undefined) return properties;
  throw new MerchantRulesError("RULE_INVALID", `${fault.path} holds ${fault.found}, which is not JSON`);
}

/** The field by which the engine tells secrets, files and references from plain values; in any object, at any depth. */
const signatureField = "4dabf18193072939515e22adb298388d";

/** A value that the engine keeps as a secret, in the form that secrets have in Pulumi's protocol. */
export function secret(value: Json): JsonObject {
  return { [signatureField]: "1b47061264138c4ac30d75fd1eb44270", value };
}

/**
 * A definition on its way out of a hook. The service may have put anything into it.
 * @throws MerchantRulesError RULE_INVALID: it holds what the engine would not take for data, with its path.
 */
export function leavingDefinition(definition: JsonObject): JsonObject {
  const path = signedAt(definition, "definition");
  if (path === undefined) return definition;
  throw new MerchantRulesError("RULE_INVALID", `${path} has a field that the engine would take for an instruction`, {
    advice: `remove the field ${signatureField} from the rule at the service`,
  });
}

function signedAt(value: Json, path: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Object.hasOwn(value, signatureField)) return path;
  for (const [key, child] of isJsonArray(value) ? value.entries() : Object.entries(value)) {
    const found = signedAt(child, joinPath(path, key));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The connection that inputs or a state name. */
export function connectionOf({ connection }: Properties): string {
  return typeof connection === "string" ? connection : defaultConnection;
}

export function isUnknown(value: Json | undefined): boolean {
  return value === unknownValue;
}

/** Some of the fields of an object. */
export function kept(from: Properties, keys: readonly string[]): Properties {
  return jsonObject(Object.entries(from).filter(([key]) => keys.includes(key)));
}
