import type { Contract } from "../contract/schema.ts";
import { MerchantRulesError } from "../errors.ts";
import {
  canonical,
  field,
  isEqual,
  isJsonObject,
  type JsonObject,
  laidOver,
  type Pointer,
  project,
  withoutValueAt,
} from "../rules/index.ts";

/**
 * Refuses an answer that has no field of the rule as it is known: whatever its status, it is not that rule. Taken for
 * drift, it would have every field written again; merged into an update, its own fields would be sent.
 * @throws MerchantRulesError RESPONSE_INVALID
 */
export function demandOwnFields(answered: JsonObject, known: JsonObject, ruleId: string, label?: string): void {
  const fields = Object.keys(known);
  // Services drop nulls.
  if (fields.length === 0 || fields.some((key) => Object.hasOwn(answered, key) || known[key] === null)) return;
  const reason = "what the service answered has none of the fields that are declared";
  throw new MerchantRulesError("RESPONSE_INVALID", reason, {
    attempted: `read rule ${label ?? ruleId}`,
    advice:
      "check rule.envelope and the path of operations.get in the contract: the answer is not taken for this rule. If the rule has really lost all of them, delete it at the service, so that it is made again",
  });
}

/**
 * The body that an update sends; undefined when the live rule is as the definition says already.
 * @param omit what of the live rule does not go back; what is declared there goes all the same
 */
export function updateBody(
  definition: JsonObject,
  live: JsonObject,
  { body, omit }: { readonly body: "changes" | "merged"; readonly omit: readonly Pointer[] },
  { unordered }: Pick<Contract["rule"], "unordered">,
): JsonObject | undefined {
  const seen = project(live, definition, { unordered });
  if (isEqual(seen, definition, { unordered })) return undefined;
  const merged = laidOver(omit.reduce(withoutValueAt, live), definition);
  if (body === "merged") return merged;
  const changed = Object.entries(definition).filter(([key, value]) => {
    const before = isJsonObject(seen) ? field(seen, key) : undefined;
    return before === undefined || canonical(before, { unordered }, [key]) !== canonical(value, { unordered }, [key]);
  });
  return Object.fromEntries(changed.map(([key, value]) => [key, field(merged, key) ?? value]));
}
