import type { MerchantRulesError } from "../../sdk/errors.ts";
import type { DeclaredRule, KnownRule } from "../decide/plan.ts";
import type { Task } from "./task.ts";

/** The making of one declared rule. */
export interface Making extends Task, DeclaredRule {
  /** `create rule limit-1`, for messages. */
  readonly attempted: string;
  /** The rule that the state knows and that is gone: this may be it, by another id. */
  readonly inPlaceOf?: KnownRule | undefined;
  /** The id that it is to have, where the client chooses ids (contract `operations.create.identifyBy`). */
  readonly ruleId?: string;
  /** It is its turn to be sent: what was seen before it waited may be old. */
  readonly isDue?: true;
  /** A create of it was sent, and failed so. */
  readonly sent?: MerchantRulesError;
  /** A rule that is there and that the list after that create leaves out. */
  readonly leftOut?: string | undefined;
}

/** A rule that a create ended with. */
export interface Made {
  readonly known: KnownRule;
  /** The rule was there before. */
  readonly isTakenOver: boolean;
  /** The way, where it was by a word of the program or the user: `is as declared and is taken over`. */
  readonly how?: string;
}
