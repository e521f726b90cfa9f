import type { Decimal } from "../../sdk/json/normal-form.ts";
import { printableJson } from "../../sdk/json/printable.ts";
import { addressOf, type Network, type Value } from "../language/values.ts";

/** Our own words at places where a text of a rule can stand. Such a text is quoted. */
const reserved = new Set(
  "a all always an and as by case does ends exact exactly exists from has ignoring in is list missing never none not nothing of one or over part starts that the to true false under when with".split(
    " ",
  ),
);

/** Returns a text of a rule: as it is where nothing can be misread, else as JSON. */
export function textWords(text: string): string {
  return /^[A-Za-z0-9_][A-Za-z0-9_-]*$/.test(text) && !reserved.has(text.toLowerCase()) ? text : printableJson(text);
}

/** Returns a value in words. With `isGrouped` large numbers get separators: amounts have them, codes such as 411111 do not. */
export function valueWords(value: Value, isGrouped = false): string {
  switch (value.type) {
    case "decimal":
      return decimalWords(value.decimal, isGrouped);
    case "text":
      return textWords(value.text);
    case "boolean":
      return String(value.is);
    case "instant":
      return instantWords(value.at);
    case "ip":
      return addressOf(value.bits);
  }
}

export function networkWords({ prefix, length }: Network): string {
  return `${addressOf(prefix.padEnd(length, "0"))}/${prefix.length}`;
}

/** More digits than these are written with an exponent. */
const mostDigits = 24;

/** Returns the exact decimal: nothing is rounded. */
function decimalWords({ sign, digits, exponent }: Decimal, isGrouped: boolean): string {
  const point = digits.length + exponent;
  if (Math.max(point, digits.length - point, digits.length) > mostDigits) {
    const rest = digits.length > 1 ? `.${digits.slice(1)}` : "";
    return `${sign}${digits.slice(0, 1)}${rest}e${point - 1}`;
  }
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, "0") : "0";
  const fraction =
    point >= digits.length ? "" : `.${"0".repeat(Math.max(0, -point))}${digits.slice(Math.max(0, point))}`;
  const grouped = isGrouped && whole.length > 4 ? whole.replace(/\B(?=(?:\d{3})+$)/g, ",") : whole;
  return `${sign}${grouped}${fraction}`;
}

/** Returns an instant as `2026-01-31 12:00 UTC`, with seconds where they are not zero. */
export function instantWords(at: string): string {
  const [day = "", time = ""] = at.split("T");
  return `${day} ${time.replace(/:00$/, "")} UTC`;
}
