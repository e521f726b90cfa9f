import type { MerchantRulesError } from "../../sdk/errors.ts";
import type { DeclaredRule, KnownRule } from "./plan.ts";
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
}

/** A rule that a create ended with. */
export interface Made {
  readonly known: KnownRule;
  /** The rule was there before. */
  readonly isTakenOver: boolean;
  /** The way, where it was by a word of the program or the user: `is as declared and is taken over`. */
  readonly how?: string;
}

/** Claimed before it is changed: of two that take a rule over at once, the one that is refused must not have written. */
export function claim(ruleId: string, making: Making): void {
  // The delete of what the resource was, if the engine calls it, comes next.
  making.place.holders.claim(ruleId, making.of, { isReplacement: mayReplace(making) });
}

/**
 * True where the resource may be created to replace what it was. The engine says nothing of it where it has decided this
 * alone (`--replace`, `--target-replace`, `replacementTrigger`, a taint): then only create and delete are called.
 */
export function mayReplace({ of }: Making): boolean {
  return of.known.size === 0 && of.owner !== "";
}
