import type { Step } from "../decide/plan.ts";

/** The words by which people are told of a change. */
export interface Word {
  readonly symbol: string;
  /** Beside a rule: `delete`. */
  readonly word: string;
  /** Above all rules of which this is said. Default: the word. */
  readonly title?: string;
  /** Behind a number: `3 to delete`. */
  readonly counted: string;
  /** `loss`: something is lost; `difference`: something is not as it was; else nothing is lost or different. */
  readonly weight: "loss" | "difference" | "gain" | "quiet";
}

/** The changes that a run is to make to rules, in the provider's lines and in reports alike; what is lost comes first. */
export const plannedWords = {
  delete: { symbol: "-", word: "delete", counted: "to delete", weight: "loss" },
  replace: { symbol: "+-", word: "replace", counted: "to replace", weight: "loss" },
  update: { symbol: "~", word: "update", counted: "to update", weight: "difference" },
  create: { symbol: "+", word: "create", counted: "to create", weight: "gain" },
  adopt: { symbol: "^", word: "take over", counted: "to take over", weight: "gain" },
  rename: { symbol: "=", word: "rename", counted: "to rename", weight: "quiet" },
} as const satisfies Record<string, Word>;

export type PlannedChange = keyof typeof plannedWords;

/** Returns the change that a step makes; undefined where the rule stays as and where it is. */
export function plannedChange(step: Pick<Step, "kind"> & { adopt?: unknown; isRenamed: boolean }) {
  switch (step.kind) {
    case "keep":
      return step.isRenamed ? "rename" : undefined;
    case "create":
      return step.adopt === undefined ? "create" : "adopt";
    default:
      return step.kind;
  }
}

/** Joins counts: `1 to delete, 2 to update, 997 unchanged`. A count of 0 is left out. */
export function counted(counts: readonly (readonly [number, string])[]): string {
  return counts.flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`])).join(", ");
}
