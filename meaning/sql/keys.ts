import type { Decimal } from "../../sdk/json/normal-form.ts";
import { type Alike, cased, type Value } from "../language/values.ts";

/**
 * Returns a value as a key: a string whose bytes have the order of the values, so that every comparison compares strings. `key-sql.ts`
 * makes the same keys of the payments' values.
 */
export function keyOf(value: Value, alike: Alike): string {
  switch (value.type) {
    case "decimal":
      return decimalKey(value.decimal);
    case "text":
      return cased(value.text, alike);
    case "boolean":
      return String(value.is);
    case "instant":
      return instantKey(value.at);
    case "ip":
      return addressKey(value.bits);
  }
}

/** The power of ten above the first digit lies between minus this and this, both excluded, in what is compared by SQL. */
export const mostSize = 499;

/**
 * Returns the sign, the power of ten above the first digit, and the digits; of a negative number the complement of each, and an end that
 * is above all digits. A number beyond {@link mostSize} is above or below all others.
 */
function decimalKey({ sign, digits, exponent }: Decimal): string {
  if (digits === "0") return "1";
  const size = Math.min(mostSize, Math.max(-mostSize, digits.length + exponent));
  if (sign === "") return `2${String(500 + size).padStart(3, "0")}${digits}`;
  return `0${String(500 - size).padStart(3, "0")}${digits.replace(/\d/g, (digit) => String(9 - Number(digit)))}:`;
}

/** Days from 0000-03-01, less 400 years, to 1970-01-01, by the calendar that `key-sql.ts` counts with. */
const daysTo1970 = 719_468 + 146_097;

/** Returns the minutes as ten digits, the seconds as two, and the fraction. */
export function instantKey(utc: string): string {
  const minutes = Date.parse(`${utc.slice(0, 16)}Z`) / 60_000 + daysTo1970 * 1440;
  return `${String(minutes).padStart(10, "0")}${utc.slice(17)}`;
}

/** The minutes of the first and the last instant that is compared: years have four digits. */
export const minutesBounds = ["0000-01-01T00:00", "9999-12-31T23:59"].map((utc) => Number(instantKey(`${utc}:`)));
export const microsTo1970 = BigInt(daysTo1970) * 86_400_000_000n;

function addressKey(bits: string): string {
  const parts = bits.length === 32 ? bits.match(/.{8}/g) : bits.match(/.{16}/g);
  const [base, digits] = bits.length === 32 ? [10, 3] : [16, 4];
  const written = (parts ?? []).map((part) => Number.parseInt(part, 2).toString(base).padStart(digits, "0"));
  return `${bits.length === 32 ? 4 : 6}${written.join("")}`;
}
