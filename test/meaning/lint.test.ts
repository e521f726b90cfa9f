import { describe, expect, test } from "vitest";
import { defineSemantics, readRules, type SemanticsInput } from "../../meaning/index.ts";
import { readValue } from "../../meaning/language/values.ts";
import type { LintResult } from "../../meaning/lint/finding.ts";
import { lint } from "../../meaning/lint/lint.ts";
import type { JsonObject } from "../../sdk/json/index.ts";

const input: SemanticsInput = {
  version: 1,
  applies: {
    at: "/when",
    list: "all",
    without: "always",
    groups: { all: ["all"], any: ["any"], not: ["not"] },
    conditions: [{ field: "/0", operator: { at: "/1" }, value: "/2" }],
    operators: {
      is: "eq",
      not: "ne",
      in: "in",
      out: "notIn",
      over: "gt",
      under: "lt",
      least: "gte",
      most: "lte",
      starts: "startsWith",
      ends: "endsWith",
      like: "matches",
      network: "inCidr",
      there: "exists",
      absent: "absent",
    },
  },
  patterns: { dialect: "re2", anchoring: "part" },
  force: { from: { at: "/from", counts: true }, until: { at: "/until", counts: false }, clock: "now" },
  outcome: { at: "/then", words: { accept: "accept", decline: "decline", review: "review" } },
  wins: { by: "order", order: { at: "/number", first: "lowest" }, none: "accept" },
  payment: {
    fields: {
      amount: { at: "/amount", type: "decimal" },
      country: { at: "/country", type: "text" },
      bin: { at: "/card/bin", type: "text", ignoresCase: false },
      email: { at: "/email", type: "text", ignoresCase: true },
      ip: { at: "/ip", type: "ip" },
      trusted: { at: "/trusted", type: "boolean" },
      created: { at: "/created", type: "instant" },
      tags: { at: "/tags", type: "text", ignoresCase: false, list: true },
    },
  },
  missing: "comparisonFalse",
  lists: { eq: "anyElement", contains: "element" },
};

type Written = readonly [when: readonly unknown[], then: string, more?: JsonObject];

function found(rules: readonly Written[], more: Partial<SemanticsInput> = {}): LintResult {
  const semantics = defineSemantics({ ...input, ...more });
  // A condition is a list of three here; the semantics' shapes are of objects.
  const object = (condition: unknown): unknown => {
    if (Array.isArray(condition)) return Object.fromEntries(condition.map((part, index) => [String(index), part]));
    return Object.fromEntries(
      Object.entries(condition as JsonObject).map(([kind, inside]) => [
        kind,
        kind === "not" ? object(inside) : (inside as unknown as unknown[]).map(object),
      ]),
    );
  };
  const readings = rules.flatMap(([when, then, rest = {}], index) =>
    readRules({ number: index, when: when.map(object), then, ...rest } as JsonObject, semantics),
  );
  expect(readings.map((reading) => (reading.kind === "unknown" ? reading.faults : []))).toEqual(rules.map(() => []));
  const [at, soon] = ["2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z"].map((text) => readValue(text, "instant"));
  if (at === undefined) throw new Error("that is an instant");
  return lint({ rules: readings }, semantics, { at, soon });
}

function told(result: LintResult): unknown[] {
  return result.findings.map(({ kind, rule, others }) => [kind, rule, ...others]);
}

const over = (amount: number) => ["amount", "over", amount];
const from = (...countries: string[]) => ["country", "in", countries];

