import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Secret } from "@pulumi/policy";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { defineSemantics, evaluate as evaluateRules, readRules, type SemanticsInput } from "../../meaning/index.ts";
import { acceptedPayments, acceptedPaymentsAt, acceptedPaymentsShown } from "../../policy/accepted-payments.ts";
import type { Json, JsonObject } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";
import { ask, type Declared, evaluate, ruleSet, shownByHost, unknown } from "./evaluate.ts";
import { described, limit, semanticsFile } from "./payments.ts";
import { ciphertext, plaintext, stackExport } from "./stack-export.ts";

const set = (rules: Record<string, unknown>): Declared => ruleSet("all", rules);

/** What both policies say of a change. */
async function judged(before: readonly Declared[], after: readonly Declared[], more: Record<string, unknown> = {}) {
  const config = { baseline: stackExport(before), semantics: semanticsFile(), ...more };
  const { violations, notApplicable } = await evaluate(acceptedPayments, after, config);
  const { violations: open } = await evaluate(acceptedPaymentsShown, after);
  return { violations, open, notApplicable };
}

const nothing = { violations: [], open: [], notApplicable: [] };
const night = limit(500);
const vip = { do: "pass", priority: 20, if: [{ f: "country", is: "is", v: "DE" }] };

describe("accepted-payments passes", () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["where nothing changes", { night }, { night }],
    ["a rule that declines and is new", { night }, { night, more: limit(400) }],
    ["a rule that declines more", { night }, { night: limit(100) }],
    ["a rule that accepts and is gone", { night, vip }, { night }],
    ["a note that changes", { night }, { night: { ...night, note: "why" } }],
    ["a rule under another key", { night }, { other: night }],
    ["a rule that declines and is covered by another", { night, more: limit(600) }, { night }],
    ["a rule that accepts what is accepted", { night }, { night, small: { ...limit(5), do: "pass", priority: 1 } }],
  ])("%s", async (_, before, after) => {
    expect(await judged([set(before)], [set(after)])).toEqual(nothing);
  });
});

test("a value list that changes under a rule which cannot be read leaves open what is accepted", async () => {
  const semantics = semanticsFile({ valueLists: [{ name: "/listName", values: "/values" }] });
  const eu = (...values: string[]) => ({ listName: "eu", values });
  const odd = { do: "block", priority: 10, speed: 1, if: [{ f: "country", is: "in", list: "eu" }] };
  const was = [set({ odd, eu: eu("DE", "FR") })];
  const { violations, open } = await judged(was, [set({ odd, eu: eu("FR") })], { semantics });
  expect(violations).toEqual([]);
  expect(open).toEqual([expect.stringContaining("no proof, because odd cannot be read")]);
  expect(await judged(was, was, { semantics })).toEqual(nothing);
});

test("a resource whose connection is not known yet is taken to stay where it is, and a new one takes no part", async () => {
  const at = (connection: unknown, over: number, name = "all"): Declared =>
    ruleSet(name, { night: limit(over) }, { props: { connection } });
  const said = async (...after: Declared[]) => (await judged([at("shop", 500)], after)).violations;
  expect(await said(at(unknown, 500))).toEqual([]);
  expect(await said(at(unknown, 900))).toEqual([expect.stringContaining("over connection shop")]);
  expect(await said(at("shop", 500), { ...at(unknown, 900, "more") })).toEqual([]);
});

