import type { CheckFailure } from "@pulumi/pulumi/proto/provider_pb.js";
import { EngineError } from "../../../stack/errors.ts";
import type { ResourceState } from "../../../stack/state/resource-state.ts";
import { parseUrn } from "../../../stack/state/urn.ts";
import { resetPaths } from "../../../stack/values/path.ts";
import { markSecretOutputs, type PropertyMap } from "../../../stack/values/value.ts";
import type { Registration } from "../hosts/registration.ts";
import { dependentReplacements } from "./dependents.ts";
import { diffResource } from "./differ.ts";
import { settleSame } from "./goal.ts";
import { create, remove, update } from "./operations.ts";
import { applyReplaceOnChanges, type Difference, replacementFor, requiresReplace } from "./property-diff.ts";
import type { Hooks } from "./providers.ts";
import type { ResourceContext } from "./resource-context.ts";
import { stepOf } from "./step.ts";

/** Decides what is to be done with one custom resource, and does it; `now` is then as it will be in state. */
export async function planResource(
  context: ResourceContext,
  registration: Registration,
  old: ResourceState | undefined,
  now: ResourceState,
): Promise<void> {
  const { execution, deletedEarly } = context;
  const recreated = deletedEarly.has(now.urn);
  const kept = old === undefined || recreated ? undefined : old;
  const wanted = kept === undefined ? registration.inputs : ignoreChanges(context, registration, kept);
  now.inputs = await check(context, now, kept?.inputs ?? {}, wanted);
  const checked = now.inputs;
  await context.review?.(now, registration);
  // A replacement, too, is made with the inputs that the policies have changed.
  const asked = now.inputs === checked ? registration : { ...registration, inputs: now.inputs };
  if (old === undefined) {
    context.operated.add(now.urn);
    return await createOne(context, undefined, now);
  }
  if (recreated) return await recreate(context, old, now);
  // A component has no provider that could say what to do with it.
  if (!old.custom) return await replace(context, asked, old, now, replacementFor(["provider"]));
  const difference = await diff(context, registration, old, now);
  // While the provider compared, another resource's replacement may have taken this one away.
  if (deletedEarly.has(now.urn)) return await recreate(context, old, now);
  if (old.pendingReplacement || (difference.changed && requiresReplace(difference)))
    return await replace(context, asked, old, now, difference);
  context.operated.add(now.urn);
  if (difference.changed || old.initErrors.length > 0) {
    const hooks = context.providers.of(now);
    if (execution.preview) previewOutputs(now, old, hooks);
    return await execution.run(stepOf("update", old, now, difference), () => update(execution, hooks, old, now));
  }
  now.id = old.id;
  now.outputs = markSecretOutputs(old.outputs, now.inputs, now.additionalSecretOutputs);
  settleSame(execution.ledger, old, now);
  execution.note(stepOf("same", old, now));
}

function ignoreChanges(
  { execution }: ResourceContext,
  { ignoreChanges: paths, inputs }: Registration,
  old: ResourceState,
): PropertyMap {
  const { inputs: kept, failed } = resetPaths(inputs, old.inputs, paths);
  if (failed.length > 0)
    execution.diagnose(
      "info",
      `cannot ignore changes in added or removed elements of the path: ${failed.join(", ")}`,
      old.urn,
    );
  return kept;
}

async function check(
  { execution, providers }: ResourceContext,
  now: ResourceState,
  olds: PropertyMap,
  news: PropertyMap,
): Promise<PropertyMap> {
  const { inputs, failures } = await providers.of(now).check(now.urn, olds, news, execution.preview);
  const [first, ...more] = failures;
  if (first === undefined) return inputs;
  for (const failure of more) execution.fail(checkError(failure, now.urn), now.urn, true);
  throw checkError(first, now.urn);
}

function checkError(failure: CheckFailure, urn: string): EngineError {
  const where = failure.getProperty() === "" ? "" : `property "${failure.getProperty()}": `;
  return new EngineError("FAILED", `${parseUrn(urn).name} is not valid: ${where}${failure.getReason()}`, { urn });
}