describe("known faults are found", () => {
  const faults: [name: string, rules: Written[], expected: unknown[]][] = [
    [
      "shadowed by two together",
      [
        [[over(100)], "decline"],
        [[["amount", "most", 100]], "accept"],
        [[["amount", "least", 50], from("DE")], "review"],
      ],
      [["shadowed", 2, 0, 1]],
    ],
    [
      "shadowed by one, of more than its fields say",
      [
        [[{ any: [over(10), from("AT", "DE")] }], "decline"],
        [
          [
            ["country", "is", "DE"],
            ["trusted", "is", true],
          ],
          "accept",
        ],
      ],
      [["shadowed", 1, 0]],
    ],
    [
      "shadowed by networks that make up a larger one",
      [
        [[["ip", "network", "10.0.0.0/9"]], "decline"],
        [[["ip", "network", "10.128.0.0/9"]], "review"],
        [[["ip", "network", "10.0.0.0/8"]], "accept"],
      ],
      [["shadowed", 2, 0, 1]],
    ],
    [
      "shadowed by a shorter beginning",
      [
        [[["bin", "starts", "4000"]], "decline"],
        [[["bin", "starts", "400012"], over(5)], "review"],
      ],
      [["shadowed", 1, 0]],
    ],
    [
      "contradictory by networks",
      [
        [
          [
            ["ip", "network", "10.0.0.0/8"],
            ["ip", "network", "192.168.0.0/16"],
          ],
          "decline",
        ],
      ],
      [["never-matches", 0]],
    ],
    [
      "contradictory by a range, in a group",
      [[[{ all: [over(100), ["amount", "under", 100]] }, from("DE")], "decline"]],
      [["never-matches", 0]],
    ],
    [
      "contradictory by presence",
      [[[{ not: ["email", "there"] }, ["email", "ends", "@example.com"]], "decline"]],
      [["never-matches", 0]],
    ],
    [
      "never by date, ended, and ending soon",
      [
        [[over(1)], "decline", { from: "2027-01-01T00:00:00Z", until: "2026-12-01T00:00:00Z" }],
        [[over(2)], "decline", { until: "2026-06-01T00:00:00Z" }],
        [[over(3)], "decline", { until: "2026-06-20T00:00:00Z" }],
      ],
      [
        ["never-matches", 0],
        ["ended", 1],
        ["ends-soon", 2],
      ],
    ],
    [
      "twice, in other words",
      [
        [[from("DE", "AT"), over(10)], "decline"],
        [[over(20), from("FR")], "review"],
        [[{ not: ["amount", "most", 10] }, ["amount", "there"], { any: [from("AT"), from("DE")] }], "decline"],
      ],
      [["duplicate", 2, 0]],
    ],
    [
      "of one number with another outcome",
      [
        [[over(100)], "decline", { number: 7 }],
        [[from("DE")], "accept", { number: 7 }],
        [[], "review", { number: 8 }],
      ],
      [
        ["catch-all", 2],
        ["order-conflict", 1, 0],
      ],
    ],
    [
      "shadowed by a pattern, which it has too",
      [
        [[["email", "like", "@(spam|scam)[.]example$"]], "decline"],
        [[["email", "like", "@(spam|scam)[.]example$"], over(10)], "review"],
      ],
      [["shadowed", 1, 0]],
    ],
    [
      "one that applies to all, value by value",
      [
        [
          [
            {
              any: [
                ["trusted", "is", true],
                ["trusted", "is", false],
                ["trusted", "absent"],
              ],
            },
          ],
          "accept",
        ],
      ],
      [["catch-all", 0]],
    ],
    [
      "behind one without conditions",
      [
        [[], "accept"],
        [[over(10)], "decline"],
      ],
      [
        ["catch-all", 0],
        ["shadowed", 1, 0],
      ],
    ],
  ];

  test.each(faults)("%s", (_, rules, expected) => {
    const result = found(rules);
    expect(told(result)).toEqual(expected);
    expect(result.notExamined).toEqual([]);
    for (const { kind, witness } of result.findings) expect(witness === undefined).toBe(kind === "never-matches");
  });

  test("the conditions that contradict each other are named, and no others", () => {
    const [finding] = found([
      [[from("DE"), ["amount", "under", 5], ["trusted", "is", true], over(5)], "decline"],
    ]).findings;
    expect(finding?.because.map((condition) => condition.at)).toEqual(["/when/1", "/when/3"]);
  });

  test("what the semantics do not tell of a payment without a field is said", () => {
    const more = { missing: "unknown", undecidedRule: "unknown" } as const;
    const [finding] = found(
      [
        [[over(5)], "decline"],
        [[over(10), from("DE")], "accept"],
      ],
      more,
    ).findings;
    expect([finding?.kind, finding?.untold]).toEqual(["shadowed", ["amount", "country"]]);
    const [sure] = found([
      [[over(5)], "decline"],
      [[over(10), from("DE")], "accept"],
    ]).findings;
    expect([sure?.kind, sure?.untold]).toEqual(["shadowed", []]);
  });
});

