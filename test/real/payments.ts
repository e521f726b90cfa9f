import type { JsonObject } from "../../sdk/json/index.ts";

/** A payment rule in words of our own; {@link stubOf} says it in WireMock's. */
export interface PaymentRule {
  readonly name: string;
  /** Of several rules that apply, the lowest number wins. No two have the same. */
  readonly priority: number;
  /** The payments that it applies to: those that are larger, or of this currency. */
  readonly over?: number;
  readonly currency?: string;
  readonly decision: "allow" | "review" | "decline";
}

/** A definition as WireMock takes it. */
export function stubOf({ name, priority, over, currency, decision }: PaymentRule): JsonObject {
  const conditions = [
    ...(over === undefined ? [] : [`@.amount > ${over}`]),
    ...(currency === undefined ? [] : [`@.currency == '${currency}'`]),
  ];
  const bodyPatterns = conditions.map((condition) => ({ matchesJsonPath: `$[?(${condition})]` }));
  return {
    name,
    priority,
    request: { method: "POST", urlPath: "/payments", ...(bodyPatterns.length === 0 ? {} : { bodyPatterns }) },
    response: { status: 200, jsonBody: { decision } },
  };
}

/** The definition number k, for tests in which nothing is decided. */
export function stub(k: number, changes: Partial<PaymentRule> = {}): JsonObject {
  return stubOf({ name: `rule-${k}`, priority: k, over: 100 * k, decision: "review", ...changes });
}

/** The decision by these rules, found by a second way: WireMock has no part in it. */
export function decisionOf(rules: readonly PaymentRule[], amount: number, currency: string): string | undefined {
  return rules
    .filter((rule) => amount > (rule.over ?? Number.NEGATIVE_INFINITY) && currency === (rule.currency ?? currency))
    .sort((one, other) => one.priority - other.priority)[0]?.decision;
}