async function diff(
  context: ResourceContext,
  registration: Registration,
  old: ResourceState,
  now: ResourceState,
): Promise<Difference> {
  if (now.deletedWith !== "" && context.replaced.has(now.deletedWith)) return replacementFor(["deletedWith"]);
  const options = { preview: context.execution.preview, ignoreChanges: registration.ignoreChanges };
  const found = await diffResource(context.providers.of(now), now.urn, old, now.inputs, options);
  return applyReplaceOnChanges(found, registration.replaceOnChanges, old.initErrors.length > 0);
}

/** Creates anew what had to be deleted ahead of its own registration. */
async function recreate(context: ResourceContext, old: ResourceState, now: ResourceState): Promise<void> {
  const keys = context.deletedEarly.get(now.urn) ?? [];
  context.deletedEarly.delete(now.urn);
  context.operated.add(now.urn);
  context.replaced.add(now.urn);
  context.execution.note(stepOf("replace", old, now));
  await createOne(context, old, now, replacementFor(keys));
}

async function replace(
  context: ResourceContext,
  registration: Registration,
  old: ResourceState,
  now: ResourceState,
  difference: Difference,
): Promise<void> {
  const { execution } = context;
  if (now.protect && old.protect) {
    const error = new EngineError(
      "FAILED",
      `${parseUrn(now.urn).name} cannot be replaced because it is protected: remove the protect option from it in the program and run up`,
      { urn: now.urn },
    );
    // A preview shows the difference all the same.
    if (!execution.preview) throw error;
    execution.fail(error, now.urn, true);
  }
  context.operated.add(now.urn);
  context.replaced.add(now.urn);
  // Inputs that the first check carried over from the old resource are not the new one's.
  now.inputs = await check(context, now, {}, registration.inputs);
  if (registration.deleteBeforeReplace ?? difference.deleteBeforeReplace) await deleteBefore(context, old);
  const isGone = old.pendingReplacement;
  const step = stepOf("replace", old, now, difference);
  if (isGone) execution.note(step);
  await createOne(context, old, now, difference);
  if (!isGone) execution.note(step);
}

/** Deletes a resource that is to be replaced, and before it everything that its deletion takes with it. */
async function deleteBefore(context: ResourceContext, old: ResourceState): Promise<void> {
  const { execution, providers } = context;
  const dependents = await dependentReplacements(context, old);
  for (const { resource, keys } of dependents.reverse()) {
    if (context.deletedEarly.has(resource.urn)) continue;
    if (resource.protect) {
      throw new EngineError(
        "FAILED",
        `${parseUrn(resource.urn).name} would be replaced together with ${parseUrn(old.urn).name}, but is protected: remove the protect option from it in the program and run up`,
        { urn: resource.urn },
      );
    }
    context.deletedEarly.set(resource.urn, keys);
    await deleteOne(resource, false);
  }
  if (!old.pendingReplacement) await deleteOne(old, true);

  async function deleteOne(resource: ResourceState, root: boolean): Promise<void> {
    const taken =
      !root &&
      resource.deletedWith !== "" &&
      (resource.deletedWith === old.urn || context.deletedEarly.has(resource.deletedWith));
    if (execution.preview) resource.pendingReplacement = true;
    await execution.run(stepOf("delete-replaced", resource, undefined), () =>
      remove(execution, providers.of(resource), resource, { recreated: true, callProvider: !taken }),
    );
  }
}

/** Creates a resource. `old` is the one that it replaces. */
async function createOne(
  { execution, providers }: ResourceContext,
  old: ResourceState | undefined,
  now: ResourceState,
  difference?: Difference,
): Promise<void> {
  const hooks = providers.of(now);
  if (execution.preview) {
    previewOutputs(now, undefined, hooks);
    if (old?.pendingReplacement === false) old.delete = true;
  }
  const step = stepOf(old === undefined ? "create" : "create-replacement", old, now, difference);
  await execution.run(step, () => create(execution, hooks, now, old));
}

/** Sets outputs and id for a preview, which does nothing: the outputs are the inputs, and a new resource has no id yet. */
function previewOutputs(now: ResourceState, old: ResourceState | undefined, { isUnconfigured }: Hooks): void {
  now.id = old?.id ?? "";
  now.outputs = isUnconfigured === true ? {} : markSecretOutputs(now.inputs, now.inputs, now.additionalSecretOutputs);
}
