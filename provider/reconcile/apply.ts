import { isMerchantRulesError, type MerchantRulesError } from "../../sdk/errors.ts";
import { createOnce } from "./create.ts";
import type { Resource } from "./observe.ts";
import type { Place } from "./place.ts";
import type { KnownRule, Step } from "./plan.ts";
import { remove, update, Written } from "./write.ts";

/** What became of one step. */
export interface Outcome {
  readonly key: string;
  /** The rule as the state should know it from now on; absent: it is gone. */
  readonly known?: KnownRule;
  /** The rule could not be changed: `known` is as it was before. */
  readonly isOld?: true;
  /** A rule that was replaced and could not be deleted: the state must not forget it. */
  readonly left?: KnownRule;
  readonly error?: MerchantRulesError;
}

/**
 * Carries out the steps, side by side as far as the connection's limits allow; one that fails does not stop the others.
 * @throws MerchantRulesError when this may not be the place of the resource's rules; then nothing was written
 */
export async function apply(steps: readonly Step[], of: Resource, place: Place): Promise<Outcome[]> {
  const touched = steps.flatMap((step) => (step.kind === "keep" || step.kind === "create" ? [] : [step]));
  const { owner, foreign, naturalKey } = place.contract.rule;
  const searches = naturalKey !== null && steps.some(({ kind }) => kind === "create");
  // Whose each rule is stands in the list: one reading of it instead of many looks.
  const looksAtAll = (owner !== null || foreign.length > 0) && (touched.length > 1 || place.known().length > 1);
  if (searches || (looksAtAll && touched.length > 0)) await place.readList();
  // Where the contract has no delete, a delete is refused before its first request.
  const canDelete = place.contract.operations.delete.identifyBy !== null;
  if (steps.some(({ kind }) => kind !== "keep" && (kind !== "delete" || canDelete))) {
    const firstDelete = touched.find(({ kind }) => kind !== "update")?.known;
    const rules = touched.map((step) =>
      step.kind === "delete" ? step.known : { ...step.known, wanted: step.declared.definition },
    );
    await place.judge.demandWitness(of, rules, firstDelete);
  }
  return Promise.all(steps.map((step) => applyStep(step, of, place)));
}

async function applyStep(step: Step, of: Resource, place: Place): Promise<Outcome> {
  const task = { key: step.key, of, place };
  // What the state must know, should the next request fail.
  let known = step.kind === "create" ? undefined : step.known;
  let left: KnownRule | undefined;
  let differs: Written | undefined;
  try {
    if (step.kind !== "keep") place.judge.demandGoingOn();
    if (step.kind === "create") known = await createOnce(step.declared, task);
    if (step.kind === "update") known = await update(step.known, step.declared.definition, task);
    if (step.kind === "delete" || (step.kind === "replace" && step.deleteFirst)) {
      await remove(step.known, task);
      known = undefined;
    }
    if (step.kind === "replace") {
      const { definition, adopt } = step.declared;
      // A rule that was adopted is replaced now, so it is not adopted again.
      const declared = adopt === undefined || adopt === step.known.ruleId ? { definition } : { definition, adopt };
      left = step.deleteFirst ? undefined : step.known;
      known = await createOnce(declared, task).catch((error) => {
        if (!(error instanceof Written)) throw error;
        differs = error;
        return error.known;
      });
      if (left !== undefined) await remove(left, task);
      left = undefined;
    }
    return outcome(step, place, known, undefined, differs?.error);
  } catch (error) {
    if (error instanceof Written) return outcome(step, place, error.known, left, error.error);
    if (!isMerchantRulesError(error)) throw error;
    // The old rule is both: what is known, and what is left.
    return outcome(step, place, known, known === left ? undefined : left, error);
  }
}

/** A rule that is seen to be gone by now is nothing to keep, whatever failed. */
function outcome(step: Step, place: Place, known?: KnownRule, left?: KnownRule, error?: MerchantRulesError): Outcome {
  const isOld = error !== undefined && "known" in step && step.known === known;
  const isThere = (rule: KnownRule | undefined): rule is KnownRule =>
    rule !== undefined && place.record(rule.ruleId).rule !== null;
  return {
    key: step.key,
    ...(isThere(known) ? { known } : {}),
    ...(isThere(left) ? { left } : {}),
    ...(error === undefined ? {} : { error }),
    ...(isOld ? { isOld } : {}),
  };
}
