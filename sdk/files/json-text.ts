import { findNotJson, isJsonArray, isJsonObject, type Json, reasonOf, whyNotJson } from "../json/json.ts";
import { parseJson } from "../json/parse-json.ts";
import { pathOf } from "../json/walk.ts";
import { type TextFault, YamlDocument } from "./yaml-document.ts";

/**
 * Reads a text as JSON, in which no object may have a field twice: JSON.parse silently keeps the last of two.
 * @returns the value, or the first fault with its line and column
 */
export function readJsonText(text: string): { readonly value: Json } | { readonly fault: TextFault } {
  let value: Json;
  try {
    value = parseJson(text);
  } catch (error) {
    // No cause: its message may quote the text.
    return { fault: { what: `is not JSON: ${whyNotJson(error)}`, ...placeOfBadJson(text, error) } };
  }
  const odd = findNotJson(value);
  if (odd === undefined && namesIn(text) === fieldsIn(value)) return { value };
  // Only a text with a fault is read a second time, by a parser that keeps places.
  const document = new YamlDocument(text);
  if (odd !== undefined) {
    const what = `${pathOf(odd.path)} holds ${odd.found}`.trimStart();
    return { fault: { what, ...document.placeOfPath(odd.path) } };
  }
  return { fault: document.meaningFault() ?? { what: "declares a field a second time", line: 1, column: 1 } };
}

/** Counts the names of fields in a JSON text: strings with a colon behind them. */
function namesIn(text: string): number {
  let names = 0;
  let isInString = false;
  // Token by token: an expression for a whole string overflows on a long one.
  for (const [token, colon] of text.matchAll(/\\.|"(\s*:)?/g)) {
    if (token.startsWith("\\")) continue;
    isInString = !isInString;
    if (!isInString && colon !== undefined) names += 1;
  }
  return names;
}

function fieldsIn(value: Json): number {
  if (isJsonArray(value)) return value.reduce<number>((sum, each) => sum + fieldsIn(each), 0);
  if (!isJsonObject(value)) return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + 1 + fieldsIn(each), 0);
}

/**
 * Returns the place where a text stops being JSON, from 1. Where the message of JSON.parse does not have it, it is searched
 * for: a text that is cut before the fault fails at its end, if at all.
 */
export function placeOfBadJson(text: string, error: unknown): { readonly line: number; readonly column: number } {
  const [, position] = /at position (\d+)/.exec(reasonOf(error)) ?? [];
  const before = text.slice(0, position === undefined ? lengthThatBeginsWell(text) : Number(position)).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function lengthThatBeginsWell(text: string): number {
  const whole = text.trimEnd();
  let [low, high] = [0, whole.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (beginsWell(whole.slice(0, middle))) low = middle;
    else high = middle - 1;
  }
  return low;
}

function beginsWell(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const [, position = 0] = /at position (\d+)/.exec(reasonOf(error)) ?? [];
    return reasonOf(error).startsWith("Unexpected end") || Number(position) >= text.length;
  }
}
