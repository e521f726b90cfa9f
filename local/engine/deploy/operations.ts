import { EngineError } from "../../../stack/errors.ts";
import type { ResourceState } from "../../../stack/state/resource-state.ts";
import { markSecretOutputs } from "../../../stack/values/value.ts";
import type { Outcome } from "../hosts/provider-host.ts";
import type { Execution } from "./execution.ts";
import type { Hooks } from "./providers.ts";

/**
 * Runs what must be noted in state before it begins and after it has ended, whichever way. Both notes are on the disk
 * before the run goes on: the first, so that a kill or a power failure cannot hide that a resource may exist, the second
 * with its id.
 */
async function noted<T>(
  execution: Execution,
  resource: ResourceState,
  type: "creating" | "updating" | "deleting",
  work: () => Promise<T>,
): Promise<T> {
  execution.ledger.begin(resource, type);
  try {
    await execution.commit(type);
    return await work();
  } catch (error) {
    // A lost provider host leaves open whether the operation took effect: so does the state.
    if (!(error instanceof EngineError && error.code === "PROVIDER_FAILED")) execution.ledger.end(resource);
    execution.save();
    throw error;
  }
}

/** Creates a resource; `replaced` is the one whose place it takes. */
export async function create(
  execution: Execution,
  provider: Hooks,
  now: ResourceState,
  replaced: ResourceState | undefined,
): Promise<void> {
  const outcome = await noted(execution, now, "creating", () => provider.create(now));
  const time = new Date().toISOString();
  take(now, outcome, { id: outcome.id, created: time, modified: time });
  execution.ledger.end(now);
  execution.ledger.put(now);
  execution.ledger.settleCreate(now.urn);
  if (replaced?.pendingReplacement === true) execution.ledger.drop(replaced);
  else if (replaced !== undefined) {
    replaced.delete = true;
    execution.ledger.put(replaced);
  }
  await execution.commit();
  throwFailure(outcome, now.urn);
}

export async function update(
  execution: Execution,
  provider: Hooks,
  old: ResourceState,
  now: ResourceState,
): Promise<void> {
  now.id = old.id;
  const outcome = await noted(execution, now, "updating", () => provider.update(old, now));
  take(now, outcome, { id: old.id, created: old.created, modified: new Date().toISOString() });
  execution.ledger.end(now);
  execution.ledger.drop(old);
  // The resource was not made as these inputs say, so the next run must still see the difference. What is shown of the
  // step that failed is what it was to do.
  execution.ledger.put(outcome.failed === undefined ? now : { ...now, inputs: old.inputs });
  await execution.commit();
  throwFailure(outcome, now.urn);
}

/** Deletes a resource; one that is to be created anew stays in state until it is. */
export async function remove(
  execution: Execution,
  provider: Hooks,
  old: ResourceState,
  how: { recreated: boolean; callProvider: boolean },
): Promise<void> {
  const call = how.callProvider && old.custom && !old.retainOnDelete;
  await noted(execution, old, "deleting", async () => {
    if (call) await provider.delete(old);
  });
  execution.ledger.end(old);
  if (how.recreated) {
    old.pendingReplacement = true;
    execution.ledger.put(old);
  } else execution.ledger.drop(old);
  await execution.commit();
}

function take(now: ResourceState, outcome: Outcome, rest: Pick<ResourceState, "id" | "created" | "modified">): void {
  Object.assign(now, rest);
  now.outputs = markSecretOutputs(outcome.outputs, now.inputs, now.additionalSecretOutputs);
  now.initErrors = outcome.failed?.reasons ?? [];
}

/** Throws the failure of an operation, if any. The resource is in state by now; the run fails all the same. */
function throwFailure(outcome: Outcome, urn: string): void {
  if (outcome.failed === undefined) return;
  const { message, reasons } = outcome.failed;
  const more = reasons.filter((reason) => reason !== message).map((reason) => `\n  * ${reason}`);
  throw new EngineError("FAILED", message + more.join(""), { urn });
}
