import { defineSemantics, type RuleReading } from "../../../meaning/index.ts";
import type { Comparison } from "../../../meaning/language/normal-form.ts";
import { readValue } from "../../../meaning/language/values.ts";
import type { Columns, Source } from "../../../meaning/sql/query.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../sdk/json/index.ts";
import { answersOf, type SqlCase } from "./cases.ts";

/** Lines of which readers of JSON make different things. */
export const lines: readonly string[] = [
  '{"x": 5, "t": "a"}',
  ' \t{"x":5}',
  '{"x":5,}',
  '{"t":["a",]}',
  '{"x":NaN}',
  '{"x":-Infinity}',
  '{"x":01}',
  '{"x":.5}',
  '{"x":5} x',
  '{"x":5}}',
  '{"x":5}] []',
  '{"x":5}} {}',
  '{"x":5},{"x":5}',
  '[{"x":5}]',
  "5",
  "null",
  '"x"',
  '{"x":1,"x":5}',
  '{"x":1,"\\u0078":5}',
  '{"a":{"b":"d","b":"c"}}',
  '{"t":"\\ud800"}',
  '{"t":"\\ud83d\\ude00"}',
  '{"t":"\\u0000"}',
  '{"t":"\\u0061"}',
  '{"t":"a\\u0000"}',
  '{"x":5.0000000000000001}',
  '{"x":4.99999999999999999}',
  '{"x":12345678901234567}',
  '{"x":1e400}',
  '{"x":50e-1}',
  '{"x":5.000}',
  '{"x":-0}',
  '{"x":"5"}',
  '{"x":"5.0000000000000001"}',
  '{"x":" 5"}',
  `{"x":"5.${"0".repeat(998)}"}`,
  `{"x":"5.${"0".repeat(999)}"}`,
  '{"x":true}',
  '{"x":null}',
  "{}",
  '{"x":[5]}',
  '{"x":{"y":5}}',
  '{"x":5/**/}',
  "{'x':5}",
  '{"x":5 "t":"a"}',
  '{"a":{"b":"c"}}',
  '{"a":["q"]}',
  '{"a":{"0":"q"}}',
  '{"a":"q"}',
  '{"t":5}',
  '{"t":"x, Nancy"}',
  '{"t":"é"}',
  "",
  "   ",
];

/** Comparisons of the fields x, t, b and q, as rules that all count. */
export const linesCase: Omit<SqlCase, "payments"> = {
  semantics: defineSemantics({
    ...written("decimal"),
    payment: {
      fields: {
        x: { at: "/x", type: "decimal" },
        t: { at: "/t", type: "text", ignoresCase: false },
        b: { at: "/a/b", type: "text", ignoresCase: false },
        q: { at: "/a/0", type: "text", ignoresCase: false },
      },
    },
  }),
  sides: [
    sideOf([
      comparisonOf("x", "eq", 5, "decimal"),
      comparisonOf("x", "lt", 5, "decimal"),
      comparisonOf("x", "gt", "12345678901234567", "decimal"),
      comparisonOf("t", "eq", "a", "text"),
      comparisonOf("t", "eq", "\u{1f600}", "text"),
      comparisonOf("b", "eq", "c", "text"),
      comparisonOf("q", "eq", "q", "text"),
      { ...comparisonOf("x", "exists", 5, "decimal"), operand: { kind: "none" } },
      { ...comparisonOf("t", "absent", "a", "text"), operand: { kind: "none" } },
    ]),
  ],
  at: undefined,
};

/** A table with columns of types, and the payments that its rows are. */
export const table = {
  columns: {
    json: "payload",
    fields: {
      amount: { column: "Amount (EUR)", isInstant: false },
      count: { column: "n", isInstant: false },
      currency: { column: "ccy", isInstant: false },
      trusted: { column: "ok", isInstant: false },
      madeAt: { column: "made at", isInstant: true },
      tags: { column: "tags", isInstant: false },
      score: { column: "score", isInstant: false },
    },
  } satisfies Columns,
  payments: [
    {
      amount: "12.5000",
      count: 7,
      currency: "eur",
      trusted: true,
      madeAt: "2026-01-31T12:00:00.5Z",
      tags: ["a"],
      country: "DE",
    },
    {
      amount: "0.0001",
      count: -1,
      currency: "EUR",
      trusted: false,
      madeAt: "1969-12-31T23:59:59.999999Z",
      tags: [],
      country: "de",
    },
    {
      amount: "12345678901234.5678",
      count: 12,
      currency: "é",
      trusted: true,
      madeAt: "2026-01-31T12:00:00Z",
      tags: ["A", "b"],
      country: "FR",
    },
    {},
  ] satisfies JsonObject[],
} as const;

