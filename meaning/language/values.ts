import { isIP } from "node:net";
import { isJsonArray, type Json } from "../../sdk/json/json.ts";
import { type Decimal, decimalOf, instantOf } from "../../sdk/json/normal-form.ts";
import type { ValueType } from "./schema-words.ts";

/** A value of a payment or a rule, read by its type. Plain JSON. */
export type Value =
  | { readonly type: "decimal"; readonly decimal: Decimal }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "boolean"; readonly is: boolean }
  /** UTC, without the Z, so that texts are in the order of time. */
  | { readonly type: "instant"; readonly at: string }
  /** The address, 32 or 128 binary digits. */
  | { readonly type: "ip"; readonly bits: string };

/** A network: the binary digits with which all its addresses begin, and how many digits an address of it has. */
export interface Network {
  readonly prefix: string;
  readonly length: number;
}

/** Returns JSON as a value of a type; undefined of JSON of another type. Nothing is converted. */
export function readValue(json: Json, type: ValueType): Value | undefined {
  switch (type) {
    case "decimal": {
      const decimal = decimalOf(json);
      return decimal && { type, decimal };
    }
    case "text":
      return typeof json === "string" ? { type, text: json } : undefined;
    case "boolean":
      return typeof json === "boolean" ? { type, is: json } : undefined;
    case "instant": {
      const utc = instantOf(json);
      // A time zone can lead out of the years from 0000 to 9999, where texts are no longer in the order of time.
      return utc !== undefined && /^\d{4}-/.test(utc) ? { type, at: utc.slice(0, -1) } : undefined;
    }
    case "ip": {
      const bits = typeof json === "string" ? bitsOf(json) : undefined;
      return bits === undefined ? undefined : { type, bits };
    }
  }
}

/** Returns the values of an array; undefined where `json` is none, or one of its elements has another type. */
export function readValues(json: Json, type: ValueType): readonly Value[] | undefined {
  if (!isJsonArray(json)) return undefined;
  const values = json.map((each) => readValue(each, type));
  return values.every((value) => value !== undefined) ? values : undefined;
}

/** Returns a network in CIDR notation; undefined of anything else, such as one with bits set behind its prefix. */
export function networkOf(json: Json): Network | undefined {
  const [, address = "", size = ""] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(typeof json === "string" ? json : "") ?? [];
  const bits = bitsOf(address);
  if (bits === undefined || Number(size) > bits.length || bits.slice(Number(size)).includes("1")) return undefined;
  return { prefix: bits.slice(0, Number(size)), length: bits.length };
}

/** Returns the first and the last address of a network. */
export function addressesOf({ prefix, length }: Network): readonly [Value, Value] {
  return [
    { type: "ip", bits: prefix.padEnd(length, "0") },
    { type: "ip", bits: prefix.padEnd(length, "1") },
  ];
}

export function isInNetwork(value: Value, { prefix, length }: Network): boolean {
  return value.type === "ip" && value.bits.length === length && value.bits.startsWith(prefix);
}

/** Whether A to Z and a to z are alike. */
export interface Alike {
  readonly ignoresCase: boolean;
}

/** Returns each way in which texts may have to be compared: both ways for null, where that is unknown. */
export function casesOf(ignoresCase: boolean | null): readonly Alike[] {
  return ignoresCase === null ? [{ ignoresCase: false }, { ignoresCase: true }] : [{ ignoresCase }];
}

/** Returns a text in which A to Z are a to z, if `ignoresCase` says so; no other letter changes. */
export function cased(text: string, { ignoresCase }: Alike): string {
  return ignoresCase ? text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : text;
}

/** Compares two values of one type: negative, zero or positive. Of addresses and booleans only equality has a meaning. */
export function compareValues(one: Value, other: Value, alike: Alike = { ignoresCase: false }): number {
  if (one.type === "decimal" && other.type === "decimal") return compareDecimals(one.decimal, other.decimal);
  if (one.type === "text" && other.type === "text")
    return compareTexts(cased(one.text, alike), cased(other.text, alike));
  return compareTexts(keyOf(one), keyOf(other));
}

export function keyOf(value: Value): string {
  if (value.type === "instant") return value.at;
  if (value.type === "ip") return `${value.bits.length} ${value.bits}`;
  return JSON.stringify(value);
}

/** Compares two decimals by their digits: exact at any size. */
function compareDecimals(one: Decimal, other: Decimal): number {
  const [a, b] = [signOf(one), signOf(other)];
  if (a !== b || a === 0) return a - b;
  // The power of ten above the first digit says which is larger; only where it is the same, the digits do.
  const [size, otherSize] = [one.digits.length + one.exponent, other.digits.length + other.exponent];
  if (size !== otherSize) return a * (size - otherSize);
  return a * compareTexts(one.digits, other.digits);
}

function signOf({ sign, digits }: Decimal): number {
  if (digits === "0") return 0;
  return sign === "-" ? -1 : 1;
}

/** Compares two texts by code points. JavaScript compares halves of surrogate pairs, which puts U+FFFD behind U+1F600. */
function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at += 1) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (a !== b) return rankOf(a) - rankOf(b);
  }
  return one.length - other.length;
}

/** Returns the rank of a UTF-16 unit in the order of code points: surrogates, which stand for code points above U+FFFF, come last. */
function rankOf(unit: number): number {
  const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
  return isSurrogate ? unit + 0x10000 : unit;
}

/**
 * Returns the binary digits of an address. Undefined of any other string, of an address with a zone, and of an IPv4 address in the form
 * of an IPv6 one: services do not agree on which of the two it is.
 */
function bitsOf(address: string): string | undefined {
  const version = address.includes("%") ? 0 : isIP(address);
  if (version === 4)
    return address
      .split(".")
      .map((part) => binary(Number(part), 8))
      .join("");
  if (version !== 6) return undefined;
  const bits = groupsOf(address)
    .map((group) => binary(group, 16))
    .join("");
  return bits.startsWith(`${"0".repeat(80)}${"1".repeat(16)}`) ? undefined : bits;
}

/** Returns the eight groups of a valid IPv6 address as numbers. */
function groupsOf(address: string): number[] {
  const written = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts) => {
    const [a, b, c, d] = parts.slice(0, 4).map(Number);
    return `${((a ?? 0) * 256 + (b ?? 0)).toString(16)}:${((c ?? 0) * 256 + (d ?? 0)).toString(16)}`;
  });
  const [before = "", after] = written.split("::");
  const numbers = (text: string): number[] =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  if (after === undefined) return numbers(before);
  const [first, last] = [numbers(before), numbers(after)];
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
}

/** Returns the address of 32 or 128 binary digits as people write it: `10.0.0.1`, or the form of RFC 5952. */
export function addressOf(bits: string): string {
  const size = bits.length === 32 ? 8 : 16;
  const groups = Array.from({ length: bits.length / size }, (_, index) =>
    Number.parseInt(bits.slice(index * size, (index + 1) * size), 2),
  );
  if (size === 8) return groups.join(".");
  // The standard form of URLs is that of RFC 5952.
  return new URL(`http://[${groups.map((group) => group.toString(16)).join(":")}]`).hostname.slice(1, -1);
}

function binary(value: number, digits: number): string {
  return value.toString(2).padStart(digits, "0");
}
