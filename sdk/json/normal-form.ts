import type { Json } from "./json-types.ts";
import type { Pointer } from "./pointer.ts";

/** The forms of a text or a number, in the order in which they are applied. */
const formsOfValues = ["trimmed", "lower", "upper", "decimal", "dateTime"] as const;

/** The forms in which a service may store what it is sent. */
export const formNames = [...formsOfValues, "distinct"] as const;

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

/** Those of the forms that are of values, in the order in which they are applied. */
export function valueFormsOf(names: readonly FormName[]): readonly ValueForm[] {
  return formsOfValues.filter((name) => names.includes(name));
}

/** True of a value that a form changes the look of, or could. */
export function isOfForm(value: Json, form: FormName): boolean {
  if (form === "distinct") return Array.isArray(value);
  if (form === "decimal") return decimalOf(value) !== undefined;
  return form === "dateTime" ? instantOf(value) !== undefined : typeof value === "string";
}

/** The text, valid JSON, that two values share exactly when they are equal in these forms. Objects and arrays have none. */
export function valueText(value: Json, forms: readonly ValueForm[]): string {
  const inForm = forms.reduce(formed, value);
  const decimal = forms.includes("decimal") ? decimalOf(inForm) : undefined;
  if (decimal !== undefined) return `${decimal.sign}${decimal.digits}e${decimal.exponent}`;
  return JSON.stringify(inForm === 0 ? 0 : inForm);
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
 * The exact value of a number, or of a text that is one as JSON writes it; undefined of anything else, and of a text that is
 * longer than 1000 characters or whose exponent has more than six digits. Nothing is calculated in floating point.
 */
export function decimalOf(value: Json): Decimal | undefined {
  const text = typeof value === "number" ? String(value) : value;
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
 * The instant that a text names by RFC 3339, as a text in UTC that ends in Z, without zeros at the end of its fraction;
 * undefined of anything else, such as a day that no calendar has. A leap second stays one.
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

/** `2026-01-31T23:59` */
function minuteOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, -":00.000Z".length);
}