export const tableCase: SqlCase = {
  semantics: defineSemantics({
    ...written("decimal"),
    payment: {
      fields: {
        amount: { at: "/amount", type: "decimal" },
        count: { at: "/count", type: "decimal" },
        currency: { at: "/currency", type: "text", ignoresCase: false },
        trusted: { at: "/trusted", type: "boolean" },
        madeAt: { at: "/madeAt", type: "instant" },
        tags: { at: "/tags", type: "text", list: true, ignoresCase: false },
        country: { at: "/country", type: "text", ignoresCase: false },
        score: { at: "/score", type: "decimal" },
      },
      amount: { field: "amount", currency: "currency", unit: "major" },
    },
  }),
  sides: [
    sideOf([
      comparisonOf("amount", "gte", "12.5", "decimal"),
      comparisonOf("amount", "eq", "12345678901234.5678", "decimal"),
      comparisonOf("count", "lt", 0, "decimal"),
      comparisonOf("currency", "eq", "EUR", "text"),
      comparisonOf("currency", "gt", "F", "text"),
      comparisonOf("trusted", "eq", true, "boolean"),
      comparisonOf("madeAt", "gt", "2026-01-31T13:00:00+01:00", "instant"),
      comparisonOf("madeAt", "lt", "1970-01-01T00:00:00Z", "instant"),
      comparisonOf("tags", "contains", "A", "text"),
      { ...comparisonOf("tags", "exists", "A", "text"), operand: { kind: "none" } },
      comparisonOf("country", "eq", "DE", "text"),
    ]),
  ],
  payments: [...table.payments],
  at: undefined,
};

export function tableSource(name: string): Source {
  return { kind: "table", table: [name], columns: table.columns };
}

function written(type: string) {
  return {
    version: 1 as const,
    description: `fields such as ${type}`,
    applies: {
      at: "/when",
      list: "all" as const,
      conditions: [{ field: "/field", operator: { at: "/op" }, value: "/value" }],
      operators: { is: "eq" as const },
    },
    outcome: { at: "/then", named: true },
    wins: { by: "all" as const, none: "none" },
    lists: { eq: "anyElement" as const, contains: "element" as const },
    missing: "comparisonFalse" as const,
  };
}

function comparisonOf(
  field: string,
  operator: Comparison["operator"],
  json: Json,
  type: "decimal" | "text" | "boolean" | "instant",
): Comparison {
  const value = readValue(json, type);
  if (value === undefined) throw new TypeError(`${json} is no ${type}`);
  return {
    kind: "comparison",
    at: "",
    field,
    operator,
    isNegated: false,
    ignoresCase: false,
    operand: { kind: "value", value },
    written: json,
  };
}

function sideOf(comparisons: readonly Comparison[]): SqlCase["sides"][number] {
  const rules = comparisons.map((when, number): { name: string; reading: RuleReading } => ({
    name: `${number}`,
    reading: {
      kind: "rule",
      rule: {
        when,
        force: { isEnabled: true, from: undefined, until: undefined },
        outcome: `${when.field} ${number}`,
        order: undefined,
      },
    },
  }));
  return { name: "before", rules, unlisted: new Map() };
}

/** What the evaluator says of a line; undefined where it is no payment. */
export function expectedOfLine(line: string): ReturnType<typeof answersOf>[number] | undefined {
  const [side] = linesCase.sides;
  let payment: Json;
  try {
    payment = JSON.parse(line);
  } catch {
    return undefined;
  }
  return isJsonObject(payment) && side !== undefined
    ? answersOf({ ...linesCase, payments: [payment] }, side)[0]
    : undefined;
}
