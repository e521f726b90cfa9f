import type { Json } from "../../sdk/json/json.ts";
import { type Decimal, decimalOf } from "../../sdk/json/normal-form.ts";
import { addressOf, type Value } from "../language/values.ts";

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
