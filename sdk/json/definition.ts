import { isJsonObject, type Json, type JsonObject } from "./json.ts";

/**
 * The definition of a rule, whichever form it is declared in: the object, or the object that its JSON text holds. What is
 * neither stays as it is, such as the text that stands for a value that is not known yet.
 */
export function definitionOf(rule: Json): Json {
  if (typeof rule !== "string" || !/^\s*\{/.test(rule)) return rule;
  try {
    const definition: Json = JSON.parse(rule);
    return isJsonObject(definition) ? definition : rule;
  } catch {
    return rule;
  }
}

/**
 * The definitions of rules as a resource shows them, such as in a policy pack of your own or in a mock: each an object or its
 * JSON text. What is neither, as a value that is not known yet, stays as it is.
 *
 * @typeParam Definition the program's own claim about its rules; nothing is checked against it
 * @param rules `rules` of a MerchantRuleSet, or `{ [name]: definition }` of MerchantRules
 */
export function definitionsOf<Definition = JsonObject>(
  rules: Readonly<Record<string, unknown>>,
): Record<string, Definition> {
  const definitions = Object.entries(rules).map(([key, rule]) => [
    key,
    typeof rule === "string" ? definitionOf(rule) : rule,
  ]);
  return Object.fromEntries(definitions);
}
