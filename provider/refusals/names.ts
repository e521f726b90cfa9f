import { MerchantRulesError } from "../../sdk/errors.ts";
import type { StackWords } from "../merchant/words.ts";

/**
 * Refuses a state that was made under other names: the stack was renamed, or its state was copied.
 * @param what whose state: `the stack's Owner`
 * @param before `project/stack` in the state; undefined: it says none
 * @param now `project/stack` of the program
 * @throws MerchantRulesError SETTINGS_INVALID
 */
export function demandNames(
  what: string,
  before: string | undefined,
  now: string | undefined,
  words: StackWords,
): void {
  if (before === undefined || now === undefined || before === now || words.formerNames.includes(before)) return;
  const reason = `the state of ${what} was made as stack ${before}, and this is stack ${now}: its rules are those of ${before}`;
  throw new MerchantRulesError("SETTINGS_INVALID", reason, {
    attempted: "compare the stack's names with its state",
    advice: `if this stack was renamed, run once with MERCHANT_RULES_FORMER_NAMES=${before}. If its state was copied, do not go on with it and do not run destroy: begin with an empty state. More: merchant-rules help former-names`,
  });
}