describe("accepted-payments refuses, with a payment that shows it,", () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>, RegExp]>([
    [
      "a rule that declines less, at the rule",
      { night },
      { night: limit(700) },
      /^all: night: found more accepted payments, such as \{"amount":\S+\} \(before: decline by night, which declines when amount > 500 \(priority 10\); now: accept, as no rule applies\), allowed changes by which no more payments are accepted, or their rules in allowed$/,
    ],
    [
      "a rule that declines and is gone",
      { night },
      {},
      /^stack: the stack: found more accepted payments, such as \{"amount":\S+\} \(before: decline by night, .*; now: accept, as no rule applies\)/,
    ],
    [
      "a rule that declines and ends, at a time",
      { night },
      { night: { ...night, until: "2027-01-01T00:00:00Z" } },
      /^all: night: found more accepted payments, such as \{"amount":\S+\} at 2027-01-01T/,
    ],
    [
      "a rule that accepts and is new before one that declines",
      { night },
      { night, vip },
      /^all: vip: found more accepted payments, such as \{.*\} \(before: decline by night, .*; now: accept by vip, which accepts when country is DE \(priority 20\)\)/,
    ],
    [
      "a rule that accepts and is moved before one that declines",
      { night, vip: { ...vip, priority: 5 } },
      { night, vip },
      /^all: vip: found more accepted payments/,
    ],
  ])("%s", async (_, before, after, message) => {
    const { violations, open } = await judged([set(before)], [set(after)]);
    expect(violations).toEqual([expect.stringMatching(message)]);
    expect(open).toEqual([]);
  });

  test("by the payment of each connection by itself", async () => {
    const at = (connection: string, rules: Record<string, unknown>): Declared =>
      ruleSet(connection, rules, { props: { connection } });
    const before = [at("shop", { night }), at("kiosk", { night })];
    const { violations } = await judged(before, [at("shop", { night }), at("kiosk", { night: limit(501) })]);
    expect(violations).toEqual([
      expect.stringMatching(/^kiosk: night: found more accepted payments over connection kiosk, /),
    ]);
  });
});

describe("what cannot be shown is advice of accepted-payments-shown, and stops nothing:", () => {
  test("a rule that the semantics do not explain", async () => {
    const odd = { ...limit(400), speed: 3 };
    expect(await judged([set({ night })], [set({ odd })])).toEqual({
      ...nothing,
      open: [
        "stack: the stack: found no proof, because odd cannot be read at /speed (it is a field that the semantics do not explain), allowed changes by which no more payments are accepted, or their rules in allowed",
      ],
    });
  });

  test("a value that is known only after the run", async () => {
    const { violations, open } = await judged([set({ night })], [set({ night: limit(unknown) })]);
    expect([violations, open]).toEqual([[], [expect.stringContaining("night cannot be read at /if/0/v")]]);
  });

  test("it is told of the last check alone", async () => {
    await judged([set({ night })], [set({ odd: { ...night, speed: 3 } })]);
    expect(await judged([set({ night })], [set({ night })])).toEqual(nothing);
  });
});

describe("a secret", () => {
  test.each([
    ["of the program", [set({ night: limit(plaintext(500)) })], [set({ night: limit(new Secret(70_077)) })]],
    ["that the export does not show", [set({ night: limit(ciphertext) })], [set({ night: limit(new Secret(70_077)) })]],
    ["of a rule that is gone", [set({ night: limit(plaintext(70_077)) })], [set({})]],
  ])("%s is in no message", async (_, before, after) => {
    const { violations, open } = await judged(before, after);
    expect(violations).toEqual([]);
    expect(open).toEqual([expect.stringContaining("night cannot be read at /if/0/v")]);
    expect(open.join()).not.toMatch(/7007|500/);
  });

  test("that the configuration names is in none", async () => {
    const { violations, open } = await judged([set({ night })], [set({ night: limit(70_077) })], {
      secret: ["/if/*/v"],
    });
    expect([violations, open]).toEqual([[], [expect.stringContaining("night cannot be read at /if/0/v")]]);
  });

  test("may be anywhere where nobody has looked: then no payment is shown", async () => {
    const config = { baseline: stackExport([set({ night })]), semantics: semanticsFile() };
    const [shown] = shownByHost([set({ night: limit(700) })]);
    const unseen = { ...(shown ?? expect.fail()), urn: "urn:pulumi:dev::shop::unseen" };
    const { violations } = await ask(acceptedPayments, [unseen], config);
    expect(violations).toEqual([
      expect.stringMatching(/found more accepted payments, but no payment is shown, because secret-values/),
    ]);
    expect(violations.join()).not.toMatch(/amount|500|700/);
  });
});

