import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { createOnce } from "./create-once.ts";
import { creator } from "./holders.ts";
import type { LiveRules } from "./live-rules.ts";
import type { DeclaredRule, KnownRule, Step } from "./plan.ts";

/** What became of one step: the rule as the state should know it from now on (absent: it is gone), and the error if there was one. */
export interface Outcome {
  readonly key: string;
  readonly known?: KnownRule;
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
  let known = step.kind === "create" ? undefined : step.known;
  const deleteKnown = async (): Promise<void> => {
    if (known === undefined) return;
    await live.delete(known.ruleId, known.takeover ?? creator, label);
    known = undefined;
  };
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
        await deleteKnown();
        break;
      case "replace": {
        if (step.deleteFirst) await deleteKnown();
        const created = await createOnce(step.declared, live, label);
        await deleteKnown();
        known = created;
      }
    }
    return known === undefined ? { key } : { key, known };
  } catch (error) {
    if (!isMerchantRulesError(error)) throw error;
    return known === undefined ? { key, error } : { key, known, error };
  }
}

async function update(
  known: KnownRule,
  { definition }: DeclaredRule,
  live: LiveRules,
  label: string | undefined,
): Promise<KnownRule> {
  const { ruleId } = known;
  try {
    await live.update(ruleId, definition, label);
  } catch (error) {
    if (!isMerchantRulesError(error) || error.code !== "RULE_NOT_FOUND") throw error;
    throw new MerchantRulesError("RULE_NOT_FOUND", `rule ${ruleId} is no longer there`, {
      attempted: `update rule ${label ?? ruleId}`,
      ...(error.exchange === undefined ? {} : { exchange: error.exchange }),
      advice: "run `pulumi refresh`, which takes it out of the state, and then `pulumi up`, which creates it again",
      cause: error,
    });
  }
  return { ...known, definition };
}
