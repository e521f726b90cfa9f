import type { Contract } from "../../sdk/contract/index.ts";
import { isMerchantRulesError } from "../../sdk/errors.ts";
import { contains, differences } from "../../sdk/rules/index.ts";
import { creator, type DeclaredRule, type Holders, type KnownRule, plan, type Step } from "../reconcile/index.ts";
import { isUnknown } from "./wire.ts";

/**
 * The steps that a diff speaks of; undefined where a preview cannot tell yet, because what would be refused depends on
 * values that are unknown.
 * @throws MerchantRulesError UNSUPPORTED_BY_CONTRACT, as plan.
 */
export function planned(
  known: ReadonlyMap<string, KnownRule>,
  declared: ReadonlyMap<string, DeclaredRule>,
  contract: Contract,
): Step[] | undefined {
  try {
    return plan(known, declared, contract);
  } catch (error) {
    if (!isMerchantRulesError(error)) throw error;
    if ([...declared.values()].some(({ definition }) => contains(definition, isUnknown))) return undefined;
    throw error;
  }
}

/**
 * The rules that no other resource has deleted in this run. One that took a rule over from a set, in a run that did not
 * come to that set (`--target`, or a kill), may be asked only after the set has deleted what it still has in its state.
 */
export function notDeleted(known: ReadonlyMap<string, KnownRule>, holders: Holders): ReadonlyMap<string, KnownRule> {
  return new Map([...known].filter(([, { ruleId }]) => !holders.isDeleted(ruleId)));
}

/**
 * Marks the rules that stay with this resource, so that no other takes them over or deletes them in this run.
 * @throws MerchantRulesError RULE_CONFLICT: another resource holds one of them.
 */
export function hold(steps: readonly Step[], holders: Holders): void {
  for (const step of steps) {
    if (step.kind === "keep" || step.kind === "update") holders.hold(step.known.ruleId, step.known.takeover ?? creator);
  }
}

/**
 * Whether the engine would see no difference although there is one: to it, null and absent are the same. Where it does
 * see one, it had better compare by itself, for then it prints the paths.
 */
export function isInvisible(steps: readonly Step[], contract: Contract): boolean {
  const changed = steps.filter(({ kind }) => kind !== "keep");
  return changed.length > 0 && changed.every((step) => step.kind === "update" && areNulls(step, contract));
}

function areNulls({ known, declared }: Step & { kind: "update" | "replace" }, { rule }: Contract): boolean {
  return differences(known.definition, declared.definition, rule).every(
    ({ kind, before, after }) => kind !== "update" && (before ?? null) === null && (after ?? null) === null,
  );
}
