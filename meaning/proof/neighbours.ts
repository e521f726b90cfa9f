import { decimalOf } from "../../sdk/json/normal-form.ts";
import type { ValueType } from "../language/schema-words.ts";
import { readValue, type Value } from "../language/values.ts";

/**
 * Returns values that may lie between two others, the plainest first. The caller keeps those that do.
 * @param low undefined where there is no lower end
 * @param high undefined where there is no upper end
 */
export function neighbours(type: ValueType, low: Value | undefined, high: Value | undefined): readonly Value[] {
  switch (type) {
    case "decimal":
      return decimals(low, high);
    case "text":
      return texts(low, high);
    case "instant":
      return instants(low, high);
    case "ip":
      return addresses(low, high);
    case "boolean":
      return [];
  }
}

/** A decimal whose digits would be more than this is not calculated with. */
const mostDigits = 2000;

function decimals(low: Value | undefined, high: Value | undefined): Value[] {
  const ends = [low, high].flatMap((end) => (end?.type === "decimal" ? [end.decimal] : []));
  const exponent = Math.min(0, ...ends.map((end) => end.exponent)) - 1;
  if (ends.some((end) => end.digits.length + Math.abs(end.exponent) > mostDigits)) return [];
  const scaled = (end: Value | undefined): bigint | undefined =>
    end?.type === "decimal"
      ? BigInt(`${end.decimal.sign}${end.decimal.digits}`) * 10n ** BigInt(end.decimal.exponent - exponent)
      : undefined;
  const [from, to, one] = [scaled(low), scaled(high), 10n ** BigInt(-exponent)];
  const found: bigint[] = [];
  if (from !== undefined) found.push((from / one) * one + one, from + one);
  if (to !== undefined) found.push((to / one) * one - one, (to / one) * one, to - one);
  if (from !== undefined && to !== undefined) found.push((from + to) / 2n);
  return [0n, ...found].flatMap((number): Value[] => {
    const decimal = decimalOf(`${number}e${exponent}`);
    return decimal === undefined ? [] : [{ type: "decimal", decimal }];
  });
}

function texts(low: Value | undefined, high: Value | undefined): Value[] {
  const after = low?.type === "text" ? low.text : "";
  const before = high?.type === "text" ? high.text : "";
  const found = ["x", "other", "0", "~", ""];
  for (const end of ["0", "x", " ", "!", "\u0001", "\u0000"]) found.push(`${after}${end}`);
  // Below a text are its own beginnings; above it are texts whose last character is a higher one.
  for (let length = before.length - 1; length > 0; length -= 1) found.push(before.slice(0, length));
  const last = after.charCodeAt(after.length - 1);
  if (after !== "" && last < 0x7e) found.push(`${after.slice(0, -1)}${String.fromCharCode(last + 1)}`);
  found.push(...spellingsOf(after));
  return found.map((text) => ({ type: "text", text }));
}

/** Returns up to eight spellings of a text, each with one letter in the other case; the last letters first. */
function spellingsOf(text: string): string[] {
  const spelled: string[] = [];
  for (let at = text.length - 1; at >= 0 && spelled.length < 8; at -= 1) {
    const letter = text.charAt(at);
    if (!/[A-Za-z]/.test(letter)) continue;
    const turned = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
    spelled.push(`${text.slice(0, at)}${turned}${text.slice(at + 1)}`);
  }
  return spelled;
}

function instants(low: Value | undefined, high: Value | undefined): Value[] {
  const moved = (end: Value | undefined, byMs: number): string[] => {
    const time = end?.type === "instant" ? Date.parse(`${end.at.slice(0, 19)}Z`) : Number.NaN;
    if (Number.isNaN(time) || Math.abs(time + byMs) > 8.64e15) return [];
    return [new Date(time + byMs).toISOString()];
  };
  const day = 86_400_000;
  const written = [
    ...moved(low, day),
    ...moved(low, 1000),
    ...moved(high, -day),
    ...moved(high, -1000),
    ...moved(high, 0),
  ];
  if (low?.type === "instant") {
    const start = low.at.includes(".") ? low.at : `${low.at}.`;
    for (const end of ["5", "05", "005", "0000005", "0000000005"]) written.push(`${start}${end}Z`);
  }
  return written.flatMap((at) => readValue(at, "instant") ?? []);
}

function addresses(low: Value | undefined, high: Value | undefined): Value[] {
  if (low?.type !== "ip" || high?.type !== "ip" || low.bits.length !== high.bits.length) return [];
  const { length } = low.bits;
  const [from, to] = [BigInt(`0b${low.bits}`), BigInt(`0b${high.bits}`)];
  return [from + 1n, to - 1n, (from + to) / 2n].flatMap((number): Value[] => {
    const bits = number.toString(2).padStart(length, "0");
    // IPv4 addresses in the form of IPv6 ones are no values.
    return length === 128 && bits.startsWith(`${"0".repeat(80)}${"1".repeat(16)}`) ? [] : [{ type: "ip", bits }];
  });
}
