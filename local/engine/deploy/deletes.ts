import { EngineError, messageOf, RunIsOver } from "../errors.ts";
import type { ProviderHost } from "../hosts/provider-host.ts";
import { isProvider, needs, type ResourceState } from "../state/resource-state.ts";
import { parseUrn } from "../state/urn.ts";
import type { Execution } from "./execution.ts";
import { remove } from "./operations.ts";
import type { Step, StepOp } from "./step.ts";

/** A resource that is to go, and why. */
export interface Condemned {
  readonly resource: ResourceState;
  readonly op: Extract<StepOp, "delete" | "delete-replaced" | "remove-pending-replace">;
}

/** Deletes resources, each as soon as everything that needs it is gone; what cannot go keeps what it needs. */
export async function deleteAll(
  execution: Execution,
  provider: () => ProviderHost,
  condemned: readonly Condemned[],
): Promise<void> {
  const byUrn = new Map<string, Condemned[]>();
  const going = new Set(condemned.map(({ resource }) => resource.urn));
  /** Those that must be gone before the one in question. */
  const dependents = new Map<Condemned, Condemned[]>(condemned.map((one) => [one, []]));
  for (const one of condemned) {
    // Only what stands before it in state can be needed, so that an old and a new resource of one URN are told apart.
    for (const urn of new Set(needs(one.resource)))
      for (const needed of byUrn.get(urn) ?? []) dependents.get(needed)?.push(one);
    byUrn.set(one.resource.urn, [...(byUrn.get(one.resource.urn) ?? []), one]);
  }
  const results = new Map<Condemned, Promise<boolean>>();
  // The last ones first: whatever waits for others then finds their promise there.
  for (const one of [...condemned].reverse()) {
    const before = (dependents.get(one) ?? []).map((other) => results.get(other) ?? Promise.resolve(true));
    results.set(
      one,
      Promise.all(before).then((gone) => (gone.every(Boolean) ? deleteOne(execution, provider, one, going) : false)),
    );
  }
  await Promise.all(results.values());
}

/** Whether the resource is gone now. */
async function deleteOne(
  execution: Execution,
  provider: () => ProviderHost,
  { resource, op }: Condemned,
  going: ReadonlySet<string>,
): Promise<boolean> {
  if (execution.stopped) return false;
  const step: Step = {
    op,
    urn: resource.urn,
    old: resource,
    new: undefined,
    detailedDiff: null,
    diffReasons: [],
    replaceReasons: [],
  };
  if (op === "remove-pending-replace") {
    execution.note(step);
    execution.ledger.drop(resource);
    return true;
  }
  if (op === "delete" && resource.protect) {
    execution.fail(protectedError(resource.urn), resource.urn, true);
    execution.noteFailed(step);
    return false;
  }
  try {
    if (isProvider(resource.type) || !resource.custom) {
      // Nothing outside the state belongs to it.
      if (!isProvider(resource.type)) execution.note(step);
      execution.ledger.drop(resource);
      execution.save();
      return true;
    }
    const callProvider = resource.deletedWith === "" || !going.has(resource.deletedWith);
    await execution.run(step, () => remove(execution, provider(), resource, { recreated: false, callProvider }));
    if (execution.preview) execution.ledger.drop(resource);
    return true;
  } catch (error) {
    if (!(error instanceof RunIsOver))
      execution.fail(
        error instanceof EngineError ? error : new EngineError("FAILED", messageOf(error), { urn: resource.urn }),
        resource.urn,
      );
    return false;
  }
}

export function protectedError(urn: string): EngineError {
  return new EngineError(
    "FAILED",
    `${parseUrn(urn).name} cannot be deleted because it is protected: remove the protect option from it in the program and run up, then delete it`,
    { urn },
  );
}
