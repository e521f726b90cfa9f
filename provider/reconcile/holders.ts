import { MerchantRulesError } from "../../sdk/errors.ts";

/**
 * Tells resources apart that hold the same rule, which hooks cannot do by name: the one that created it, or the tag
 * that a takeover left in the state of the one that took it over.
 */
export type Holder = string;
export const creator: Holder = "";

/** Which resource of the stack holds which rule, as far as this run has seen. */
export class Holders {
  readonly #byRuleId = new Map<string, Holder>();
  readonly #deleted = new Set<string>();

  isHeld(ruleId: string): boolean {
    return this.#byRuleId.has(ruleId);
  }

  /** Whether a resource other than this one holds the rule. */
  isHeldByOther(ruleId: string, holder: Holder): boolean {
    return this.#byRuleId.has(ruleId) && this.#byRuleId.get(ruleId) !== holder;
  }

  /** A create makes or takes over the rule. @throws MerchantRulesError RULE_CONFLICT: when any resource holds it. */
  claim(ruleId: string, holder: Holder): void {
    if (this.#byRuleId.has(ruleId)) throw conflict(ruleId);
    this.#byRuleId.set(ruleId, holder);
  }

  /** A resource that stays holds the rule. @throws MerchantRulesError RULE_CONFLICT: when another one holds it. */
  hold(ruleId: string, holder: Holder): void {
    if (this.isHeldByOther(ruleId, holder)) throw conflict(ruleId);
    this.#byRuleId.set(ruleId, holder);
  }

  release(ruleId: string): void {
    this.#byRuleId.delete(ruleId);
  }

  /** A delete of the rule begins: from here on nobody can take it over. */
  beginDelete(ruleId: string, holder: Holder): void {
    this.hold(ruleId, holder);
    this.#deleted.add(ruleId);
  }

  /** The rule may still be there, and is held as before. */
  deleteFailed(ruleId: string): void {
    this.#deleted.delete(ruleId);
  }

  /** Whether this run has deleted the rule, or is about to. */
  isDeleted(ruleId: string): boolean {
    return this.#deleted.has(ruleId);
  }
}

function conflict(ruleId: string): MerchantRulesError {
  return new MerchantRulesError("RULE_CONFLICT", `two resources of this stack declare rule ${ruleId}`, {
    advice: "declare it once; where one of the two has just been changed to be another rule, run again",
  });
}
