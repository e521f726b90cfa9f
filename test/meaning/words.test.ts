import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Semantics } from "../../meaning/index.ts";
import {
  defineSemantics,
  evaluate,
  readRules,
  ruleWords,
  type SemanticsInput,
  shortWords,
} from "../../meaning/index.ts";
import type { Condition, Operand, Rule, RuleReading } from "../../meaning/language/normal-form.ts";
import { plainOperator } from "../../meaning/language/schema-conditions.ts";
import { operatorNames } from "../../meaning/language/schema-words.ts";
import { mostOfWords } from "../../meaning/words/short-words.ts";
import type { Json, JsonObject } from "../../sdk/json/index.ts";
import { blindMask } from "../../sdk/json/index.ts";
import { definitionOf, instant, paymentFor, rulesFor, semanticsOf, world } from "./random.ts";
import { readWords } from "./words-reader.ts";

const runs = process.env.FUZZ_RUNS === undefined ? 1000 : 20_000;
/** Beside the fields of `random.ts`: names that words could misread. */
const spelling: Record<string, string> = { a: "card_country", b: "card.country.code", c: "is and", d: "amountInUSD" };

const cases = world.chain((of) =>
  fc.record({
    world: fc.constant(of),
    rules: rulesFor(of, 3),
    payments: fc.array(paymentFor(of), { minLength: 1, maxLength: 3 }),
    at: instant,
    ordered: fc.record({
      fromCounts: fc.boolean(),
      untilCounts: fc.boolean(),
      pattern: fc.constantFrom("whole", "part"),
    }),
    // What `random.ts` seldom makes.
    rare: fc.array(
      fc.record(
        {
          field: fc.constantFrom("a", "b"),
          op: fc.constantFrom("in", "notIn", "eq", "ne", "gt", "lte", "contains"),
          list: fc.constantFrom("first", "second"),
          other: fc.constantFrom("c", "d"),
        },
        { requiredKeys: ["field", "op"] },
      ),
      { maxLength: 2 },
    ),
    patterns: fc.array(
      fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.constantFrom("^a+$", 'x"y', "a, b and c", "\\d{2}\\.")),
      {
        maxLength: 2,
      },
    ),
  }),
);

