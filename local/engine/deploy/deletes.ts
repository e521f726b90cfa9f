import { EngineError } from "../../../stack/errors.ts";
import { isProvider, needs, type ResourceState } from "../../../stack/state/resource-state.ts";
import { parseUrn } from "../../../stack/state/urn.ts";
import type { Execution } from "./execution.ts";
import { remove } from "./operations.ts";
import type { Providers } from "./providers.ts";
import { stepOf } from "./step.ts";

/**
 * Deletes resources, each as soon as everything that needs it is gone; what cannot go keeps what it needs. Among several
 * of one URN an `up` begins with the oldest and a `destroy` with the newest, as the CLI does.
 */
export async function deleteAll(
  execution: Execution,
  providers: Providers,
  condemned: readonly ResourceState[],
  verb: "up" | "destroy",
): Promise<void> {
  const going = new Set(condemned.map(({ urn }) => urn));
  const byUrn = new Map<string, ResourceState[]>();
  /** Those that must be gone before the one in question. */
  const dependents = new Map<ResourceState, ResourceState[]>();
  for (const one of condemned) {
    dependents.set(one, []);
    // Only what stands before it in state can be needed, so that an old and a new resource of one URN are told apart.
    for (const urn of new Set(needs(one))) for (const needed of byUrn.get(urn) ?? []) dependents.get(needed)?.push(one);
    byUrn.set(one.urn, [...(byUrn.get(one.urn) ?? []), one]);
  }
  const results = new Map<ResourceState, Promise<boolean>>();
  const gone = (one: ResourceState): Promise<boolean> => {
    const under = results.get(one);
    if (under !== undefined) return under;
    const before = Promise.all((dependents.get(one) ?? []).map(gone));
    const result = before.then((all) => all.every(Boolean) && deleteOne(execution, providers, one, going));
    results.set(one, result);
    return result;
  };
  const turns = verb === "up" ? condemned.toReversed() : newestFirst(condemned);
  await Promise.all(turns.map(gone));
}

/** Returns the last ones of the state first; but among those of one URN the newest, which stands before the others. */
function newestFirst(condemned: readonly ResourceState[]): ResourceState[] {
  const generations = new Map<string, ResourceState[]>();
  for (const one of condemned) generations.set(one.urn, [...(generations.get(one.urn) ?? []), one]);
  return condemned.toReversed().flatMap(({ urn }) => generations.get(urn)?.shift() ?? []);
}

/** Deletes one resource. True where it is gone now. */
async function deleteOne(
  execution: Execution,
  providers: Providers,
  resource: ResourceState,
  going: ReadonlySet<string>,
): Promise<boolean> {
  if (execution.stopped) return false;
  const { urn } = resource;
  if (!resource.delete && resource.pendingReplacement) {
    execution.note(stepOf("remove-pending-replace", resource, undefined));
    execution.ledger.drop(resource);
    return true;
  }
  const step = stepOf(resource.delete ? "delete-replaced" : "delete", resource, undefined);
  if (step.op === "delete" && resource.protect) {
    const message = `${parseUrn(urn).name} cannot be deleted because it is protected: remove the protect option from it in the program and run up, then delete it`;
    execution.fail(new EngineError("FAILED", message, { urn }), urn, true);
    execution.noteFailed(step);
    return false;
  }
  try {
    if (isProvider(resource.type) || !resource.custom) {
      // Nothing outside the state belongs to it.
      execution.note(step);
      execution.ledger.drop(resource);
      execution.save();
      return true;
    }
    const callProvider = resource.deletedWith === "" || !going.has(resource.deletedWith);
    await execution.run(step, () =>
      remove(execution, providers.of(resource), resource, { recreated: false, callProvider }),
    );
    if (execution.preview) execution.ledger.drop(resource);
    return true;
  } catch (error) {
    execution.fail(error, urn);
    return false;
  }
}