describe("allowed", () => {
  const alone = async (day: string, allowed: unknown, after: Record<string, unknown> = { night: limit(700) }) => {
    const config = { baseline: stackExport([set({ night })]), semantics: semanticsFile(), allowed };
    return (
      await evaluate(
        acceptedPaymentsAt(() => new Date(day)),
        [set(after)],
        config,
      )
    ).violations;
  };

  test("lets the changes of a rule pass until the end of a day, and says which day that was", async () => {
    const until = "2026-03-31";
    for (const rules of [["night"], ["all/night"], ["all"]])
      expect(await alone("2026-03-31T23:59:59Z", [{ rules, until }])).toEqual([]);
    expect(await alone("2026-03-31T12:00:00Z", [{ rules: ["day"], until }])).toHaveLength(1);
    expect(await alone("2026-04-01T00:00:00Z", [{ rules: ["night"], until }])).toEqual([
      expect.stringContaining("; the allowance of night ended on 2026-03-31, allowed changes"),
    ]);
    expect(await alone("2026-03-31T12:00:00Z", [{ rules: ["night"], until }], {})).toEqual([]);
  });

  test("takes what is allowed as done: other changes are judged on top of it", async () => {
    const allowed = [{ rules: ["night"], until: "2026-03-31" }];
    const both = { night: limit(700), vip };
    expect(await alone("2026-03-01T00:00:00Z", allowed, both)).toEqual([
      expect.stringMatching(/^all: vip: found more/),
    ]);
  });

  test("lets the rules of a folder pass, those too that left it", async () => {
    const rules = newFolder();
    for (const [name, ...files] of [
      ["emea", "day.yaml", "night.yaml"],
      ["apac", "day.yaml"],
    ] as const) {
      mkdirSync(join(rules, name));
      for (const file of files) writeFileSync(join(rules, name, file), "");
    }
    vi.stubEnv("PWD", rules);
    const allowed = [{ folder: "emea", until: "2026-03-31" }];
    expect(await alone("2026-03-01T00:00:00Z", allowed)).toEqual([]);
    // Of a set whose rules all have a file there, night is one that had.
    const left = [{ folder: "apac", until: "2026-03-31" }];
    expect(await alone("2026-03-01T00:00:00Z", left, { day: limit(900) })).toEqual([]);
    expect(await alone("2026-03-01T00:00:00Z", left, { day: limit(900), stray: limit(900) })).toHaveLength(1);
    await expect(alone("2026-03-01T00:00:00Z", [{ folder: "amer", until: "2026-03-31" }])).rejects.toThrow(
      /an allowance names the folder .*amer, which cannot be read: .*ENOENT/,
    );
  });

  test("is refused where it names nothing, or no day", async () => {
    await expect(alone("2026-03-01T00:00:00Z", [{ until: "2026-03-31" }])).rejects.toThrow("names nothing");
    await expect(alone("2026-03-01T00:00:00Z", [{ rules: ["a"], until: "2026-02-30" }])).rejects.toThrow(
      "a day such as",
    );
  });
});

describe("where there is nothing to compare", () => {
  test("says what is missing", async () => {
    expect(await judged([], [], { baseline: null })).toMatchObject({
      notApplicable: [expect.stringContaining("no baseline is configured")],
    });
    expect(await judged([], [], { semantics: null })).toMatchObject({
      notApplicable: [expect.stringContaining("no semantics are configured")],
    });
    expect(await judged([], [set({ night })], { allowed: true })).toMatchObject({
      violations: [],
      notApplicable: ["all changes are allowed"],
    });
    expect((await judged([], [set({ night })])).violations).toEqual([
      expect.stringContaining("found a baseline without rules"),
    ]);
    await expect(judged([], [], { semantics: "nowhere.yaml" })).rejects.toThrow(
      /read semantics .*nowhere\.yaml failed/,
    );
  });
});

