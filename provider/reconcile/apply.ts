import { isMerchantRulesError, type MerchantRulesError } from "../../sdk/errors.ts";
import { createOnce } from "./create-once.ts";
import { creator } from "./holders.ts";
import type { LiveRules } from "./live-rules.ts";
import type { DeclaredRule, KnownRule, Step } from "./plan.ts";

/** What became of one step. */
export interface Outcome {
  readonly key: string;
  /** The rule as the state should know it from now on; absent: it is gone. */
  readonly known?: KnownRule;
  /** A rule that has been replaced and could not be deleted: the state must not forget it. */
  readonly left?: KnownRule;
  readonly error?: MerchantRulesError;
}

/** Carries out the steps, side by side as far as the connection's limits allow; one that fails does not stop the others. */
export function apply(
  steps: readonly Step[],
  live: LiveRules,
  label: (key: string) => string | undefined,
): Promise<Outcome[]> {
  return Promise.all(steps.map((step) => applyStep(step, live, label(step.key))));
}

async function applyStep(step: Step, live: LiveRules, label: string | undefined): Promise<Outcome> {
  const { key } = step;
  // What the state must know, should the next request fail.
  let known = step.kind === "create" ? undefined : step.known;
  let left: KnownRule | undefined;
  const remove = ({ ruleId, takeover, definition }: KnownRule): Promise<void> =>
    live.delete(ruleId, takeover ?? creator, label, definition);
  try {
    switch (step.kind) {
      case "keep":
        break;
      case "create":
        known = await createOnce(step.declared, live, label);
        break;
      case "update":
        known = await update(step.known, step.declared, live, label);
        break;
      case "delete":
        await remove(step.known);
        known = undefined;
        break;
      case "replace": {
        // Without adopt: it has brought the rule here that is now replaced.
        const { definition } = step.declared;
        if (step.deleteFirst) {
          await remove(step.known);
          known = undefined;
          known = await createOnce({ definition }, live, label);
        } else {
          known = await createOnce({ definition }, live, label);
          left = step.known;
          await remove(left);
          left = undefined;
        }
      }
    }
    return outcome(key, known, left);
  } catch (error) {
    if (!isMerchantRulesError(error)) throw error;
    return outcome(key, error.code === "RULE_NOT_FOUND" && step.kind === "update" ? undefined : known, left, error);
  }
}

function outcome(key: string, known?: KnownRule, left?: KnownRule, error?: MerchantRulesError): Outcome {
  return {
    key,
    ...(known === undefined ? {} : { known }),
    ...(left === undefined ? {} : { left }),
    ...(error === undefined ? {} : { error }),
  };
}

async function update(
  known: KnownRule,
  { definition }: DeclaredRule,
  live: LiveRules,
  label: string | undefined,
): Promise<KnownRule> {
  const { ruleId } = known;
  try {
    await live.update(ruleId, definition, label, known.definition);
  } catch (error) {
    if (!isMerchantRulesError(error) || error.code !== "RULE_NOT_FOUND") throw error;
    const attempted = `update rule ${label ?? ruleId}`;
    // Throws where the connection shows none of the rules: then it is the wrong place, and the rule is not forgotten.
    if ((await live.find(ruleId, label, known.definition)) !== undefined) {
      throw error.with({
        code: "SERVICE_FAILED",
        attempted,
        reason: `the service did not find rule ${ruleId} to change it, and shows it now`,
        advice: "run again",
      });
    }
    live.forget(ruleId);
    throw error.with({
      attempted,
      reason: `rule ${ruleId} is no longer there`,
      advice:
        label === undefined
          ? "run `pulumi up --refresh`, which sees that it is gone and creates it again"
          : "run `pulumi up` again, which creates it",
    });
  }
  return { ...known, definition };
}