test("words are read back as the rule that they say, which decides as the rule does", () => {
  const seen = { read: 0, groups: 0, nots: 0, patterns: 0, lists: 0, fields: 0, ordered: 0, bounds: 0 };
  fc.assert(
    fc.property(cases, ({ world: of, rules, payments, at, ordered, patterns, rare }) => {
      const semantics = otherwise(semanticsOf(of), ordered);
      const valueLists = new Map(Object.entries(of.valueLists)) as Map<string, readonly Json[]>;
      for (const rule of rules) {
        const { conditions, ...rest } = definitionOf(rule);
        const more = [...rare, ...patterns.map(([field, value]) => ({ field, op: "matches", value }))];
        const spelt = respelt([...(conditions as Json[]), ...more]) as Json[];
        for (const reading of readRules({ ...rest, conditions: spelt }, semantics, { valueLists })) {
          if (reading.kind !== "rule") continue;
          const words = ruleWords(reading, semantics);
          const read = readWords(words, semantics, valueLists);
          expect(plainRule(read, semantics), words).toEqual(plainRule(reading.rule, semantics));
          // The plain form is this test's own, so what it calls the same must also decide alike.
          const again: RuleReading = { kind: "rule", rule: read };
          expect(readWords(ruleWords(again, semantics), semantics, valueLists)).toEqual(read);
          for (const payment of payments)
            expect(evaluate(payment, [again], semantics, { at }).rules[0]?.applies, words).toBe(
              evaluate(payment, [reading], semantics, { at }).rules[0]?.applies,
            );
          seen.read += 1;
          if (/[( ]\(/.test(words.replace(/ \(\w+ -?\d+\)$/, ""))) seen.groups += 1;
          if (words.includes("not (")) seen.nots += 1;
          if (words.includes("match")) seen.patterns += 1;
          if (words.includes("the list ")) seen.lists += 1;
          if (words.includes("the payment's ")) seen.fields += 1;
          if (/ [<>]=? /.test(words)) seen.ordered += 1;
          if (/^(?:disabled, )?(?:from|after|until|before) /.test(words)) seen.bounds += 1;
        }
      }
    }),
    { numRuns: runs },
  );
  // The cases are worth something only where every kind of words is among them.
  for (const [what, count] of Object.entries(seen)) expect([what, count > 5]).toEqual([what, true]);
});

describe("the words of a rule", () => {
  const described = {
    version: 1,
    applies: {
      at: "/if",
      list: "all",
      without: "always",
      groups: { all: ["all"], any: ["any"], not: ["not"], empty: "asLogic" },
      conditions: [{ field: "/f", operator: { at: "/is" }, value: "/v", valueList: "/list", valueField: "/other" }],
      operators: {
        ...Object.fromEntries(operatorNames.map((each) => [each, each])),
        between: { is: "between", ends: "both" },
        inside: { is: "between", ends: "none" },
        below: { is: "between", ends: "lower" },
        like: { is: "contains", ignoresCase: true },
      },
    },
    ignored: ["/name"],
    force: {
      enabled: { at: "/on", is: [true], isNot: [false], without: "enabled" },
      from: { at: "/from", counts: true },
      until: { at: "/to", counts: false },
    },
    outcome: { at: "/does", words: { block: "decline", ask: "review", pass: "accept" }, named: true },
    wins: { by: "order", order: { at: "/priority", first: "highest" }, none: "accept" },
    payment: {
      time: "created.at",
      fields: {
        amount: { at: "/amount", type: "decimal" },
        card_country: { at: "/card/country", type: "text", ignoresCase: false },
        billingCountry: { at: "/billing/country", type: "text", ignoresCase: false },
        ip: { at: "/ip", type: "ip" },
        "created.at": { at: "/at", type: "instant" },
        trusted: { at: "/trusted", type: "boolean" },
        tags: { at: "/tags", type: "text", list: true },
      },
    },
    lists: { eq: "anyElement", contains: "element" },
    patterns: { dialect: "re2", anchoring: "part" },
    valueLists: [{ name: "/name", values: "/values" }],
  } satisfies SemanticsInput;
  const semantics = defineSemantics(described);
  const wordsOf = (...conditions: Json[]): string => wordsOfRule({ if: conditions });
  const wordsOfRule = (rule: JsonObject): string => {
    const valueLists = new Map([["eu", ["AT", "DE"]]]);
    const [reading] = readRules({ does: "block", priority: 20, ...rule }, semantics, { valueLists });
    return reading === undefined ? "" : ruleWords(reading, semantics);
  };

  test.each([
    [
      "amount > 10,000 and card country is not DE, AT",
      [
        { f: "amount", is: "gt", v: 1e4 },
        { f: "card_country", is: "notIn", v: ["DE", "AT"] },
      ],
    ],
    ["amount <= 9999.5", [{ f: "amount", is: "lte", v: "9999.50" }]],
    ["amount is 411111", [{ f: "amount", is: "eq", v: 411111 }]],
    ["amount > 1,000,000,000,000,000,000,000.01", [{ f: "amount", is: "gt", v: "1000000000000000000000.010" }]],
    ["amount > 1.5e30", [{ f: "amount", is: "gt", v: 1.5e30 }]],
    ["amount >= -0.001", [{ f: "amount", is: "gte", v: -0.001 }]],
    ["amount is from 10 to 20,000", [{ f: "amount", is: "between", v: [10, 20000] }]],
    ["amount is from over 10 to under 20", [{ f: "amount", is: "inside", v: [10, 20] }]],
    ["amount is from 10 to under 20", [{ f: "amount", is: "below", v: [10, 20] }]],
    [
      'card country is one of DE, "", "a, b", "not", "Trinidad and Tobago", "\\u202e"',
      [{ f: "card_country", is: "in", v: ["DE", "", "a, b", "not", "Trinidad and Tobago", "\u202e"] }],
    ],
    ["card country is one of nothing", [{ f: "card_country", is: "in", v: [] }]],
    ['card country is not in the list "eu"', [{ f: "card_country", is: "notIn", list: "eu" }]],
    ["billing country is not the payment's card country", [{ f: "billingCountry", is: "ne", other: "card_country" }]],
    ["card country contains D ignoring case", [{ f: "card_country", is: "like", v: "D" }]],
    ['card country matches "^\\\\d+$" in a part', [{ f: "card_country", is: "matches", v: "^\\d+$" }]],
    [
      "card country exists and amount is missing",
      [
        { f: "card_country", is: "exists" },
        { f: "amount", is: "absent" },
      ],
    ],
    ["ip is in 10.0.0.0/8, 2001:db8::/32", [{ f: "ip", is: "inCidr", v: ["10.0.0.0/8", "2001:DB8:0::/32"] }]],
    ["created at is not before 2026-01-31 11:00 UTC", [{ f: "created.at", is: "gte", v: "2026-01-31T12:00:00+01:00" }]],
    ["created at is after 2026-01-31 12:00:00.5 UTC", [{ f: "created.at", is: "gt", v: "2026-01-31T12:00:00.50Z" }]],
    ["trusted is true", [{ f: "trusted", is: "eq", v: true }]],
    [
      "tags has vip and tags has none of b, c",
      [
        { f: "tags", is: "contains", v: "vip" },
        { f: "tags", is: "notIn", v: ["b", "c"] },
      ],
    ],
    [
      "amount > 5 and (trusted is true or not (amount < 9))",
      [
        { f: "amount", is: "gt", v: 5 },
        { any: [{ f: "trusted", is: "eq", v: true }, { not: { f: "amount", is: "lt", v: 9 } }] },
      ],
    ],
  ] as [string, Json[]][])("declines when %s", (words, conditions) => {
    expect(wordsOf(...conditions)).toBe(`declines when ${words} (priority 20)`);
  });

  test("say when it is in force, what it decides, and that it always or never does", () => {
    expect(wordsOfRule({ does: "pass" })).toBe("always accepts (priority 20)");
    expect(wordsOfRule({ does: "ask", if: [{ any: [] }] })).toBe("never reviews (priority 20)");
    expect(wordsOfRule({ does: "adyen", on: false, from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:30Z" })).toBe(
      "disabled, from 2026-01-01 00:00 UTC before 2026-02-01 00:00:30 UTC: always gives adyen (priority 20)",
    );
  });

  test("name the first place that the semantics do not explain, in a phrase", () => {
    expect(wordsOf({ f: "nobody", is: "eq", v: 1 }, { f: "amount", is: "near", v: 1 })).toBe(
      'cannot be read: /if/0/f is "nobody", which payment.fields does not have, and 1 more place',
    );
    expect(wordsOf({ f: "amount", is: "gt", v: blindMask })).toBe(
      'cannot be read: /if/0/v is "[secret]", which is no decimal',
    );
  });

  test("on one line are cut: first long lists, then the end, each with how much is left out", () => {
    const bins = Array.from({ length: 400 }, (_, index) => 400000 + index);
    const long = wordsOf({ f: "amount", is: "in", v: bins }, { f: "trusted", is: "eq", v: true });
    expect(long.length).toBeGreaterThan(3000);
    expect(shortWords(long)).toBe(
      "declines when amount is one of 400000, 400001, 400002, 400003, 400004 and 395 more and trusted is true (priority 20)",
    );
    const many = wordsOf(...Array.from({ length: 60 }, (_, index) => ({ f: "amount", is: "ne", v: index })));
    const cut = shortWords(many);
    expect(cut.length).toBeLessThanOrEqual(mostOfWords);
    const [, kept = "", left = ""] = /^(.*) \.\.\. \(and (\d+) more characters\)$/.exec(cut) ?? [];
    expect(many.startsWith(kept)).toBe(true);
    expect(kept.length + Number(left)).toBe(many.length);
    expect(shortWords(wordsOf({ f: "card_country", is: "eq", v: `${"x, ".repeat(40)}` }))).toContain(
      "x, x, x, x, x, x, ",
    );
  });
});

/** The same semantics with the fields' other names, and what `random.ts` does not vary. */
test("a field's name does not end like what is said of the case of letters", () => {
  const text = { type: "text", ignoresCase: false } as const;
  const semantics = defineSemantics({
    version: 1,
    applies: {
      at: "/if",
      list: "all",
      without: "always",
      conditions: [{ field: "/f", operator: { at: "/is" }, valueField: "/of" }],
      operators: { is: "eq", alike: { is: "eq", ignoresCase: true } },
    },
    outcome: { at: "/do", words: { block: "decline" } },
    wins: { by: "listed", none: "accept" },
    payment: {
      fields: {
        country: { at: "/c", ...text },
        b: { at: "/b", ...text },
        b_ignoring_case: { at: "/i", ...text },
        b_with_exact_case: { at: "/e", ...text },
      },
    },
  });
  const wordsOf = (is: string, of: string): string[] =>
    readRules({ do: "block", if: [{ f: "country", is, of }] }, semantics).map((rule) => ruleWords(rule, semantics));
  const all = [wordsOf("alike", "b"), wordsOf("is", "b_ignoring_case"), wordsOf("is", "b_with_exact_case")].flat();
  expect(all).toEqual([
    "declines when country is the payment's b ignoring case",
    'declines when country is the payment\'s "b_ignoring_case"',
    'declines when country is the payment\'s "b_with_exact_case"',
  ]);
});

function otherwise(
  semantics: Semantics,
  by: { fromCounts: boolean; untilCounts: boolean; pattern: string },
): Semantics {
  const { fields } = semantics.payment;
  const { from, until } = semantics.force;
  return {
    ...semantics,
    applies: { ...semantics.applies, operators: { ...semantics.applies.operators, matches: plainOperator("matches") } },
    payment: {
      ...semantics.payment,
      fields: Object.fromEntries(Object.entries(fields).map(([name, field]) => [spelling[name] ?? name, field])),
    },
    force: {
      ...semantics.force,
      from: from && { ...from, counts: by.fromCounts },
      until: until && { ...until, counts: by.untilCounts },
    },
    patterns: { dialect: "re2", anchoring: by.pattern === "whole" ? "whole" : "part" },
  };
}

/** Conditions with the fields' other names. */
function respelt(conditions: Json): Json {
  if (Array.isArray(conditions)) return conditions.map(respelt);
  if (typeof conditions !== "object" || conditions === null) return conditions;
  return Object.fromEntries(
    Object.entries(conditions).map(([name, value]) => [
      name,
      (name === "field" || name === "other") && typeof value === "string"
        ? (spelling[value] ?? value)
        : name === "value"
          ? value
          : respelt(value),
    ]),
  );
}

/** A rule without what its words do not say. */
function plainRule(rule: Rule, semantics: Semantics): Rule {
  return { ...rule, when: plainCondition(rule.when, semantics) };
}

function plainCondition(condition: Condition, semantics: Semantics): Condition {
  switch (condition.kind) {
    case "always":
    case "never":
      return { kind: condition.kind, at: "" };
    case "not":
      return { kind: "not", at: "", of: plainCondition(condition.of, semantics) };
    case "all":
    case "any": {
      const { kind } = condition;
      const of = condition.of
        .map((each) => plainCondition(each, semantics))
        .flatMap((each) => (each.kind === kind ? each.of : [each]));
      const [only] = of;
      return of.length === 1 && only !== undefined ? only : { kind, at: "", of };
    }
    case "comparison": {
      const { field, operand } = condition;
      const described = semantics.payment.fields[field];
      const opposites = { ne: "eq", notIn: "in", absent: "exists" } as const;
      const orders = { gt: "lte", gte: "lt", lt: "gte", lte: "gt" } as const;
      let { operator, isNegated, ignoresCase } = condition;
      let plain: Operand = operand;
      if (operator in opposites) [operator, isNegated] = [opposites[operator as "ne"], !isNegated];
      if (isNegated && operator in orders) [operator, isNegated] = [orders[operator as "gt"], false];
      const [only] = operand.kind === "values" ? operand.values : [];
      const isWhole = described?.list === true && semantics.lists.eq === "wholeList";
      if (operand.kind === "values" && operand.values.length === 1 && only !== undefined && !isWhole)
        [operator, plain] = ["eq", { kind: "value", value: only }];
      if (
        described?.list === true &&
        operator === "eq" &&
        plain.kind !== "values" &&
        semantics.lists.contains === "element"
      )
        operator = "contains";
      if (operand.kind === "none") ignoresCase = false;
      return {
        kind: "comparison",
        at: "",
        field,
        operator,
        isNegated,
        ignoresCase,
        operand: plain,
        written: undefined,
      };
    }
  }
}
