import { MerchantRulesError } from "../../sdk/errors.ts";
import { contains } from "../../sdk/json/index.ts";
import { demandOneRule, plan, type Step } from "../decide/plan.ts";
import { isUnknown } from "../host/wire.ts";
import { isSamePlace } from "../merchant/site.ts";
import { sameRow } from "../steps/known.ts";
import type { HookCall } from "./call.ts";

/** Plans the steps of a call; undefined where the plan is refused and values are unknown yet. */
export function planned({ of, declared: { rules }, place }: HookCall): Step[] | undefined {
  try {
    const steps = plan(of.known, rules, place.contract);
    const now = place.site(of.link?.ownerId);
    for (const step of steps)
      if (step.kind !== "create" && (step.known.site === undefined || isSamePlace(step.known.site, now)))
        demandOneRule(step, place.contract);
    return steps;
  } catch (error) {
    if ([...rules.values()].some(({ definition }) => contains(definition, isUnknown))) return undefined;
    throw error;
  }
}

/**
 * Says which rows the resource keeps, each under the key that it gets. A row whose rule another resource of this run has by
 * now is not said: an update tells which of the two it is.
 * @returns true where there is such a row
 */
export function hear(steps: readonly Step[], { of, place }: HookCall): boolean {
  let isShared = false;
  for (const step of steps) {
    const { key } = step;
    if (step.kind === "create") continue;
    if (step.kind === "delete") {
      place.claims.drop(of, key, step.known.ruleId);
      continue;
    }
    const { claim, by } = sameRow(step.known, { of, key, place }, false);
    if (claim === "yes" && by !== undefined) isShared = true;
    else {
      const { definition } = step.kind === "keep" ? step.known : step.declared;
      const naturalKey = place.live.naturalKeyOf(definition);
      place.claims.hear({ of, key, row: step.known, naturalKey, isOfState: true });
    }
  }
  return isShared;
}

/** Refuses a change by which no rule of a set stays, as when another folder is read. @throws RULE_CONFLICT */
export function demandSomeKept(steps: readonly Step[], { declared: { rules, allowEmpty }, shape }: HookCall): void {
  const deleted = steps.filter(({ kind }) => kind === "delete").length;
  if (shape.isRule || allowEmpty || deleted === 0) return;
  if (steps.some(({ kind }) => kind !== "delete" && kind !== "create")) return;
  const reason = `this change deletes every rule that the set has (${deleted}) and declares ${rules.size} others`;
  throw new MerchantRulesError("RULE_CONFLICT", reason, {
    attempted: "compare the set with its state",
    advice:
      "check where the rules are read from. If none of the old rules is to stay, set allowEmpty: true for one run",
  });
}
