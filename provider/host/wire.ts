import { MerchantRulesError } from "../../sdk/errors.ts";
import { findNotJson, isJsonObject, type Json, type JsonObject, maxDepth, pathOf, walk } from "../../sdk/json/index.ts";

/** The engine's properties, as hooks get and give them: JSON. */
export type Properties = JsonObject;

/** The engine's string for a value that a preview does not know yet. */
export const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export function isUnknown(value: Json | undefined): boolean {
  return value === unknownValue;
}

/** The field by which the engine tells secrets, files and references from plain values; in any object, at any depth. */
const signatureField = "4dabf18193072939515e22adb298388d";

const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

/** Makes a value a secret, in the form that secrets have in Pulumi's protocol. */
export function secret(value: Json): JsonObject {
  return { [signatureField]: secretSignature, value };
}

/** Returns the value in a secret that {@link secret} or the engine made; undefined for another value. */
export function withinSecret(value: Json): Json | undefined {
  const isSecret = isJsonObject(value) && value[signatureField] === secretSignature;
  return isSecret ? (value.value ?? null) : undefined;
}

/**
 * Checks a definition on its way out of a hook, and returns it. The service may have put anything into it.
 * @throws MerchantRulesError RULE_INVALID: it holds what the engine would not take for data, with its path
 */
export function leavingDefinition(definition: JsonObject): JsonObject {
  const place = walk(definition, (value, { path }) =>
    isJsonObject(value) && Object.hasOwn(value, signatureField) ? ["definition", ...path] : undefined,
  );
  if (place === undefined) return definition;
  const reason = `${pathOf(place)} has a field that the engine would take for an instruction`;
  const advice = `remove the field ${signatureField} from the rule at the service`;
  throw new MerchantRulesError("RULE_INVALID", reason, { advice });
}

/** A definition stands in the properties as `definition`, `rules[key]` or, sealed, as `rules[key].value`. */
const levelsAround = 3;

/**
 * Checks that properties on their way out of a hook are JSON, and returns them: the provider host turns a Date into {},
 * NaN into null, and hangs on undefined.
 * @throws MerchantRulesError RULE_INVALID, naming the path
 */
export function leaving(properties: Properties): Properties {
  const fault = findNotJson(properties, maxDepth + levelsAround);
  if (fault === undefined) return properties;
  throw new MerchantRulesError("RULE_INVALID", `${pathOf(fault.path)} holds ${fault.found}, which is not JSON`);
}

/** Returns those fields of an object that are named. */
export function picked(from: Properties, keys: readonly string[]): Properties {
  return Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key)));
}
