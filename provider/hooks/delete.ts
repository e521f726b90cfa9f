import type { Step } from "../decide/plan.ts";
import type { Properties } from "../host/wire.ts";
import { apply } from "../steps/apply.ts";
import { errorOf } from "./boundary.ts";
import { callOfState, type Hooks } from "./call.ts";
import { demandReplaceable } from "./make.ts";

/** Deletes the rules of a resource. @throws MerchantRulesError: some are left, and all of them stay in the state */
export async function remove(hooks: Hooks, id: string, props: Properties): Promise<void> {
  const call = callOfState(hooks, id, props);
  const { of, place, onDrift, shape } = call;
  await demandReplaceable(call);
  const steps = [...of.known].map(([key, known]): Step => ({ kind: "delete", key, known }));
  const outcomes = await apply(steps, of, place, onDrift);
  const afterwards =
    "the others are deleted, but all of them are still in the state: run `pulumi destroy` again, or `pulumi up --refresh` to have them made again";
  const error = errorOf(outcomes, shape.isRule, afterwards);
  if (error !== undefined) throw error;
}
