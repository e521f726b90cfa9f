import { Output } from "@pulumi/pulumi/output.js";
import { asWritten, canonical } from "../../sdk/json/canonical.ts";
import { isJson, type JsonObject } from "../../sdk/json/json.ts";
import { joinPath, walk } from "../../sdk/json/walk.ts";
import { declaredJson } from "./declared-json.ts";

/**
 * Turns the plain definitions of a set into their JSON texts, in canonical form: names sorted, no blanks. The engine then
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

/** Returns a plain definition's JSON; undefined for a string, and for a definition that is not plain. */
function textOf(rule: object | string, path: string): string | undefined {
  if (typeof rule === "string" || walk(rule, isPromised) === true) return undefined;
  const declared = declaredJson(rule, path);
  return isJson(declared) ? canonical(declared, asWritten) : undefined;
}

function isPromised(value: unknown): true | undefined {
  return Output.isInstance(value) || value instanceof Promise || undefined;
}
