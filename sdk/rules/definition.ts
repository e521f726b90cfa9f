import { isJsonObject, type Json } from "./json.ts";

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
