import type { ValueType } from "../language/schema-words.ts";
import { type Dialect, kinds } from "./dialect.ts";
import { microsTo1970, minutesBounds, mostSize } from "./keys.ts";

/** A value of a payment: what it is, and its text. */
export interface SqlValue {
  readonly kind: string;
  readonly text: string;
  /** Its parts, where it is a decimal whose parts are columns of their own. Default: they are taken from the text wherever they are needed. */
  readonly parts?: DecimalParts;
}

/** The parts of a value that is written as a decimal; SQL null of others. */
export interface DecimalParts {
  /** The digits before and behind the point. */
  readonly digits: string;
  /** How many of them stand behind it. */
  readonly behind: string;
  /** The power of ten that it is written with. */
  readonly exponent: string;
}

/** Returns SQL of the key of a value, as `keyOf` makes it; SQL null of a value of another type, or where {@link misfit} is true. */
export function keySql(value: SqlValue, type: ValueType, dialect: Dialect): string {
  const { kind, text } = value;
  switch (type) {
    case "decimal":
      return `CASE WHEN ${fits(value, dialect)} THEN ${decimalKey(value, dialect)} END`;
    case "text":
      return `CASE WHEN ${kind} = ${kinds.text} THEN ${text} END`;
    case "boolean":
      return `CASE WHEN ${kind} = ${kinds.boolean} THEN ${text} END`;
    case "instant":
      return `CASE WHEN ${kind} = ${kinds.micros} THEN ${microsKey(text, dialect)} WHEN ${kind} = ${kinds.text} AND ${dialect.isAll(text, instantPattern)} THEN ${instantKey(text, dialect)} END`;
    case "ip":
      return `CASE WHEN ${kind} <> ${kinds.text} THEN NULL WHEN ${dialect.isAll(text, ipv4)} THEN ${ipv4Key(text)} WHEN ${dialect.isAll(text, ipv6)} THEN ${ipv6Key(text)} END`;
  }
}

/** Returns SQL that is true of values of the type that SQL does not compare: too many digits, or a rare notation; undefined where none are. */
export function misfit(value: SqlValue, type: ValueType, dialect: Dialect): string | undefined {
  if (type === "decimal") return `(NOT ${fits(value, dialect)})`;
  // Addresses of IPv6 that end like one of IPv4.
  if (type === "ip")
    return `(${value.kind} = ${kinds.text} AND ${dialect.isAll(value.text, "[0-9a-fA-F:]*:[0-9.]+[.][0-9]+")})`;
  return undefined;
}

const decimalPattern = "(-?)(0|[1-9][0-9]*)(?:[.]([0-9]+))?(?:[eE]([+-]?[0-9]{1,6}))?";

/** Returns SQL of the parts of a decimal, taken from its text. */
export function decimalParts({ kind, text }: SqlValue, dialect: Dialect): DecimalParts {
  const isText = `(${kind} = ${kinds.text} AND length(${text}) <= 1000)`;
  const isDecimal = `(${kind} IN (${kinds.number}, ${kinds.exact}) OR ${isText}) AND ${dialect.isAll(text, decimalPattern)}`;
  const group = (number: number): string => dialect.group(text, decimalPattern, number);
  return {
    digits: `CASE WHEN ${isDecimal} THEN concat(${group(2)}, ${group(3)}) END`,
    behind: `length(${group(3)})`,
    exponent: `coalesce(TRY_CAST(${group(4)} AS ${dialect.int}), 0)`,
  };
}

/**
 * Returns SQL that is true of decimals that can be compared; null of anything else. A JSON number may have 15 digits: with more, and at
 * either end of the range, JSON parsers do not agree on the floating-point number.
 */
function fits(value: SqlValue, dialect: Dialect): string {
  const [size, digits] = [sizeOf(value, dialect), digitsOf(value, dialect)];
  const isReadAlike = `(length(${digits}) <= 15 AND ${size} BETWEEN -290 AND 290)`;
  return `(${digits} = '' OR (${size} BETWEEN ${1 - mostSize} AND ${mostSize - 1} AND (${value.kind} <> ${kinds.number} OR ${isReadAlike})))`;
}

function partsOf(value: SqlValue, dialect: Dialect): DecimalParts {
  return value.parts ?? decimalParts(value, dialect);
}

function digitsOf(value: SqlValue, dialect: Dialect): string {
  return `trim(TRAILING '0' FROM trim(LEADING '0' FROM ${partsOf(value, dialect).digits}))`;
}

/** Returns SQL of the power of ten above the first digit. */
function sizeOf(value: SqlValue, dialect: Dialect): string {
  const { digits, behind, exponent } = partsOf(value, dialect);
  return `(length(trim(LEADING '0' FROM ${digits})) + ${exponent} - ${behind})`;
}

function decimalKey(value: SqlValue, dialect: Dialect): string {
  const [digits, size] = [digitsOf(value, dialect), sizeOf(value, dialect)];
  const padded = (number: string): string => `lpad(CAST(${number} AS ${dialect.text}), 3, '0')`;
  return [
    `CASE WHEN ${digits} = '' THEN '1'`,
    `WHEN substr(${value.text}, 1, 1) = '-' THEN concat('0', ${padded(`500 - ${size}`)}, translate(${digits}, '0123456789', '9876543210'), ':')`,
    `ELSE concat('2', ${padded(`500 + ${size}`)}, ${digits}) END`,
  ].join(" ");
}

