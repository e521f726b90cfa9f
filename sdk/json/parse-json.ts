import { ExactNumber, isExactNumber } from "./exact-number.ts";
import type { Json } from "./json-types.ts";
import { mapJson } from "./map-json.ts";
import { valueText } from "./normal-form.ts";

/** Numbers of 16 digits or more, or with an exponent. A text without them is read ten times as fast. */
const maybeRounded = /(?:^|[[:,\s])-?(?:[\d.]{16}|[\d.]+[eE])/;

/** Reads JSON. Where a double would round a number, an {@link ExactNumber} stands. @throws SyntaxError */
export function parseJson(text: string): Json {
  if (!maybeRounded.test(text)) return JSON.parse(text);
  return withSources.parse(text, (_name, value, { source }) =>
    typeof value === "number" && source !== undefined && !isHeld(value, source) ? new ExactNumber(source) : value,
  );
}

/** The reviver's third argument (Node 21 and newer), which the types of TypeScript lack. */
const withSources = JSON as {
  parse(text: string, reviver: (name: string, value: unknown, context: { source?: string }) => unknown): Json;
};

/** Decides whether a double is the number in a text, and no other integer is read as the same double. */
function isHeld(value: number, source: string): boolean {
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return false;
  return valueText(value, ["decimal"]) === valueText(source, ["decimal"]);
}

/** Decides whether a text of JSON names a field twice in one object, of which its value has the last. */
export function hasFieldTwice(text: string, value: Json): boolean {
  let named = 0;
  for (const [, colon] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"\s*(:?)/gs)) if (colon !== "") named += 1;
  return named > fieldsIn(value);
}

function fieldsIn(value: Json): number {
  if (typeof value !== "object" || value === null || isExactNumber(value)) return 0;
  const children = Object.values<Json>(value);
  return children.reduce<number>((sum, child) => sum + fieldsIn(child), Array.isArray(value) ? 0 : children.length);
}

/** Returns JSON with the nearest double for each {@link ExactNumber}, for readers that calculate; what is too large for a double becomes a string. */
export function rounded(value: Json): Json {
  return mapJson(value, (each) => {
    if (!isExactNumber(each)) return undefined;
    return Number.isFinite(Number(each)) ? Number(each) : each.source;
  });
}
