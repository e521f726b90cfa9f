import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import {
  defineSemantics,
  evaluate,
  loadSemantics,
  Payment,
  parseSemantics,
  readRules,
  type SemanticsInput,
  valueListsOf,
} from "../../meaning/index.ts";
import type { Json, JsonObject } from "../../sdk/json/index.ts";

const basic: SemanticsInput = {
  version: 1,
  applies: {
    at: "/conditions",
    list: "all",
    without: "always",
    groups: { all: ["all"], any: ["any"], not: ["not"] },
    conditions: [
      { field: "/field", operator: { at: "/operator" }, value: "/value", valueList: "/list", valueField: "/other" },
    ],
    operators: {
      is: "eq",
      isNot: "ne",
      over: "gt",
      before: "lt",
      oneOf: "in",
      like: "matches",
      within: "inCidr",
      lacks: { is: "contains", not: true },
      range: { is: "between", ends: "lower", from: "/min", to: "/max" },
      there: "exists",
    },
  },
  ignored: ["/name"],
  outcome: { at: "/action", words: { allow: "accept", block: "decline", hold: "review" } },
  wins: { by: "order", order: { at: "/priority", first: "highest", without: 0 }, none: "accept" },
  payment: {
    fields: {
      amount: { at: "/amount", type: "decimal" },
      limit: { at: "/limit", type: "decimal" },
      country: { at: "/card/country", type: "text", ignoresCase: true },
      note: { at: "/note", type: "text" },
      email: { at: "/email", type: "text", ignoresCase: false },
      trusted: { at: "/trusted", type: "boolean" },
      time: { at: "/time", type: "instant" },
      ip: { at: "/ip", type: "ip" },
      tags: { at: "/tags", type: "text", list: true, ignoresCase: false },
    },
    time: "time",
    actual: { at: "/result", words: { approved: "accept" } },
  },
  patterns: { dialect: "re2", anchoring: "whole" },
};

function rule(conditions: Json, more: JsonObject = {}): JsonObject {
  return { name: "r", action: "block", conditions, ...more };
}

/** What one condition makes of a payment, and why. */
function answered(
  condition: JsonObject,
  payment: JsonObject,
  changes: Partial<SemanticsInput> = {},
): [string, string | undefined] {
  const semantics = defineSemantics({ ...basic, ...changes });
  const readings = readRules(rule([condition]), semantics);
  const [reading] = readings;
  if (reading?.kind === "unknown") return ["unread", reading.faults.map(({ at, why }) => `${at} ${why}`).join("; ")];
  const [trace] = evaluate(payment, readings, semantics).rules;
  return [trace?.applies ?? "", trace?.when?.of[0]?.why];
}

function is(field: string, operator: string, value: Json): JsonObject {
  return { field, operator, value };
}

function decisionOf(
  rules: readonly JsonObject[],
  payment: JsonObject,
  changes: Partial<SemanticsInput> = {},
  at?: string,
) {
  const semantics = defineSemantics({ ...basic, ...changes });
  const readings = rules.flatMap((each) => readRules(each, semantics));
  return evaluate(payment, readings, semantics, at === undefined ? {} : { at }).decision;
}

