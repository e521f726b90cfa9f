import type { Json } from "../../sdk/json/json.ts";
import { type Decimal, decimalOf } from "../../sdk/json/normal-form.ts";
import { type Comparison, textsIn } from "../language/normal-form.ts";
import { addressOf, type Value } from "../language/values.ts";
import { sampleOfPattern } from "./pattern-sample.ts";

/** An opaque comparison that a value should make true, or false. */
export interface Wanted {
  readonly comparison: Comparison;
  readonly is: boolean;
}

/** Returns texts that may fulfil all comparisons: their beginnings, parts and ends put together, and texts that match patterns. */
export function textsFor(wanted: readonly Wanted[]): readonly string[] {
  const of = (...operators: readonly string[]): string[] =>
    wanted.flatMap(({ comparison: { operator, operand }, is }) =>
      is && operators.includes(operator) && operand.kind === "value" && operand.value.type === "text"
        ? [operand.value.text]
        : [],
    );
  const [starts, parts, ends] = [of("startsWith"), of("contains"), of("endsWith")];
  const longest = (some: readonly string[]): string =>
    [...some].sort((one, other) => other.length - one.length)[0] ?? "";
  const [start, end] = [longest(starts), longest(ends)];
  const matched = wanted.flatMap(({ comparison: { operand }, is }) =>
    is && operand.kind === "pattern" ? sampleOfPattern(operand.source) : [],
  );
  const ordered = wanted.flatMap(({ comparison: { operand } }) => textsIn(operand));
  const put = [`${start}${parts.join("")}${end}`, `${start}x${parts.join("x")}x${end}`];
  const all = [...put, ...matched.flatMap((text) => [text, `${start}${text}${end}`]), ...ordered];
  return [...new Set([...all, ...ordered.map((text) => `${text}x`), "x", ""])];
}

/** Returns arrays that may fulfil all comparisons, made of the values that should be in them. */
export function listsFor(wanted: readonly Wanted[]): readonly Json[] {
  const positive = wanted.filter(({ is }) => is).map(({ comparison: { operand } }) => operand);
  const single = positive.flatMap((operand) => (operand.kind === "value" ? [writtenValue(operand.value)] : []));
  const several = positive.flatMap((operand) => (operand.kind === "values" ? [operand.values.map(writtenValue)] : []));
  const firsts = several.flatMap((values) => values.slice(0, 1));
  return [[...single, ...firsts], ...several, [], ["x"]];
}

/** Returns a value as JSON that `readValue` reads as the same value. */
export function writtenValue(value: Value): Json {
  switch (value.type) {
    case "decimal":
      return writtenDecimal(value.decimal);
    case "text":
      return value.text;
    case "boolean":
      return value.is;
    case "instant":
      return `${value.at}Z`;
    case "ip":
      return addressOf(value.bits);
  }
}

/** Returns a number where that is exact, else a string. */
function writtenDecimal({ sign, digits, exponent }: Decimal): Json {
  const text = `${sign}${digits}e${exponent}`;
  const number = Number(text);
  const same = Number.isFinite(number) ? decimalOf(number) : undefined;
  if (same?.sign === sign && same.digits === digits && same.exponent === exponent) return number;
  if (exponent >= 0 || exponent < -200) return text;
  const whole = digits.padStart(1 - exponent, "0");
  return `${sign}${whole.slice(0, exponent)}.${whole.slice(exponent)}`;
}
