import {
  type CompareOptions,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  type Spot,
  spotAt,
  textOf,
} from "../../sdk/json/index.ts";
import { type Decimal, decimalOf, instantOf, isEmpty, type ValueForm, valueText } from "../../sdk/json/normal-form.ts";

/**
 * Returns a definition as a service shows it that stores values in the contract's `rule.forms`: decimals as strings with two
 * digits or more behind the point, instants in UTC with milliseconds, each element once, an empty list as null, null as an empty list, and no field that has its default.
 */
export function inStoredForm(definition: JsonObject, by: CompareOptions): JsonObject {
  const spot = by.forms.length === 0 ? undefined : spotAt(by);
  return spot === undefined ? definition : fieldsStored(definition, spot);
}

function fieldsStored(fields: JsonObject, spot: Spot | undefined): JsonObject {
  const kept = Object.entries(fields).flatMap(([key, value]): [string, Json][] => {
    const below = spot?.below(key);
    const isDefault = below?.defaultText !== undefined && textOf(value, below) === below.defaultText;
    return isDefault ? [] : [[key, stored(value, below)]];
  });
  return Object.fromEntries(kept);
}

function stored(value: Json, spot: Spot | undefined): Json {
  if (spot === undefined) return value;
  if (spot.isNullEmpty && isEmpty(value)) return Array.isArray(value) ? null : [];
  if (isJsonObject(value)) return fieldsStored(value, spot);
  if (!isJsonArray(value)) return valueStored(value, spot.forms);
  const texts = new Set<string>();
  const kept = value.filter((element, index) => {
    const text = textOf(element, spot.below(index));
    const isNew = !texts.has(text);
    texts.add(text);
    return isNew || !spot.isDistinct;
  });
  return kept.map((element, index) => stored(element, spot.below(index)));
}

function valueStored(value: Json, forms: readonly ValueForm[]): Json {
  const decimal = forms.includes("decimal") ? decimalOf(value) : undefined;
  if (decimal !== undefined) return textOfDecimal(decimal) ?? value;
  const instant = forms.includes("dateTime") ? instantOf(value) : undefined;
  if (instant !== undefined) return withMilliseconds(instant);
  return JSON.parse(valueText(value, forms));
}

const mostZeros = 100;

/** Writes a decimal with two digits or more behind the point: `-1.50`; undefined for more than 100 zeros. */
function textOfDecimal({ sign, digits, exponent }: Decimal): string | undefined {
  if (Math.abs(exponent) > mostZeros) return undefined;
  const scaled = digits.padEnd(digits.length + exponent, "0").padStart(1 - exponent, "0");
  const point = exponent < 0 ? scaled.length + exponent : scaled.length;
  return `${sign}${scaled.slice(0, point)}.${scaled.slice(point).padEnd(2, "0")}`;
}

/** Gives an instant its milliseconds: `10:00:00Z` becomes `10:00:00.000Z`. */
function withMilliseconds(instant: string): string {
  return instant.replace(/:(\d\d)(?:\.(\d+))?Z$/, (_, second: string, fraction = "") => {
    return `:${second}.${String(fraction).padEnd(3, "0")}Z`;
  });
}
