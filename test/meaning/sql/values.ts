import fc from "fast-check";
import { defineSemantics, type RuleReading, type Semantics } from "../../../meaning/index.ts";
import type { Comparison, Operand } from "../../../meaning/language/normal-form.ts";
import { type OperatorName, operatorsOf, type ValueType } from "../../../meaning/language/schema-words.ts";
import { casesOf, compareValues, networkOf, readValue, type Value } from "../../../meaning/language/values.ts";
import type { Json, JsonObject } from "../../../sdk/json/index.ts";
import type { SqlCase } from "./cases.ts";

const digits = (most: number) => fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 1, maxLength: most });
const two = (most: number, least = 0) =>
  fc.integer({ min: least, max: most }).map((each) => String(each).padStart(2, "0"));

const decimal: fc.Arbitrary<Json> = fc.oneof(
  fc.integer({ min: -1200, max: 1200 }).map((cents) => cents / 100),
  fc.integer({ min: -1200, max: 1200 }).map((cents) => String(cents / 100)),
  fc.constantFrom(
    1e21,
    -1e21,
    1e-7,
    0.1,
    -0,
    "0.0",
    "-0",
    "0e5",
    "1e498",
    "1e-498",
    "-1e499",
    "9.99e500",
    1e300,
    5e-324,
  ),
  fc.double({ noNaN: true }).map((each) => (Number.isFinite(each) ? each : 0)),
  fc
    .tuple(fc.constantFrom("", "-"), digits(40), digits(40), fc.integer({ min: -500, max: 500 }))
    .map(([sign, whole, behind, exponent]) => `${sign}${whole.replace(/^0+(?=.)/, "")}.${behind}e${exponent}`),
);

const texts = [
  "a",
  "A",
  "ab",
  "Ab",
  "k",
  "\u212a",
  "s",
  "ſ",
  "é",
  "É",
  "e\u0301",
  "ß",
  "\u{1f600}",
  "\ufffd",
  "\u{10ffff}",
  "\uffff",
  "'",
  '"',
  "\\",
  "$".concat("{x}"),
  "%",
  "_",
  "\n",
  "\t",
  " ",
  "--",
  ";",
  "",
  "z",
  "Z",
  "[",
  "`",
  "{",
];
const text: fc.Arbitrary<Json> = fc.array(fc.constantFrom(...texts), { maxLength: 3 }).map((parts) => parts.join(""));

const anyInstant: fc.Arbitrary<Json> = fc
  .record({
    year: fc.constantFrom("0000", "0001", "1900", "1999", "2000", "2023", "2024", "2100", "9999"),
    month: fc.oneof(fc.constantFrom("02", "12", "01"), two(13)),
    day: fc.oneof(fc.constantFrom("28", "29", "30", "31", "01"), two(32)),
    hour: fc.oneof(fc.constantFrom("23", "00"), two(24)),
    minute: fc.oneof(fc.constantFrom("59", "00"), two(60)),
    second: fc.oneof(fc.constantFrom("59", "60", "00"), two(61)),
    fraction: fc.oneof(
      fc.constantFrom("", ".0", ".5", ".50"),
      digits(50).map((each) => `.${each}`),
    ),
    zone: fc.oneof(
      fc.constantFrom("Z", "z", "+00:00", "-00:00", "+23:59", "-23:59", ""),
      fc
        .tuple(fc.constantFrom("+", "-"), two(24), two(60))
        .map(([sign, hours, minutes]) => `${sign}${hours}:${minutes}`),
    ),
    t: fc.constantFrom("T", "T", "T", "t", " "),
  })
  .map((of) => `${of.year}-${of.month}-${of.day}${of.t}${of.hour}:${of.minute}:${of.second}${of.fraction}${of.zone}`);

/** Also at the first and the last instant that there is. */
const instant: fc.Arbitrary<Json> = fc.oneof(
  { arbitrary: anyInstant, weight: 9 },
  {
    arbitrary: fc.constantFrom(
      "0000-01-01T00:00:00Z",
      "0000-01-01T00:00:00+00:01",
      "9999-12-31T23:59:60Z",
      "9999-12-31T23:59:59-00:01",
    ),
    weight: 1,
  },
);

const group = fc.constantFrom("0", "00", "1", "db8", "DB8", "ffff", "FFFF", "2001", "10000", "g");
const ip: fc.Arbitrary<Json> = fc.oneof(
  fc
    .array(fc.constantFrom("0", "1", "10", "192", "255", "256", "01", "168"), { minLength: 4, maxLength: 4 })
    .map((parts) => parts.join(".")),
  fc.array(group, { minLength: 7, maxLength: 9 }).map((parts) => parts.join(":")),
  fc
    .tuple(fc.array(group, { maxLength: 5 }), fc.array(group, { maxLength: 5 }))
    .map(([before, after]) => `${before.join(":")}::${after.join(":")}`),
  fc.constantFrom(
    "::",
    "::1",
    "1::",
    "::ffff:10.0.0.1",
    "::ffff:a00:1",
    "64:ff9b::1.2.3.4",
    "fe80::1%eth0",
    "1:2:3:4:5:6:7::",
    "::2:3:4:5:6:7:8",
    ":::",
    "1::2::3",
    "10.0.0.1\n",
    "0:0:0:0:0:ffff:1:1",
  ),
);

