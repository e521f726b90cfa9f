import { differences, joinPath, pathOf } from "../sdk/rules/index.ts";
import type { Outcome, Place, Resource, Step } from "./reconcile/index.ts";

/** Rules that a preview names, and paths that it names of one. */
const mostRules = 20;
const mostPaths = 5;

/**
 * The change of a set, rule by rule: the engine itself says only that `rules` differs. Paths and no values, because
 * any of them may be secret. Undefined where every rule stays.
 */
export function describePlan(steps: readonly Step[], of: Resource, place: Place): string | undefined {
  const formerKeys = new Map([...of.known].map(([key, { ruleId }]) => [ruleId, key]));
  const formerKeyOf = (step: Step): string | undefined => {
    const former = "known" in step ? formerKeys.get(step.known.ruleId) : undefined;
    return former === step.key ? undefined : former;
  };
  const isRenamed = (step: Step): boolean => step.kind === "keep" && formerKeyOf(step) !== undefined;
  const changed = steps.filter((step) => step.kind !== "keep" || isRenamed(step));
  if (changed.length === 0) return undefined;
  const count = (wanted: Step["kind"]): number => steps.filter(({ kind }) => kind === wanted).length;
  const renamed = steps.filter(isRenamed).length;
  const sums = sentence([
    [count("create"), "to create"],
    [count("update"), "to update"],
    [count("replace"), "to replace"],
    [count("delete"), "to delete"],
    [renamed, "to rename"],
    [count("keep") - renamed, "unchanged"],
  ]);
  const lines = changed.slice(0, mostRules).flatMap((step) => linesOf(step, formerKeyOf(step), place));
  if (changed.length > mostRules) lines.push(`  and ${changed.length - mostRules} more rules`);
  return [`${nameOf(of)}: ${sums}`, ...lines].join("\n");
}

function linesOf(step: Step, formerKey: string | undefined, { contract }: Place): string[] {
  const rule = joinPath("rules", step.key);
  if (step.kind === "create") return [`  + ${rule}`];
  if (step.kind === "delete") return [`  - ${rule}`];
  if (step.kind === "keep") return [`  = ${rule} (before: ${joinPath("rules", formerKey ?? step.key)})`];
  const paths = differences(step.known.definition, step.declared.definition, contract.rule).map(({ path }) =>
    pathOf(path, rule),
  );
  const symbol = step.kind === "replace" ? "+-" : "~";
  const lines = paths.slice(0, mostPaths).map((path) => `  ${symbol} ${path}`);
  return paths.length > mostPaths ? [...lines, `  ${symbol} ${rule}: ${paths.length - mostPaths} more`] : lines;
}

/** The outcome of a set's run: `created 1, updated 2, deleted 0, unchanged 997`. */
export function describeOutcome(steps: readonly Step[], outcomes: readonly Outcome[], of: Resource): string {
  const failed = outcomes.filter(({ error }) => error !== undefined).length;
  const done = steps.filter((_, index) => outcomes[index]?.error === undefined);
  const count = (wanted: Step["kind"]): number => done.filter(({ kind }) => kind === wanted).length;
  const takenOver = outcomes.filter(
    ({ isTakenOver, error }, index) => error === undefined && steps[index]?.kind === "create" && isTakenOver,
  ).length;
  const always = [
    `created ${count("create") - takenOver}`,
    `updated ${count("update")}`,
    `deleted ${count("delete")}`,
    `unchanged ${count("keep")}`,
  ];
  const others = [
    [count("replace"), "replaced"],
    [takenOver, "taken over"],
    [failed, "failed"],
  ] as const;
  const more = others.flatMap(([number, word]) => (number === 0 ? [] : [`${word} ${number}`]));
  return `${nameOf(of)}: ${[...always, ...more].join(", ")}`;
}

function sentence(counts: readonly (readonly [number, string])[]): string {
  return counts.flatMap(([number, what]) => (number === 0 ? [] : [`${number} ${what}`])).join(", ");
}

/** A resource's own name, the last part of its owner's. */
function nameOf({ owner }: Resource): string {
  return owner.split("/").slice(2).join("/");
}