/** Values at every border of the rules below: both sides of each number, each value and none, missing and null. */
const numbers = [100, 500];
const amounts: Json[] = [...numbers.flatMap((each) => [each - 1, each, each + 1]), null, "x"];
const instants = ["2026-01-01T00:00:00Z", "2026-06-01T00:00:00Z", "2026-06-01T00:00:01Z", "2025-12-31T23:59:59Z"];
const payments = [...amounts, undefined].flatMap((amount) =>
  ["DE", "FR", "", null, 5, undefined].map((c): JsonObject => JSON.parse(JSON.stringify({ amount, c }))),
);
const condition = fc.oneof(
  fc.record({ f: fc.constant("amount"), is: fc.constant("over"), v: fc.constantFrom(...numbers) }),
  fc.record({ f: fc.constant("country"), is: fc.constant("is"), v: fc.constantFrom("DE", "FR") }),
  fc.record({ f: fc.constant("country"), is: fc.constant("in"), v: fc.subarray(["DE", "FR", ""]) }),
);
const someRule = fc.record(
  {
    do: fc.constantFrom("block", "pass"),
    priority: fc.integer({ min: 1, max: 3 }),
    if: fc.array(condition, { maxLength: 2 }),
    until: fc.constantFrom("2026-01-01T00:00:00Z", "2026-06-01T00:00:01Z"),
  },
  { requiredKeys: ["do", "priority", "if"] },
);
const someRules = fc.dictionary(fc.constantFrom("a", "b", "c"), someRule);

test("what the policies say holds of payments at every border, by the evaluator", async () => {
  const seen = { silent: 0, wider: 0, open: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        before: someRules,
        changes: someRules,
        none: fc.constantFrom("accept", "decline", null),
        missing: fc.constantFrom("comparisonFalse", "unknown"),
      }),
      async ({ before, changes, none, missing }) => {
        const more = {
          missing,
          undecidedRule: missing === "unknown" ? "unknown" : "noMatch",
          wins: { ...described.wins, none },
        };
        const semantics = defineSemantics({ ...described, ...more } as SemanticsInput);
        // The first rule is there on both sides, so that the baseline is not empty.
        const kept = { kept: limit(1e6) };
        const after = Object.fromEntries(Object.entries({ ...before, ...changes }).filter(([key]) => key !== "b"));
        const { violations, open } = await judged([set({ ...kept, ...before })], [set({ ...kept, ...after })], {
          semantics: semanticsFile(more),
        });
        const readings = [before, after].map((rules) =>
          Object.values({ ...kept, ...rules }).flatMap((each) =>
            readRules(JSON.parse(JSON.stringify(each)), semantics),
          ),
        );
        const accepts = (payment: JsonObject, at: string): number[] =>
          readings.map((rules) => {
            const { decision } = evaluateRules(payment, rules, semantics, { at });
            if (decision.kind === "decided") return decision.outcomes[0] === "accept" ? 2 : 0;
            return decision.possible === undefined || decision.possible.includes("accept") ? 1 : 0;
          });
        if (violations.length > 0) {
          seen.wider += 1;
          const [, payment = "", at = instants[0]] =
            /such as (\{.*?\})(?: at (\S+))? \(before: /.exec(violations[0] ?? "") ?? [];
          expect(accepts(JSON.parse(payment), at ?? ""), violations[0]).toEqual([0, 2]);
        } else if (open.length > 0) seen.open += 1;
        else {
          seen.silent += 1;
          for (const payment of payments)
            for (const at of instants) {
              const [was = 0, is = 0] = accepts(payment, at);
              expect([payment, at, is <= was]).toEqual([payment, at, true]);
            }
        }
      },
    ),
    { numRuns: 80 },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(2);
});
