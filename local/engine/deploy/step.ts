import type { Config } from "../../../stack/project/stack-config.ts";
import type { ResourceState } from "../../../stack/state/resource-state.ts";
import type { PolicyEvent } from "../policies/findings.ts";
import type { DetailedDiff, Difference } from "./property-diff.ts";

/** The operation of a run on a resource, in the CLI's words. */
export type StepOp =
  | "same"
  | "create"
  | "update"
  | "delete"
  | "replace"
  | "create-replacement"
  | "delete-replaced"
  | "refresh"
  | "remove-pending-replace";

/** One thing that a run does, or would do. */
export interface Step {
  readonly op: StepOp;
  readonly urn: string;
  readonly old: ResourceState | undefined;
  readonly new: ResourceState | undefined;
  /** The paths that differ; null where they are not known, or mean nothing. */
  readonly detailedDiff: DetailedDiff | null;
  /** Top-level keys that changed, and those that require a replacement. */
  readonly diffReasons: readonly string[];
  readonly replaceReasons: readonly string[];
  /** Set where this is the result of a read, and not an operation of the run. */
  readonly isRead?: true;
}

/** Returns a step on the resource that is `old` or `now`; the difference says why. */
export function stepOf(
  op: StepOp,
  old: ResourceState | undefined,
  now: ResourceState | undefined,
  { detailedDiff = null, changedKeys = [], replaceKeys = [] }: Partial<Difference> = {},
): Step {
  const { urn } = now ?? old ?? { urn: "" };
  return { op, urn, old, new: now, detailedDiff, diffReasons: changedKeys, replaceReasons: replaceKeys };
}

/** Number of resources by outcome. A replacement counts once. */
export type ChangeSummary = { readonly [op in StepOp]?: number };

/** An event of a run, told while it goes on. */
export type RunEvent =
  | PolicyEvent
  /** The verb begins, once everything that is checked beforehand was found in order. */
  | { readonly kind: "start"; readonly preview: boolean; readonly stack: string; readonly config: Config }
  /** A step begins; for a preview, this is all there is. */
  | { readonly kind: "step"; readonly step: Step; readonly preview: boolean }
  /** A step ended well (`failed` false) or not. */
  | { readonly kind: "done"; readonly step: Step; readonly failed: boolean; readonly durationMs: number }
  | {
      readonly kind: "diagnostic";
      readonly severity: "info" | "warning" | "error";
      readonly message: string;
      readonly urn: string | undefined;
    };

/** The steps that count as one resource each: the others are parts of a replacement. */
const counted: ReadonlySet<StepOp> = new Set<StepOp>(["same", "create", "update", "delete", "replace"]);

/** Decides whether a step is one of a replacement beside the one that names it. */
export function isPartOfReplacement(op: StepOp): boolean {
  return op === "create-replacement" || op === "delete-replaced";
}

export function summarize(steps: readonly Step[]): ChangeSummary {
  const summary: { [op in StepOp]?: number } = {};
  for (const { op } of steps) if (counted.has(op)) summary[op] = (summary[op] ?? 0) + 1;
  return summary;
}

export function hasChanges(summary: ChangeSummary): boolean {
  return Object.entries(summary).some(([op, count]) => op !== "same" && count > 0);
}
