import type { Contract } from "../../sdk/contract/index.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { pathsBetween, seenAs, whoIs } from "../decide/live-rule.ts";
import type { KnownRule } from "../decide/plan.ts";
import { markIn } from "../merchant/mark.ts";

/** Two resources declare one rule. */
export function twoHold(ruleId: string, who: string, attempted: string): MerchantRulesError {
  return new MerchantRulesError("RULE_CONFLICT", `rule ${ruleId} is managed by ${who} of this stack as well`, {
    attempted,
    advice: "declare the rule once: remove it from one of the two resources, and run again",
  });
}

/** Two states know one rule, and the live one is this resource's. */
export function othersRow(ruleId: string, who: string, attempted: string): MerchantRulesError {
  const reason = `the state of ${who} knows rule ${ruleId} as well, and the rule is this resource's, as it is at the service`;
  return new MerchantRulesError("RULE_CONFLICT", reason, {
    attempted,
    advice: `remove the other one's row, \`pulumi state delete\` with its URN, and run again: then it makes its own`,
  });
}

/** The live rule under the row's id is not this resource's. */
export function rowIsNotOurs(
  { ruleId, definition }: KnownRule,
  rule: JsonObject | undefined,
  { attempted, adopting, place }: { attempted: string; adopting: string; place: { readonly contract: Contract } },
): MerchantRulesError {
  const mark = rule === undefined ? undefined : markIn(rule, place.contract);
  const paths = rule === undefined ? "" : pathsBetween(seenAs(rule, definition, place), definition, place);
  const how = paths === "" ? "" : ` (it differs at ${paths})`;
  const reason =
    mark === undefined
      ? `rule ${ruleId} is no longer the one that the state knows${how}: its id may have been given again`
      : `rule ${ruleId} is managed by ${whoIs(mark)} now, as its mark says`;
  return new MerchantRulesError("RULE_CONFLICT", reason, {
    attempted,
    advice: `if it is this resource's, add ${adopting}; else remove the resource's row, \`pulumi state delete\` with its URN, and run again, which makes it anew`,
  });
}
