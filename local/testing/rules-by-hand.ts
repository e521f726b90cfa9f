import { AssertionError } from "node:assert";
import { inspect } from "node:util";
import { asWritten, field, isEqual, type JsonObject } from "../../sdk/json/index.ts";
import type { RulesByHand } from "../service/merchants.ts";

/** A rule at the service. */
export interface LiveRule {
  readonly ruleId: string;
  /** As it was sent, without what the service adds. */
  readonly rule: JsonObject;
}

/** One rule at the service: its ruleId, or fields that it has and no other rule has, as `{ name: "large-amounts" }`. */
export type WhichRule = string | JsonObject;

/** Finds the one rule that is meant. @throws AssertionError: there is none, or there are several */
export function theRule(service: RulesByHand, which: WhichRule): LiveRule {
  const rules = service.rules();
  const found = rules.filter((live) => isMeant(live, which));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const amount = found.length === 0 ? "no rule" : `${found.length} rules`;
  const sought = typeof which === "string" ? `the ruleId ${which}` : inspect(which, { breakLength: 200 });
  const has = found.length > 1 ? "have" : "has";
  throw new AssertionError({
    message: `${amount} at the service ${has} ${sought}. The service has: ${listed(rules)}`,
    actual: rules,
    expected: which,
    operator: "theRule",
  });
}

function isMeant({ ruleId, rule }: LiveRule, which: WhichRule): boolean {
  if (typeof which === "string") return ruleId === which;
  return Object.entries(which).every(([name, value]) => {
    const own = field(rule, name);
    return own !== undefined && isEqual(own, value, asWritten);
  });
}

const mostShown = 10;

function listed(rules: readonly LiveRule[]): string {
  if (rules.length === 0) return "no rules";
  const shown = rules.slice(0, mostShown).map(({ ruleId, rule }) => {
    return `${ruleId}${typeof rule.name === "string" ? ` (${rule.name})` : ""}`;
  });
  const more = rules.length > shown.length ? `, and ${rules.length - shown.length} more` : "";
  return shown.join(", ") + more;
}
