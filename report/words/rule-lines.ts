import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../sdk/json/index.ts";
import { printable, printableJson } from "../../sdk/json/printable.ts";
import type { Finding, Report } from "../model/report.ts";

/** The rule of a finding as it is shown: as it will be or is at the service, else as it was. */
export interface ShownRule {
  readonly rule: JsonObject;
  /** Which rule this is, in words: `the rule`, or of two sides `the whole rule, after up`. */
  readonly title: string;
  /** True where something happens to the rule, and no path of the finding says what is in it. */
  readonly isNews: boolean;
}

/** Returns the rule that a format shows with a finding; undefined where it is not known. */
export function shownRuleOf(
  { change, rule = {}, paths }: Finding,
  { sides }: Pick<Report, "sides">,
): ShownRule | undefined {
  const { before, after } = rule;
  const shown = after ?? before;
  if (shown === undefined) return undefined;
  const isBoth = before !== undefined && after !== undefined;
  const title = isBoth ? `the whole rule, ${printable(sides.after, 40)}` : "the rule";
  return { rule: shown, title, isNews: paths.length === 0 && change !== "rename" };
}

/** Returns a rule in short: a line for each field, long values cut, of long arrays the first elements. */
export function shortLines(rule: JsonObject, most: number): string[] {
  const lines = Object.entries(rule)
    .slice(0, mostFields)
    .map(([name, value]) => `${printable(name, most)}: ${folded(value, most)}`);
  const left = Object.keys(rule).length - lines.length;
  return left > 0 ? [...lines, `and ${left} more fields`] : lines;
}

const mostFields = 20;

function folded(value: Json, most: number): string {
  const whole = printableJson(value);
  if (whole.length <= most || !(isJsonArray(value) || isJsonObject(value))) return printable(whole, most);
  const parts = isJsonArray(value)
    ? value.map((each) => printableJson(each))
    : Object.entries(value).map(([name, each]) => `${printableJson(name)}:${printableJson(each)}`);
  const shown: string[] = [];
  for (let room = most; shown.length < parts.length && room > 0; ) {
    const next = parts[shown.length] ?? "";
    room -= next.length + 1;
    if (room > 0 || shown.length === 0) shown.push(printable(next, most));
  }
  const left = parts.length - shown.length;
  const text = [...shown, ...(left > 0 ? [`and ${left} more`] : [])].join(", ");
  return isJsonArray(value) ? `[${text}]` : `{${text}}`;
}

/** Returns the lines of a rule as a whole: indented JSON. */
export function wholeLines(rule: JsonObject): string[] {
  return printableJson(rule, 2).split("\n");
}
