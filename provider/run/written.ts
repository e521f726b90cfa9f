import type { MerchantRulesError } from "../../sdk/errors.ts";
import type { KnownRule } from "../decide/plan.ts";

/** A rule was written, and something is wrong with what is there now: the state must know it as it is. */
export class Written extends Error {
  readonly known: KnownRule;
  readonly error: MerchantRulesError;

  constructor(known: KnownRule, error: MerchantRulesError) {
    super(error.message);
    this.known = known;
    this.error = error;
  }
}