const instantPattern =
  "([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[tT]([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60)([.][0-9]{1,50})?(?:[zZ]|([+-](?:[01][0-9]|2[0-3])):([0-5][0-9]))";

/** Returns SQL of the key of an RFC 3339 instant, by integers alone: the calendar is Gregorian in all years. */
function instantKey(text: string, dialect: Dialect): string {
  const number = (group: number): string =>
    `coalesce(TRY_CAST(${dialect.group(text, instantPattern, group)} AS BIGINT), 0)`;
  const [year, month, day] = [number(1), number(2), number(3)];
  const isLeap = `(${year} % 4 = 0 AND (${year} % 100 <> 0 OR ${year} % 400 = 0))`;
  const lastDay = `CASE WHEN ${month} = 2 THEN CASE WHEN ${isLeap} THEN 29 ELSE 28 END WHEN ${month} IN (4, 6, 9, 11) THEN 30 ELSE 31 END`;
  // The year begins in March, so that the day that comes and goes is its last.
  const years = `(${year} + 400 - CASE WHEN ${month} <= 2 THEN 1 ELSE 0 END)`;
  const months = `(${month} + CASE WHEN ${month} > 2 THEN -3 ELSE 9 END)`;
  const q = dialect.quotient;
  const days = `(365 * ${years} + (${q(years, "4")}) - (${q(years, "100")}) + (${q(years, "400")}) + (${q(`153 * ${months} + 2`, "5")}) + ${day} - 1)`;
  const sign = `CASE WHEN ${dialect.group(text, instantPattern, 8)} LIKE '-%' THEN -1 ELSE 1 END`;
  const offset = `(60 * ${number(8)} + (${sign}) * ${number(9)})`;
  const minutes = `(1440 * ${days} + 60 * ${number(4)} + ${number(5)} - ${offset})`;
  const second = dialect.group(text, instantPattern, 6);
  const fraction = `trim(TRAILING '.' FROM trim(TRAILING '0' FROM ${dialect.group(text, instantPattern, 7)}))`;
  const [first, last] = minutesBounds;
  return `CASE WHEN ${day} <= ${lastDay} AND ${minutes} BETWEEN ${first} AND ${last} AND (${second} <> '60' OR ${minutes} % 1440 = 1439) THEN concat(lpad(CAST(${minutes} AS ${dialect.text}), 10, '0'), ${second}, ${fraction}) END`;
}

/** Returns SQL of the key of an instant that is given as microseconds since 1970. */
function microsKey(text: string, dialect: Dialect): string {
  const micros = `(CAST(${text} AS BIGINT) + ${microsTo1970})`;
  const seconds = dialect.quotient(micros, "1000000");
  const minutes = `(${dialect.quotient(micros, "60000000")})`;
  const padded = (number: string, digits: number): string => `lpad(CAST(${number} AS ${dialect.text}), ${digits}, '0')`;
  const fraction = `trim(TRAILING '.' FROM trim(TRAILING '0' FROM concat('.', ${padded(`${micros} % 1000000`, 6)})))`;
  const [first, last] = minutesBounds;
  return `CASE WHEN ${micros} > 0 AND ${minutes} BETWEEN ${first} AND ${last} THEN concat(${padded(minutes, 10)}, ${padded(`(${seconds}) % 60`, 2)}, ${fraction}) END`;
}

const octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
const ipv4 = `${octet}(?:[.]${octet}){3}`;

function ipv4Key(text: string): string {
  return `concat('4', ${[1, 2, 3, 4].map((part) => `lpad(split_part(${text}, '.', ${part}), 3, '0')`).join(", ")})`;
}

const groups = "(?:[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){0,6})";
const ipv6 = `[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){7}|${groups}?::${groups}?`;

/** Returns SQL of the key of an IPv6 address; null of an IPv4 address in the form of an IPv6 one, and of too many groups. */
function ipv6Key(text: string): string {
  const [before, after] = [1, 2].map((side) => `split_part(${text}, '::', ${side})`) as [string, string];
  const count = (part: string): string =>
    `CASE WHEN ${part} = '' THEN 0 ELSE length(${part}) - length(replace(${part}, ':', '')) + 1 END`;
  const left = `(8 - (${count(before)}) - (${count(after)}))`;
  const whole = `CASE WHEN ${text} NOT LIKE '%::%' THEN ${text} ELSE concat(${before}, CASE WHEN ${before} = '' THEN '' ELSE ':' END, repeat('0:', CASE WHEN ${left} > 0 THEN ${left} ELSE 0 END), ${after}) END`;
  const each = [1, 2, 3, 4, 5, 6, 7, 8].map((part) => `lpad(split_part(${whole}, ':', ${part}), 4, '0')`);
  const key = `lower(concat('6', ${each.join(", ")}))`;
  return `CASE WHEN (${text} NOT LIKE '%::%' OR ${left} > 0) AND NOT ${key} LIKE '600000000000000000000ffff%' THEN ${key} END`;
}
