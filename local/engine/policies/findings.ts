import { EngineError } from "../../../stack/errors.ts";
import { parseUrn } from "../../../stack/state/urn.ts";
import type { PropertyMap } from "../../../stack/values/value.ts";

/** The weights of a policy. `remediate` counts as mandatory where the resource still violates the policy. */
export const levels = ["advisory", "mandatory", "remediate", "disabled"] as const;
export type Level = (typeof levels)[number];

/** A policy that said something, and the resource that it said it of. */
export interface Finding {
  readonly policy: string;
  readonly pack: string;
  readonly version: string;
  readonly urn: string;
}

export interface Violation extends Finding {
  readonly level: "advisory" | "mandatory";
  /** `low`, `medium`, `high` or `critical`; empty where the policy has none. */
  readonly severity: string;
  /** The policy's description, and what it says of the resource. */
  readonly message: string;
}

/** A resource's inputs before and after a policy changed them. */
export interface Remediation extends Finding {
  readonly before: PropertyMap;
  readonly after: PropertyMap;
}

/** A pack that ran. */
export interface PackRun {
  readonly name: string;
  readonly version: string;
  /** The pack's folder, as the user named it. */
  readonly folder: string;
}

export interface PolicyFindings {
  readonly packs: readonly PackRun[];
  readonly violations: readonly Violation[];
  readonly remediations: readonly Remediation[];
}

export const noFindings: PolicyFindings = { packs: [], violations: [], remediations: [] };

/** A finding as it is told while a run goes on. */
export type PolicyEvent =
  | { readonly kind: "policy-load" }
  | { readonly kind: "violation"; readonly violation: Violation }
  | { readonly kind: "remediation"; readonly remediation: Remediation };

export function violationError({ policy, pack, version, urn, message }: Violation): EngineError {
  const text = `${parseUrn(urn).name} violates the mandatory policy ${policy} of ${pack}@v${version}: ${message}`;
  return new EngineError("POLICY_VIOLATED", text, { urn });
}
