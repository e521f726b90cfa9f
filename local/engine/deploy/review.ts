import { RunIsOver } from "../../../stack/errors.ts";
import type { PropertyMap } from "../../../stack/values/value.ts";
import { type Violation, violationError } from "../policies/findings.ts";
import type { Policies } from "../policies/policies.ts";
import type { PolicyResource } from "../policies/policy-messages.ts";
import type { Execution } from "./execution.ts";

/**
 * Lets the policies look at a resource before anything is done with it. Gives the inputs as they made them; throws
 * `RunIsOver` where a mandatory policy stops the run.
 */
export async function reviewResource(
  execution: Execution,
  policies: Policies,
  resource: PolicyResource,
): Promise<PropertyMap> {
  const { properties, violations } = await unlessOver(execution, policies.review(resource));
  refuse(execution, violations);
  return properties;
}

/** Lets the policies look, after everything else, at all resources, with their outputs. */
export async function reviewStack(
  execution: Execution,
  policies: Policies,
  resources: readonly PolicyResource[],
  stackUrn: string,
): Promise<void> {
  refuse(execution, await unlessOver(execution, policies.reviewStack(resources, stackUrn)));
}

/** Fails the run by mandatory policies: an update stops at once; a preview goes on, and shows all that is violated. */
function refuse(execution: Execution, violations: readonly Violation[]): void {
  const mandatory = violations.filter(({ level }) => level === "mandatory");
  for (const violation of mandatory) execution.fail(violationError(violation), violation.urn, execution.preview);
  if (mandatory.length > 0 && !execution.preview) throw new RunIsOver();
}

/** Waits for a policy, which may take for ever, as long as the run has not stopped. */
async function unlessOver<T>(execution: Execution, work: Promise<T>): Promise<T> {
  const over = execution.whenStopped().then(() => {
    throw new RunIsOver();
  });
  return await Promise.race([work, over]);
}
