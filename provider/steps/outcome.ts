import type { MerchantRulesError } from "../../sdk/errors.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import type { KnownRule } from "../decide/plan.ts";

/** The outcome of one step. */
export interface Outcome {
  readonly key: string;
  /** The rule as the state should know it from now on; absent: it is gone. */
  readonly known?: KnownRule;
  /** The rule could not be changed: `known` is as it was before. */
  readonly isOld?: true;
  /** The definition that a change was to give it, where it failed. */
  readonly wanted?: JsonObject;
  /** A rule that was replaced and could not be deleted: the state must not forget it. */
  readonly left?: KnownRule;
  /** The rule was there before, and became the resource's own. */
  readonly isTakenOver?: true;
  /** The way, where a word of the program or the user did it. */
  readonly how?: string;
  /** Rules of others that its request has changed, as far as a reading tells. */
  readonly harmed?: readonly string[];
  readonly error?: MerchantRulesError;
}
