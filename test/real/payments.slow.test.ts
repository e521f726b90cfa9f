import { expect, test } from "vitest";
import type { Declared } from "../support/stack/engines.ts";
import { decisionOf, type PaymentRule, stubOf } from "./payments.ts";
import { atWireMock, type RealPlace } from "./place.ts";

const before: readonly PaymentRule[] = [
  { name: "decline-large", priority: 1, over: 10_000, decision: "decline" },
  { name: "review-dollars", priority: 2, over: 500, currency: "USD", decision: "review" },
  { name: "review-medium", priority: 3, over: 2000, decision: "review" },
  { name: "allow-euros", priority: 4, currency: "EUR", decision: "allow" },
  { name: "review-others", priority: 9, decision: "review" },
];
/** One limit is lower, one rule is gone, one is new, and two are in another order. */
const after: readonly PaymentRule[] = [
  { name: "decline-large", priority: 2, over: 5000, decision: "decline" },
  { name: "review-dollars", priority: 1, over: 500, currency: "USD", decision: "review" },
  { name: "allow-euros", priority: 4, currency: "EUR", decision: "allow" },
  { name: "decline-yen", priority: 5, over: 100, currency: "JPY", decision: "decline" },
  { name: "review-others", priority: 9, decision: "review" },
];
const amounts = [0, 100, 101, 500, 501, 2000, 2001, 5000, 5001, 10_000, 10_001];
const payments = amounts.flatMap((amount) => ["EUR", "USD", "JPY"].map((currency) => ({ amount, currency })));

const declared = (rules: readonly PaymentRule[]): Declared => ({
  limits: { rules: Object.fromEntries(rules.map((rule) => [rule.name, stubOf(rule)])) },
});

/** Each payment, with what WireMock and with what the declared rules decide. */
async function decisions({ service }: RealPlace, rules: readonly PaymentRule[]) {
  const decided = await Promise.all(
    payments.map(async (payment) => ({ ...payment, is: await service.decide(payment) })),
  );
  const wanted = payments.map((each) => ({ ...each, is: decisionOf(rules, each.amount, each.currency) }));
  return { decided, wanted };
}

atWireMock((engine, open) => {
  test("payments are decided as the program declares, before and after a change, and as before when it is taken back", async () => {
    const place = await open();
    const stack = await place.stack(engine);
    const seen: unknown[] = [];
    for (const rules of [before, after, before]) {
      await stack.up(declared(rules));
      const { decided, wanted } = await decisions(place, rules);
      expect(decided).toEqual(wanted);
      seen.push(decided);
    }
    expect(seen[1]).not.toEqual(seen[0]);
    expect(new Set(payments.map(({ amount, currency }) => decisionOf(after, amount, currency)))).toHaveLength(3);
  });
});
