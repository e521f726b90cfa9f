import { MerchantRulesError } from "../../sdk/errors.ts";
import type { JsonObject } from "../../sdk/rules/index.ts";

/**
 * An answer that has no field of the rule as it is known is not that rule, whatever its status says. Taken for drift it
 * would have every field written again, or the rule made a second time; merged into an update, its fields would be sent.
 * @throws MerchantRulesError RESPONSE_INVALID
 */
export function demandOwnFields(answered: JsonObject, known: JsonObject, ruleId: string, label?: string): void {
  const fields = Object.keys(known);
  // Services drop nulls.
  if (fields.length === 0 || fields.some((key) => Object.hasOwn(answered, key) || known[key] === null)) return;
  throw new MerchantRulesError(
    "RESPONSE_INVALID",
    "what the service answered has none of the fields that are declared",
    {
      attempted: `read rule ${label ?? ruleId}`,
      advice:
        "check rule.envelope and the path of operations.get in the contract: the answer is not taken for this rule",
    },
  );
}
