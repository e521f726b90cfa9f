import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import { parseJson } from "./parse-json.ts";

/**
 * Returns the definition of a rule that is declared as an object or as its JSON text. Any other value is returned as it is,
 * such as the string that stands for a value that is not known yet. A number is the nearest double.
 */
export function definitionOf(rule: Json): Json {
  return definitionBy(rule, JSON.parse);
}

/** Returns the same with the numbers as the text has them; see {@link ExactNumber}. */
export function exactDefinitionOf(rule: Json): Json {
  return definitionBy(rule, parseJson);
}

function definitionBy(rule: Json, parse: (text: string) => Json): Json {
  if (typeof rule !== "string" || !/^\s*\{/.test(rule)) return rule;
  try {
    const definition = parse(rule);
    return isJsonObject(definition) ? definition : rule;
  } catch {
    return rule;
  }
}

/**
 * Returns the definitions of rules that a resource shows, each as an object or as its JSON text, such as in a policy pack of
 * your own or in a mock. Any other value is returned as it is, such as one that is not known yet.
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
