import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { policies } from "../../policy/policies.ts";
import { ruleType } from "../../provider/host/types.ts";
import { openCommandStack } from "../support/stack/commands.ts";
import { type EngineName, hasPulumi } from "../support/stack/project.ts";

const pack = join(import.meta.dirname, "../../policy");

/** A weekday on which nobody may change rules today. */
const freeDay = new Date(Date.now() + 3 * 86_400_000).toLocaleDateString("en-US", {
  weekday: "short",
  timeZone: "UTC",
});

const condition = { field: "amount", operator: "gt", value: 100 };
const good = { name: "good", priority: 1, owner: "risk", conditions: [condition], actions: [{ type: "decline" }] };

/** Each policy of the pack has one rule that violates it; `sealed` holds a secret that no message may show. */
const program = {
  all: {
    rules: {
      card: { ...good, name: "card", priority: 2, note: "4111 1111 1111 1111" },
      account: { ...good, name: "account", priority: 3, note: "DE89 3704 0044 0532 0130 00" },
      credential: { ...good, name: "credential", priority: 4, note: `sk_live_${"4eC39HqLyjWDarjtT1zd"}` },
      "catch-all": { ...good, name: "catch-all", priority: 5, conditions: [] },
      twin: { ...good, priority: 6 },
      "same-priority": { ...good, name: "same-priority" },
      incomplete: { name: "incomplete", priority: 7, conditions: [condition], actions: [{ type: "route" }] },
      forbidden: { ...good, name: "forbidden", priority: 8, internalNote: "ask Anna" },
      other: { ...good, name: "other", priority: 9, currency: "XYZ" },
      high: { ...good, name: "high", priority: 5000 },
      named: { ...good, name: "Odd Name", priority: 10 },
      long: { ...good, name: "long", priority: 11, conditions: [condition, condition, condition] },
      misshapen: { ...good, name: "misshapen", priority: 12, tags: "night" },
      ended: { ...good, name: "ended", priority: 13, endsAt: "2020-01-01" },
      blank: { ...good, name: "blank", priority: 14, comment: " a " },
      sealed: { ...good, name: "sealed", priority: 15, currency: "(secret)" },
    },
  },
  good: { definition: good },
};

const configuration = {
  "no-catch-all": { conditions: ["/conditions"], actions: { "/actions/*/type": ["decline"] } },
  "unique-natural-keys": { naturalKey: "/name" },
  "unique-values": { pointers: ["/priority"] },
  "required-values": { pointers: ["/owner"] },
  "forbidden-values": { pointers: ["/internalNote"] },
  "allowed-values": { values: { "/currency": ["EUR", "USD"] } },
  "number-ranges": { ranges: { "/priority": { minimum: 1, maximum: 1000 } } },
  "string-patterns": { patterns: { "/name": "^[a-z-]+$" } },
  "maximum-rules": { maximum: 16 },
  "maximum-conditions": { conditions: "/conditions", maximum: 2 },
  "definition-schema": { schema: { properties: { tags: { type: "array" } } } },
  "end-dates": { endDates: ["/endsAt"] },
  "protected-rules": { rules: ["good"] },
  "required-rules": { rules: ["kill-switch"] },
  "removed-rules": { baseline: "baseline.json" },
  "change-freeze": { allowed: [{ days: [freeDay], from: "09:00", to: "17:00" }], allowedRules: ["all"] },
  "normal-form": { enforcementLevel: "mandatory", trim: ["/comment"] },
};

const baseline = {
  version: 3,
  deployment: {
    resources: ["good", "gone"].map((name) => ({
      urn: `urn:pulumi:test::lifecycle::${ruleType}::${name}`,
      type: ruleType,
      custom: true,
      id: name,
      inputs: { definition: good },
      outputs: { definition: good, ruleId: name },
    })),
  },
};

