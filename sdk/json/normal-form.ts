import { isExactNumber, numberText } from "./exact-number.ts";
import type { Json } from "./json-types.ts";
import type { Pointer } from "./pointer.ts";

/** The forms of a string or a number, in the order in which they are applied. */
const formsOfValues = ["trimmed", "lower", "upper", "decimal", "dateTime"] as const;

/** The forms in which a service may store what it is sent. */
export const formNames = [...formsOfValues, "distinct", "empty"] as const;

export type FormName = (typeof formNames)[number];
export type ValueForm = (typeof formsOfValues)[number];

/** An entry of the contract's `rule.forms`. */
export interface NormalForm {
  /** A pattern. */
  readonly at: Pointer;
  readonly is?: FormName | undefined;
  /** What a field is when it is not there. */
  readonly default?: Json | undefined;
}

/** Returns those of the forms that strings and numbers have, in the order in which they are applied. */
export function valueFormsOf(names: readonly FormName[]): readonly ValueForm[] {
  return formsOfValues.filter((name) => names.includes(name));
}

/** Decides whether a form is of values like this one, so that it may change how the value is written. */
export function isOfForm(value: Json, form: FormName): boolean {
  if (form === "distinct") return Array.isArray(value);
  if (form === "empty") return isEmpty(value);
  if (form === "decimal") return decimalOf(value) !== undefined;
  return form === "dateTime" ? instantOf(value) !== undefined : typeof value === "string";
}

/** Decides whether a value is null, an empty text or an empty list. */
export function isEmpty(value: Json): boolean {
  return value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

/** Returns the string, valid JSON, that two values share exactly when they are equal in these forms; not for objects and arrays. */
export function valueText(value: Json, forms: readonly ValueForm[]): string {
  const inForm = forms.reduce(formed, value);
  const decimal = forms.includes("decimal") ? decimalText(inForm) : undefined;
  return decimal ?? plainText(inForm);
}

function decimalText(value: Json): string | undefined {
  const decimal = decimalOf(value);
  return decimal && `${decimal.sign}${decimal.digits}e${decimal.exponent}`;
}

/** Writes a value without forms. A number that is a double is written as doubles are, so that 1e22 is 1e+22. */
function plainText(value: Json): string {
  if (!isExactNumber(value)) return JSON.stringify(value === 0 ? 0 : value);
  const [exact = value.source, double] = [decimalText(value), Number(value)];
  return exact === decimalText(double) ? JSON.stringify(double) : exact;
}

function formed(value: Json, form: ValueForm): Json {
  if (typeof value !== "string") return value;
  switch (form) {
    case "trimmed":
      return value.trim();
    case "lower":
      return value.toLowerCase();
    case "upper":
      return value.toUpperCase();
    case "dateTime":
      return instantOf(value) ?? value;
    case "decimal":
      return value;
  }
}

/** A number as its digits, without zeros at either end, times ten to the power of the exponent. Zero has the digits 0. */
export interface Decimal {
  readonly sign: "" | "-";
  readonly digits: string;
  readonly exponent: number;
}

const decimalPattern = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d{1,6}))?$/;
const mostCharacters = 1000;

/**
 * Returns the exact value of a number, or of a string that is a number as JSON writes it; undefined for anything else, and for
 * a string of more than 1000 characters or an exponent of more than six digits. Nothing is calculated in floating point.
 */
export function decimalOf(value: Json): Decimal | undefined {
  const text = numberText(value) ?? value;
  if (typeof text !== "string" || text.length > mostCharacters) return undefined;
  const match = decimalPattern.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  const significant = `${whole}${fraction}`.replace(/^0+/, "");
  const digits = significant.replace(/0+$/, "");
  if (digits === "") return { sign: "", digits: "0", exponent: 0 };
  const zeros = significant.length - digits.length;
  return { sign: sign === "-" ? "-" : "", digits, exponent: Number(exponent) - fraction.length + zeros };
}

const instantPattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d):([0-5]\d|60)(\.\d{1,50})?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i;

/**
 * Returns the instant that a string names by RFC 3339, as a string in UTC that ends in Z, without zeros at the end of its
 * fraction; undefined for anything else, such as a day that no calendar has. A leap second stays one.
 */
export function instantOf(value: Json): string | undefined {
  const match = typeof value === "string" ? instantPattern.exec(value) : null;
  if (match === null) return undefined;
  const [, minute = "", second = "", fraction = "", sign, hours = "0", minutes = "0"] = match;
  const local = Date.parse(`${minute}Z`.toUpperCase());
  // Date.parse takes 30 February for 2 March, and 24:00 for the next day.
  if (Number.isNaN(local) || minuteOf(local) !== minute.toUpperCase()) return undefined;
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  const utc = minuteOf(sign === "-" ? local + offset : local - offset);
  if (second === "60" && !utc.endsWith("T23:59")) return undefined;
  return `${utc}:${second}${fraction.replace(/\.?0+$/, "")}Z`;
}

/** Formats milliseconds since 1970 as `2026-01-31T23:59`, in UTC. */
function minuteOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, -":00.000Z".length);
}