describe("clean rules have no finding", () => {
  const clean: [name: string, rules: Written[], more?: Partial<SemanticsInput>][] = [
    [
      "neighbouring ranges",
      [
        [[over(100)], "decline"],
        [[["amount", "most", 100]], "accept"],
      ],
    ],
    [
      "a gap of one value",
      [
        [[over(100)], "decline"],
        [[["amount", "under", 100]], "accept"],
        [[["amount", "least", 50]], "review"],
      ],
    ],
    [
      "a gap of what is missing",
      [
        [[over(100)], "decline"],
        [[["amount", "most", 100]], "accept"],
        [[{ not: over(500) }], "review"],
      ],
    ],
    [
      "a gap of a value of another letter case, which may be the same",
      [
        [[from("de")], "decline"],
        [[from("DE")], "review"],
      ],
    ],
    [
      "a gap of one address",
      [
        [[["ip", "network", "10.0.0.0/31"]], "decline"],
        [[["ip", "network", "10.0.0.2/31"]], "decline"],
        [[["ip", "network", "10.0.0.0/29"]], "review"],
      ],
    ],
    [
      "patterns, of which nothing is known",
      [
        [[["email", "like", "a"]], "decline"],
        [[["email", "like", "ab"]], "review"],
      ],
    ],
    [
      "lists, of which an element may be both",
      [
        [
          [
            ["tags", "is", "a"],
            ["tags", "is", "b"],
          ],
          "decline",
        ],
        [[["tags", "in", ["a"]], over(5)], "review"],
      ],
    ],
    [
      "an earlier rule that is in force for a time only",
      [
        [[over(5)], "decline", { until: "2027-01-01T00:00:00Z" }],
        [[over(10)], "review"],
      ],
    ],
    [
      "an earlier rule that is not yet in force",
      [
        [[over(5)], "decline", { from: "2027-01-01T00:00:00Z" }],
        [[over(10)], "review", { until: "2028-01-01T00:00:00Z" }],
      ],
    ],
    [
      "no order at all: all rules count",
      [
        [[over(5)], "decline"],
        [[over(10)], "review"],
      ],
      { wins: { by: "all", none: "accept" }, ignored: ["/number"] },
    ],
    [
      "one number, and rules that share no payment",
      [
        [[over(100)], "decline", { number: 7 }],
        [[["amount", "under", 5]], "accept", { number: 7 }],
      ],
    ],
    [
      "one number, decided by an earlier rule where both apply",
      [
        [[over(100), from("FR")], "review", { number: 1 }],
        [[over(90), from("FR")], "decline", { number: 7 }],
        [[over(100)], "accept", { number: 7 }],
      ],
    ],
    [
      "an earlier rule that hides it only where the case of letters counts",
      [
        [[["country", "is", "DE"], over(10)], "decline"],
        [
          [
            {
              any: [
                {
                  all: [
                    ["country", "is", "DE"],
                    ["country", "is", "de"],
                  ],
                },
                { all: [["country", "is", "DE"], over(10)] },
              ],
            },
          ],
          "review",
        ],
      ],
    ],
    [
      "a contradiction only where the case of letters counts",
      [
        [
          [
            ["country", "is", "DE"],
            ["country", "is", "de"],
          ],
          "decline",
        ],
      ],
    ],
    [
      "two of which one hides it, and nobody can tell which",
      [
        [[["country", "is", "de"]], "decline"],
        [[["country", "not", "de"]], "review"],
        [[from("DE", "de")], "accept"],
      ],
    ],
    [
      "a gap between a capital letter and the small one, which are not alike",
      [
        [[["bin", "is", "A"]], "decline"],
        [[["bin", "is", "a"]], "decline"],
        [
          [
            ["bin", "least", "A"],
            ["bin", "most", "a"],
          ],
          "review",
        ],
      ],
    ],
    [
      "the later of two is wider",
      [
        [[over(10), from("DE")], "decline"],
        [[over(10)], "review"],
      ],
    ],
  ];

  test.each(clean)("%s", (_, rules, more) => {
    const result = found(rules, more);
    expect(told(result)).toEqual([]);
    expect(result.notExamined).toEqual([]);
  });

  test("a rule that cannot be examined is counted, and no claim is made", () => {
    const { findings, notExamined, disabled } = found(
      [
        [[], "decline", { on: false }],
        [[{ any: [["bin", "like", "^[[:alpha:]]{3}$"]] }], "decline"],
        [[["bin", "like", "^[[:alpha:]]{3}$"], over(5)], "review"],
      ],
      { force: { ...input.force, enabled: { at: "/on", is: [true], isNot: [false], without: "enabled" } } },
    );
    expect(findings).toEqual([]);
    expect(disabled).toEqual([0]);
    expect(notExamined).toEqual([{ rule: 2, why: "no payment that it applies to could be made" }]);
  });
});
