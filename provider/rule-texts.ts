import { Output } from "@pulumi/pulumi/output.js";
import { canonical } from "../sdk/rules/compare.ts";
import { definitionOf } from "../sdk/rules/definition.ts";
import { isJson, type JsonObject } from "../sdk/rules/json.ts";
import { joinPath, walk } from "../sdk/rules/walk.ts";
import { declaredJson } from "./declared-json.ts";

/**
 * The rules of a set with plain definitions as their JSON texts, in canonical form: names sorted, no blanks. The engine then
 * sees one value a rule. A definition that holds outputs, promises or secrets stays an object, and a text stays as it is.
 *
 * @param rules definitions by key
 * @returns texts by key, and the objects among them that are not plain
 * @throws pulumi.RunError when a plain definition holds something that is not JSON, with its path.
 */
export function ruleTexts<Definition extends object | string = JsonObject>(
  rules: Readonly<Record<string, Definition>>,
): Record<string, Definition | string> {
  return Object.fromEntries(
    Object.entries(rules).map(([key, rule]) => [key, textOf(rule, joinPath("rules", key)) ?? rule]),
  );
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

/** Undefined for a text, and for a definition that is not plain. */
function textOf(rule: object | string, path: string): string | undefined {
  if (typeof rule === "string" || walk(rule, isPromised) === true) return undefined;
  const declared = declaredJson(rule, path);
  return isJson(declared) ? canonical(declared) : undefined;
}

function isPromised(value: unknown): true | undefined {
  return Output.isInstance(value) || value instanceof Promise || undefined;
}