const expected: Record<string, readonly string[]> = {
  "no-card-numbers": ["card: /note: found a card number of 16 digits, allowed none"],
  "no-bank-accounts": ["account: /note: found a bank account number (IBAN) of 22 characters, allowed none"],
  "no-credentials": ["credential: /note: found a secret key of Stripe, allowed none"],
  "no-catch-all": ["catch-all: found no condition at /conditions, allowed at least one, or its name in allowedRules"],
  "unique-natural-keys": ['twin: /name: found "good", which rule "good" has too, allowed a value of its own'],
  "unique-values": ['same-priority: /priority: found 1, which rule "good" has too, allowed a value of its own'],
  "required-values": ["incomplete: /owner: found nothing, allowed a value"],
  "forbidden-values": ['forbidden: /internalNote: found "ask Anna", allowed nothing'],
  "allowed-values": [
    'other: /currency: found "XYZ", allowed "EUR", "USD"',
    'sealed: /currency: found [secret], allowed "EUR", "USD"',
  ],
  "number-ranges": ["high: /priority: found 5000, allowed a number that is at least 1, at most 1000"],
  "string-patterns": ['named: /name: found "Odd Name", allowed a text that matches /^[a-z-]+$/u'],
  "maximum-rules": ["connection default: found 17 rules, allowed at most 16"],
  "maximum-conditions": ["long: /conditions: found 3 conditions, allowed at most 2"],
  "definition-schema": ['misshapen: /tags: found "night", allowed by the schema: must be array'],
  "end-dates": ['ended: /endsAt: found "2020-01-01", allowed an end after <now>'],
  "protected-rules": ["good: found no protect, allowed protect: true"],
  "required-rules": ["kill-switch: found no such rule, allowed one in the stack"],
  "removed-rules": [
    "the stack: found 1 of 2 deployed rules removed (gone), allowed at most 10 %, or their names in allowed",
  ],
  "change-freeze": [`good: found a change on <now>, allowed ${freeDay} 09:00-17:00 (UTC), or a name in allowedRules`],
  "normal-form": ["blank: /comment: found blanks at an end of the text, allowed none"],
};

/** The messages in the section of policies, by policy: below the policy's name and its description. */
function saidBy(output: string): Record<string, string[]> {
  const said: Record<string, string[]> = {};
  for (const [, policy = "", message = ""] of output.matchAll(/^ +- \[mandatory\].*?\] {2}(\S+) .*\n.*\n +(.*)$/gm)) {
    const steady = message.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, "<now>").replace(/\w{3} \d\d:\d\d(?=,)/, "<now>");
    said[policy] = [...(said[policy] ?? []), steady].sort();
  }
  return said;
}

/** What decides payments needs rules that their semantics explain: see by-meaning.test.ts. */
const byMeaning = ["accepted-payments", "accepted-payments-shown", "flipped-payments"];

test("every policy of the pack is violated here, but for the one that only looks, and those that decide payments", () => {
  expect(Object.keys(expected).sort()).toEqual(
    policies
      .map(({ name }) => name)
      .filter((name) => name !== "secret-values" && !byMeaning.includes(name))
      .sort(),
  );
});

const engines = [
  ["local", true],
  ["pulumi", hasPulumi],
] as const satisfies readonly (readonly [EngineName, boolean])[];

describe.concurrent.each(engines)("the whole pack, on the engine %s", (engine, isThere) => {
  test.skipIf(!isThere)(
    "says what violates each policy, shows no secret, and nothing is asked of the service",
    { timeout: 240_000 },
    async () => {
      const { project, service, run } = await openCommandStack(engine, {
        config: ["lifecycle:secret: hush-hush"],
      });
      project.write("policy-config.json", JSON.stringify(configuration));
      project.write("baseline.json", JSON.stringify(baseline));
      project.declare(program);
      project.set({ PWD: project.folder });
      const flags = ["--policy-pack", pack, "--policy-pack-config", join(project.folder, "policy-config.json")];
      const { code, output } = await run("preview", ...flags);
      expect(code, output).toBe(1);
      expect(saidBy(output)).toEqual(expected);
      expect(output).not.toContain("hush-hush");
      expect(service.requests).toEqual([]);
    },
  );
});