const boolean: fc.Arbitrary<Json> = fc.constantFrom(true, false, "true", 1, "false");

const ofType: Readonly<Record<ValueType, fc.Arbitrary<Json>>> = { decimal, text, instant, ip, boolean };
const networks = [
  "10.0.0.0/8",
  "0.0.0.0/0",
  "192.168.0.0/15",
  "10.1.0.0/31",
  "2001:db8::/29",
  "::/0",
  "::/128",
  "1::/16",
];

export interface ValueCase extends SqlCase {
  readonly type: ValueType;
}

/**
 * Comparisons of each type with values from everywhere near a border, as rules that all count, and each with an outcome of its own: so an
 * answer shows what each comparison is.
 */
export function valueCases(
  seed: number,
  { rules, payments }: { readonly rules: number; readonly payments: number },
): ValueCase[] {
  const kinds: (readonly [ValueType, boolean, boolean | null])[] = [
    ["decimal", false, false],
    ["text", false, false],
    ["text", false, true],
    ["text", false, null],
    ["instant", false, false],
    ["ip", false, false],
    ["boolean", false, false],
    ["decimal", true, false],
    ["text", true, true],
    ["instant", true, false],
    ["ip", true, false],
  ];
  return kinds.map(([type, list, ignoresCase], index) => {
    const semantics = semanticsFor(type, list, type === "text" ? ignoresCase : null);
    const values = fc.sample(ofType[type], { seed: seed + index, numRuns: payments });
    const readings = values
      .flatMap((value) => readValue(value, type) ?? [])
      .slice(0, rules)
      .map((value, number, all) =>
        ruleOf(value, all[(number * 7 + 1) % all.length] ?? value, number, type, list, ignoresCase),
      );
    return {
      type,
      semantics,
      sides: [
        {
          name: "before",
          rules: readings.map((reading, number) => ({ name: String(number), reading })),
          unlisted: new Map(),
        },
      ],
      payments: values.map(
        (value, number): JsonObject => (list ? { x: values.slice(number, number + (number % 4)) } : { x: value }),
      ),
      at: "2026-01-01T00:00:00Z",
    };
  });
}

function ruleOf(
  value: Value,
  other: Value,
  number: number,
  type: ValueType,
  list: boolean,
  ignoresCase: boolean | null,
): RuleReading {
  const operators = list
    ? (["eq", "ne", "in", "notIn", "contains"] as const)
    : operatorsOf[type].filter((each) => !["matches", "exists", "absent"].includes(each));
  const operator: OperatorName = operators[number % operators.length] ?? "eq";
  const comparison: Comparison = {
    kind: "comparison",
    at: "",
    field: "x",
    operator,
    isNegated: number % 4 === 1,
    ignoresCase: type === "text" ? ignoresCase : false,
    operand: operandOf(operator, value, other, number, ignoresCase),
    written: null,
  };
  const when = number % 3 === 0 ? { kind: "not" as const, at: "", of: comparison } : comparison;
  return {
    kind: "rule",
    rule: {
      when,
      force: { isEnabled: true, from: undefined, until: undefined },
      outcome: String(number),
      order: undefined,
    },
  };
}

function operandOf(
  operator: OperatorName,
  value: Value,
  other: Value,
  number: number,
  ignoresCase: boolean | null,
): Operand {
  if (operator === "in" || operator === "notIn")
    return { kind: "values", values: number % 5 === 0 ? [] : [value, other] };
  if (operator === "inCidr") {
    const named = [networks[number % networks.length], networks[(number * 3 + 1) % networks.length]];
    return { kind: "networks", networks: named.flatMap((each) => networkOf(each ?? null) ?? []) };
  }
  if (operator !== "between") return { kind: "value", value };
  const isUpsideDown = casesOf(ignoresCase).some((alike) => compareValues(value, other, alike) > 0);
  const ends = (["both", "lower", "upper", "none"] as const)[number % 4] ?? "both";
  return isUpsideDown
    ? { kind: "range", from: value, to: value, ends }
    : { kind: "range", from: value, to: other, ends };
}

function semanticsFor(type: ValueType, list: boolean, ignoresCase: boolean | null): Semantics {
  return defineSemantics({
    version: 1,
    applies: {
      at: "/when",
      list: "all",
      conditions: [{ field: "/field", operator: { at: "/op" }, value: "/value" }],
      operators: { is: "eq" },
    },
    outcome: { at: "/then", named: true },
    wins: { by: "all", none: "none" },
    payment: { fields: { x: { at: "/x", type, list, ignoresCase: type === "text" ? ignoresCase : null } } },
    lists: { eq: "anyElement", contains: type === "text" ? "textOfElement" : "element" },
    missing: "comparisonFalse",
  });
}