/** A text of a file that can work, with one line changed. */
function faultOf(line: string, instead: string): string {
  const text = [
    "version: 1",
    "applies:",
    "  at: /conditions",
    "  conditions: [{ field: /field, operator: { at: /operator }, value: /value }]",
    "  operators:",
    "    equals: eq",
    "    over: gt",
    "outcome:",
    "  at: /action",
    "  words: { block: decline }",
    "wins: { by: precedence, precedence: [decline] }",
    "payment:",
    "  fields: { amount: { at: /amount, type: decimal } }",
    "",
  ].join("\n");
  expect(text).toContain(line);
  parseSemantics(text, "rules.yaml");
  try {
    parseSemantics(text.replace(line, instead), "rules.yaml");
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "nothing was refused";
}

describe("a file of semantics", () => {
  test.each([
    ["at: /action", "at: action", 'rules.yaml:9:3: outcome.at: found "action"; allowed: a JSON Pointer (RFC 6901)'],
    ["over: gt", "equals: gt", "rules.yaml:7:5: declares a field a second time"],
    ["over: gt", "over: more", 'rules.yaml:7:5: applies.operators.over: found "more"; allowed: "eq" | "ne"'],
    [
      "over: gt",
      "over: between",
      "rules.yaml:7:5: applies.operators.over.ends: found null; allowed: both, lower, upper or none",
    ],
    [
      "block: decline",
      "block: refuse",
      'outcome.words.block: found "refuse"; allowed: an outcome: accept, decline, review',
    ],
    [
      "precedence: [decline]",
      "precedence: [decline, decline]",
      'wins.precedence.1: found "decline"; allowed: each outcome once',
    ],
    ["precedence: [decline]", "precedence: []", "wins.precedence: found []; allowed: a list that has decline, too"],
    ["by: precedence", "by: order", "wins.order: found null; allowed: where the number is"],
    [
      "payment:",
      "missing: { value: none }\npayment:",
      'missing: found {"value":"none"}; allowed: what every field can have; amount is decimal',
    ],
    [
      "payment:",
      "payment:\n  time: amount",
      'payment.time: found "amount"; allowed: the name of a field in payment.fields of the type instant',
    ],
    [
      "  at: /conditions",
      "  at: /conditions\n  groups: { all: [and], any: [and] }",
      "allowed: a name that no other group has",
    ],
    ["version: 1", "version: 1\nrule: 1", "rules.yaml:2:1: rule: found an unknown field; allowed: $schema, version"],
    [
      "version: 1",
      "version: 1\ndescription: &a [*a]",
      "description.0: found a reference to an object that contains it",
    ],
    ["version: 1", "version: 1\n a: [", "rules.yaml:1:10:"],
  ])("with %j as %j is refused, with its place", (line, instead, message) => {
    expect(faultOf(line, instead)).toContain(message);
    expect(faultOf(line, instead)).toMatch(/\(SEMANTICS_INVALID\)$/);
  });

  test("that cannot be read is named", () => {
    expect(() => loadSemantics("/nowhere/rules.yaml")).toThrow(
      /^read semantics \/nowhere\/rules.yaml failed: it cannot be read: ENOENT/,
    );
  });
});

describe("a rule is unknown where anything in it is not explained", () => {
  test.each<[string, JsonObject, string]>([
    [
      "an unknown operator",
      rule([is("amount", "near", 5)]),
      '/conditions/0/operator is the operator "near", which applies.operators does not have',
    ],
    [
      "an operator that objects have by themselves",
      rule([is("amount", "constructor", 5)]),
      '/conditions/0/operator is the operator "constructor"',
    ],
    [
      "an unknown field",
      rule([is("velocity_24h", "over", 5)]),
      '/conditions/0/field is "velocity_24h", which payment.fields does not have',
    ],
    [
      "an operand of another type",
      rule([is("amount", "over", "much")]),
      '/conditions/0/value is "much", which is no decimal',
    ],
    [
      "a comparison without meaning",
      rule([is("trusted", "over", true)]),
      "/conditions/0/value is compared by gt, which has no meaning for boolean",
    ],
    [
      "two operands",
      rule([{ ...is("amount", "over", 5), other: "limit" }]),
      "/conditions/0/value is one of several operands",
    ],
    [
      "a value list that is not known",
      rule([{ field: "country", operator: "oneOf", list: "bad" }]),
      '/conditions/0/list is the value list "bad", which is not known',
    ],
    ["a field beside the others", rule([], { shadow: true }), "/shadow is a field that the semantics do not explain"],
    [
      "a field of a condition beside the others",
      rule([{ ...is("amount", "over", 5), caseInsensitive: true }]),
      "/conditions/0/caseInsensitive is a field that the semantics do not explain",
    ],
    [
      "a field beside a group",
      rule([{ any: [is("amount", "over", 5)], weight: 2 }]),
      "/conditions/0/weight is a field that the semantics do not explain",
    ],
    [
      "a group without conditions",
      rule([{ any: [] }]),
      "/conditions/0/any is a group without conditions, and applies.groups.empty is null",
    ],
    [
      "a range that is turned round",
      rule([is("amount", "range", { min: 5, max: 1 })]),
      "whose lower end is above its upper end",
    ],
    [
      "an unknown word of its outcome",
      rule([], { action: "pause" }),
      '/action is "pause", which outcome.words does not have',
    ],
    ["a number that is none", rule([], { priority: "high" }), '/priority is "high", which is no number'],
    ["a pattern that cannot be read", rule([is("email", "like", "(a")]), 'is the pattern "(a", which cannot be read'],
    [
      "a network with digits behind its prefix",
      rule([is("ip", "within", "10.0.0.1/8")]),
      "which is no network in CIDR notation",
    ],
    ["an IPv4 address in the form of an IPv6 one", rule([is("ip", "is", "::ffff:10.0.0.1")]), "which is no ip"],
  ])("%s", (_, definition, why) => {
    const [reading] = readRules(definition, defineSemantics(basic));
    expect(reading?.kind === "unknown" && reading.faults.map((fault) => `${fault.at} ${fault.why}`)).toEqual([
      expect.stringContaining(why),
    ]);
  });

  test("conditions nested deeper than a definition may be end in a fault, not in an overflow", () => {
    let nested: Json = is("amount", "over", 5);
    for (let level = 0; level < 5_000; level += 1) nested = { not: nested };
    const [reading] = readRules(rule([nested]), defineSemantics(basic));
    expect(reading?.kind === "unknown" && reading.faults[0]?.why).toBe("is nested more than 100 levels deep");
  });

  test("wholly, where a field beside the others may change what all of it means", () => {
    const force = { enabled: { at: "/on", is: [true], isNot: [false] } };
    const shadow = rule([], { action: "allow", on: false, shadow: true });
    expect(decisionOf([shadow, rule([], { on: true })], {}, { force })).toEqual({
      kind: "unknown",
      possible: undefined,
      because: [0, 1],
    });
  });

  test("but one that is read, and disabled, or does not apply, changes nothing", () => {
    const force = { enabled: { at: "/on", is: [true], isNot: [false], without: "enabled" as const } };
    const odd = rule([is("amount", "near", 5)], { priority: 9 });
    expect(decisionOf([odd, rule([])], {}, { force })).toMatchObject({
      kind: "decided",
      outcomes: ["decline"],
      by: [0, 1],
    });
    expect(decisionOf([{ ...odd, action: "allow" }, rule([])], {}, { force })).toEqual({
      kind: "unknown",
      possible: ["accept", "decline"],
      because: [0, 1],
    });
    expect(decisionOf([{ ...odd, action: "allow", on: false }, rule([])], {}, { force })).toEqual({
      kind: "decided",
      outcomes: ["decline"],
      by: [1],
    });
    expect(
      decisionOf([{ ...odd, action: "allow", priority: 1 }, rule([], { priority: 2 })], {}, { force }),
    ).toMatchObject({ outcomes: ["decline"] });
    expect(decisionOf([{ ...odd, action: "pause" }, rule([])], {}, { force })).toEqual({
      kind: "unknown",
      possible: undefined,
      because: [0, 1],
    });
  });
});

describe("a comparison", () => {
  test.each<[JsonObject, JsonObject, string]>([
    [is("amount", "is", "10.00"), { amount: 10 }, "true"],
    [is("amount", "is", 0.1), { amount: "0.1000000000000000055511151231257827" }, "false"],
    [is("amount", "over", "9007199254740993"), { amount: "9007199254740993.000000000000000000001" }, "true"],
    [is("amount", "before", 0), { amount: "-1e-999999" }, "true"],
    [is("amount", "is", 0), { amount: "-0.0" }, "true"],
    [is("amount", "over", 5), { amount: "06" }, "unknown"],
    [is("trusted", "is", true), { trusted: 1 }, "unknown"],
    [is("trusted", "is", true), { trusted: "yes" }, "unknown"],
    [is("country", "is", "de"), { card: { country: "DE" } }, "true"],
    [is("country", "is", "s"), { card: { country: "ſ" } }, "false"],
    [is("email", "is", "A"), { email: "a" }, "false"],
    [is("note", "is", "A"), { note: "a" }, "unknown"],
    [is("note", "is", "A"), { note: "b" }, "false"],
    [is("email", "over", "\uffff"), { email: "\u{10000}" }, "true"],
    [is("time", "is", "2026-01-31T12:00:00Z"), { time: "2026-01-31T13:00:00.000+01:00" }, "true"],
    [is("time", "over", "2026-01-31T12:00:00Z"), { time: "2026-01-31T12:00:00.000000001Z" }, "true"],
    [is("time", "before", "2026-01-31T12:00:00.5Z"), { time: "2026-01-31T12:00:00Z" }, "true"],
    [is("time", "over", "2026-01-31T12:00:00Z"), { time: "2026-02-30T12:00:00Z" }, "unknown"],
    [is("ip", "within", ["10.0.0.0/8", "2001:db8::/32"]), { ip: "2001:DB8:0:0::1" }, "true"],
    [is("ip", "within", "0.0.0.0/0"), { ip: "::1" }, "false"],
    [is("amount", "range", { min: 1, max: 5 }), { amount: 1 }, "true"],
    [is("amount", "range", { min: 1, max: 5 }), { amount: 5 }, "false"],
    [is("email", "lacks", "x"), { email: "abc" }, "true"],
    [{ field: "amount", operator: "over", other: "limit" }, { amount: 5, limit: "4.99" }, "true"],
    [{ field: "trusted", operator: "there" }, { trusted: "odd" }, "true"],
    [{ field: "trusted", operator: "there" }, { trusted: null }, "false"],
    [{ not: is("amount", "is", 5) }, { amount: null }, "unknown"],
    [is("email", "like", "(a+)+$"), { email: `${"a".repeat(5_000)}!` }, "false"],
    [is("email", "like", ".*@shop\\.com"), { email: "a@shop.com.evil" }, "false"],
  ])("%j of %j is %s", (condition, payment, answer) => {
    expect(answered(condition, payment)[0]).toBe(answer);
  });

  test("says why it is not known", () => {
    expect(answered(is("trusted", "is", true), { trusted: 1 })).toEqual([
      "unknown",
      "trusted is 1, which is no boolean",
    ]);
    expect(answered(is("amount", "is", 1), {})).toEqual(["unknown", "the payment has no amount"]);
    expect(answered(is("note", "is", "A"), { note: "a" })).toEqual([
      "unknown",
      "it is not known whether the case of letters counts",
    ]);
  });

  test("of a list means what the semantics say, and nothing where they say nothing", () => {
    const tags = is("tags", "is", "vip");
    expect(answered(tags, { tags: ["new", "vip"] })).toEqual([
      "unread",
      "/conditions/0/value is compared by eq, which has no meaning for a list of text",
    ]);
    expect(answered(tags, { tags: ["new", "vip"] }, { lists: { eq: "anyElement" } })[0]).toBe("true");
    expect(answered(is("tags", "is", ["vip"]), { tags: ["new", "vip"] }, { lists: { eq: "wholeList" } })[0]).toBe(
      "false",
    );
    expect(answered(is("tags", "lacks", "ne"), { tags: ["new"] }, { lists: { contains: "element" } })[0]).toBe("true");
    expect(answered(is("tags", "lacks", "ne"), { tags: ["new"] }, { lists: { contains: "textOfElement" } })[0]).toBe(
      "false",
    );
    expect(answered(tags, { tags: ["vip", 5] }, { lists: { eq: "anyElement" } })[0]).toBe("unknown");
  });

  test("of a missing field is what the semantics say", () => {
    const other = is("amount", "isNot", 5);
    expect(answered(other, {}, { missing: "comparisonFalse" })).toEqual([
      "false",
      "the payment has no amount, which makes the comparison false",
    ]);
    expect(answered({ not: other }, {}, { missing: "comparisonFalse" })[0]).toBe("true");
    expect(answered({ not: other }, {}, { undecidedRule: "noMatch" })[0]).toBe("false");
    const fields = {
      ...basic.payment.fields,
      amount: { at: "/amount", type: "decimal" as const, missing: { value: 5 } },
    };
    expect(answered(other, {}, { payment: { ...basic.payment, fields } })[0]).toBe("false");
  });

  test("by a pattern of another dialect is read only where all dialects read it alike", () => {
    const java = { patterns: { dialect: "java" as const, anchoring: "part" as const } };
    expect(answered(is("email", "like", "^[a-z]+@(shop|store)\\.com$"), { email: "me@shop.com" }, java)[0]).toBe(
      "true",
    );
    for (const pattern of ["a*+", "(?i)a", "\\p{L}", "[a&&b]", "(?<=a)b", "\\bx", "[[a]b]", "(?>a)"])
      expect(answered(is("email", "like", pattern), {}, java)[1], pattern).toContain(
        "not every dialect reads as RE2 does",
      );
    expect(answered(is("email", "like", "a.b"), { email: "a\nb" }, java)[0]).toBe("unknown");
    expect(answered(is("email", "like", "a"), {}, { patterns: null })[1]).toBe(
      "/conditions/0/value is a pattern, and patterns is null",
    );
  });

  test("takes values from a list that another definition holds; a name that two hold is not known", () => {
    const semantics = defineSemantics({ ...basic, valueLists: [{ name: "/listName", values: "/items" }] });
    const list = { listName: "bad", items: ["DE", "FR"] };
    const one = rule([{ field: "country", operator: "oneOf", list: "bad" }]);
    const kindsOf = (all: readonly JsonObject[]): string[] =>
      all
        .flatMap((each) => readRules(each, semantics, { valueLists: valueListsOf(all, semantics) }))
        .map(({ kind }) => kind);
    expect(kindsOf([list, one])).toEqual(["rule"]);
    expect(kindsOf([list, list, one])).toEqual(["unknown"]);
  });
});

describe("a decision", () => {
  const [low, high] = [rule([], { priority: 1 }), rule([is("amount", "over", 5)], { priority: 2, action: "allow" })];

  test("goes by the number, and is unknown only where it matters", () => {
    expect(decisionOf([low, high], { amount: 6 })).toEqual({ kind: "decided", outcomes: ["accept"], by: [1] });
    expect(decisionOf([low, high], { amount: 5 })).toEqual({ kind: "decided", outcomes: ["decline"], by: [0] });
    expect(decisionOf([low, high], {})).toEqual({ kind: "unknown", possible: ["accept", "decline"], because: [0, 1] });
    expect(decisionOf([low, { ...high, action: "block" }], {})).toEqual({
      kind: "decided",
      outcomes: ["decline"],
      by: [0, 1],
    });
    expect(decisionOf([high], { amount: 1 })).toEqual({ kind: "decided", outcomes: ["accept"], by: [] });
    expect(decisionOf([high], { amount: 1 }, { wins: { by: "listed" } })).toMatchObject({ kind: "unknown" });
  });

  test("is a set where all rules that apply count", () => {
    const wins = { by: "all" as const, none: "accept" };
    const both = [low, rule([], { action: "hold", priority: 1 }), rule([], { priority: 3 })];
    const ignored = ["/name", "/priority"];
    expect(decisionOf(both, {}, { wins, ignored })).toEqual({
      kind: "decided",
      outcomes: ["decline", "review"],
      by: [0, 1, 2],
    });
  });

  test("knows when a rule is in force", () => {
    const force = { from: { at: "/from", counts: true }, until: { at: "/until", counts: false } };
    const limited = rule([], { from: "2026-01-01T00:00:00Z", until: "2026-02-01T00:00:00+01:00" });
    const decided = (payment: JsonObject, at?: string) => decisionOf([limited], payment, { force }, at);
    expect(decided({ time: "2026-01-01T00:00:00Z" })).toMatchObject({ outcomes: ["decline"] });
    expect(decided({ time: "2026-01-31T23:00:00Z" })).toMatchObject({ outcomes: ["accept"] });
    expect(decided({ time: "2026-01-31T23:00:00Z" }, "2026-01-15T00:00:00Z")).toMatchObject({ outcomes: ["decline"] });
    expect(decided({})).toMatchObject({ kind: "unknown" });
    expect(() => decided({}, "tomorrow")).toThrow(/tomorrow is no instant/);
  });

  test("can be held against what really happened", () => {
    const semantics = defineSemantics(basic);
    expect(new Payment({ result: "approved" }, semantics).actual()).toBe("accept");
    expect(new Payment({ result: "toString" }, semantics).actual()).toBeUndefined();
  });
});

describe("the semantics that come with the package", () => {
  const load = (name: string) =>
    loadSemantics(fileURLToPath(new URL(`../../sdk/contract/presets/${name}.semantics.yaml`, import.meta.url)));

  /** The outcomes of payments by rules as the service writes them. */
  function outcomesOf(
    name: string,
    rules: readonly JsonObject[],
    payments: readonly JsonObject[],
  ): (string | undefined)[] {
    const semantics = load(name);
    const readings = rules.flatMap((each) => readRules(each, semantics));
    expect(readings.flatMap((each) => (each.kind === "unknown" ? each.faults : []))).toEqual([]);
    return payments.map((payment) => {
      const { decision } = evaluate(payment, readings, semantics);
      return decision.kind === "decided" ? decision.outcomes[0] : undefined;
    });
  }

  test("illustrative: the higher priority is asked first", () => {
    const rules: JsonObject[] = [
      {
        name: "large",
        priority: 1,
        isActive: true,
        conditions: [is("amount", "gt", 1000)],
        actions: [{ type: "review" }],
      },
      {
        name: "trusted",
        priority: 2,
        isActive: true,
        conditions: [is("payer.trusted", "eq", true)],
        actions: [{ type: "accept" }],
      },
    ];
    const payments: JsonObject[] = [
      { amount: 1001, payer: { trusted: false } },
      { amount: 1001, payer: { trusted: true } },
      { amount: 1001 },
    ];
    expect(outcomesOf("illustrative", rules, payments)).toEqual(["review", "accept", undefined]);
  });

  test("whop: allow before block, and an attribute that cannot be read does not match", () => {
    const rules: JsonObject[] = [
      {
        status: "active",
        name: "b",
        action: "block",
        conditions: { all: [is("risk_score", "gte", 85), is("card_country", "neq", "US")] },
      },
      {
        status: "active",
        name: "a",
        action: "allow",
        conditions: { all: [is("customer_email", "ends_with", "@shop.com")] },
      },
      { status: "inactive", name: "c", action: "review", conditions: { all: [is("risk_score", "gte", 0)] } },
    ];
    const risky = { risk_score: 90, card_country: "DE" };
    const payments: JsonObject[] = [risky, { ...risky, customer_email: "me@shop.com" }, { risk_score: 90 }];
    expect(outcomesOf("whop", rules, payments)).toEqual(["decline", "accept", undefined]);
  });

  test("decision-engine: the first rule of a program that holds, and what is missing is never different", () => {
    const compare = (lhs: string, comparison: string, type: string, value: Json) => ({
      lhs,
      comparison,
      value: { type, value },
      metadata: {},
    });
    const program: JsonObject = {
      name: "routes",
      algorithm_data: {
        type: "advanced",
        data: {
          globals: {},
          default_selection: { single: { gateway_name: "other" } },
          rules: [
            {
              name: "cards",
              routing_type: "priority",
              output: { single: { gateway_name: "stripe" } },
              statements: [
                {
                  condition: [compare("amount", "greater_than", "number", 100)],
                  nested: [
                    {
                      condition: [compare("payment_method", "equal", "enum_variant_array", ["card", "wallet"])],
                      nested: null,
                    },
                  ],
                },
              ],
            },
            {
              name: "rest",
              routing_type: "priority",
              output: { single: { gateway_name: "adyen" } },
              statements: [
                { condition: [compare("payment_method", "not_equal", "enum_variant", "card")], nested: null },
              ],
            },
          ],
        },
      },
    };
    const payments: JsonObject[] = [
      { amount: 101, payment_method: "card" },
      { amount: 5, payment_method: "bank" },
      { amount: 5 },
    ];
    expect(outcomesOf("decision-engine", [program], payments)).toEqual(["stripe", "adyen", undefined]);
  });

  test("wiremock: the lowest priority is asked first, and a filter is not read", () => {
    const stub = (bodyPatterns: Json, decision: string, more: JsonObject) => ({
      name: decision,
      request: { method: "POST", urlPath: "/payments", bodyPatterns },
      response: { status: 200, jsonBody: { decision } },
      ...more,
    });
    const german = stub([{ matchesJsonPath: { expression: "$.card.country", equalTo: "DE" } }], "decline", {
      priority: 1,
    });
    const rest = stub([], "allow", {});
    expect(
      outcomesOf(
        "wiremock",
        [rest, german],
        [{ card: { country: "DE" } }, { card: { country: "FR" } }, { card: { country: 5 } }],
      ),
    ).toEqual(["decline", "accept", undefined]);
    const odd: JsonObject[] = [
      stub([{ matchesJsonPath: "$[?(@.amount > 100)]" }], "decline", {}),
      { ...rest, request: { method: "POST", urlPath: "/payments", headers: {} } },
      { ...rest, request: { method: "GET", urlPath: "/payments" } },
    ];
    for (const each of odd) expect(readRules(each, load("wiremock"))[0]?.kind).toBe("unknown");
  });
});
