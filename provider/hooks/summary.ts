import { differences, isJsonObject, joinPath, type Pointer, pathOf, segmentsOf } from "../../sdk/json/index.ts";
import type { Step } from "../decide/plan.ts";
import { isUnknown, type Properties } from "../host/wire.ts";
import type { Place } from "../run/place.ts";
import type { Resource } from "../run/resource.ts";
import { type ResourceShape, setShape } from "../state/shape.ts";
import { ownerInput } from "../state/state.ts";
import type { Outcome } from "../steps/outcome.ts";
import { counted, type PlannedChange, plannedChange, plannedWords } from "./planned-changes.ts";

/** Rules that a preview names, and paths that it names of one. */
const mostRules = 20;
const mostPaths = 5;
/** Rules that a run names of those that it took over. */
const mostTaken = 100;

/** The words for a change of one rule, for people. */
interface Planned {
  readonly change: PlannedChange;
  readonly step: Step;
  readonly formerKey: string | undefined;
}

/**
 * Describes the change of a set, rule by rule: the engine itself says only that `rules` differs. It has paths and no
 * values, because any of them may be secret. @returns lines; undefined where every rule stays
 */
export function describePlan(steps: readonly Step[], of: Resource, place: Place): readonly string[] | undefined {
  const formerKeys = new Map([...of.known].map(([key, { ruleId }]) => [ruleId, key]));
  const planned = steps.flatMap((step): Planned[] => {
    const former = "known" in step ? formerKeys.get(step.known.ruleId) : undefined;
    const formerKey = former === step.key ? undefined : former;
    const adopt = "declared" in step ? step.declared.adopt : undefined;
    const change = plannedChange({ kind: step.kind, adopt, isRenamed: formerKey !== undefined });
    return change === undefined ? [] : [{ change, step, formerKey }];
  });
  if (planned.length === 0) return undefined;
  const count = (wanted: string): number => planned.filter(({ change }) => change === wanted).length;
  const sums = Object.entries(plannedWords).map(([change, words]) => [count(change), words.counted] as const);
  const lines = planned.slice(0, mostRules).flatMap((each) => linesOf(each, place));
  if (planned.length > mostRules) lines.push(`  and ${planned.length - mostRules} more rules`);
  return [`${nameOf(of)}: ${counted([...sums, [steps.length - planned.length, "unchanged"]])}`, ...lines];
}

/** Describes an update that sends nothing: values become secrets in the state. */
export function describeSecrets(secrets: readonly Pointer[], of: Resource, { field }: ResourceShape): string {
  const segment = (text: string): string | number => (/^\d+$/.test(text) ? Number(text) : text);
  const paths = secrets.slice(0, mostPaths).map((pointer) => pathOf(segmentsOf(pointer).map(segment), field));
  if (secrets.length > mostPaths) paths.push(`${secrets.length - mostPaths} more`);
  return `${nameOf(of)}: encrypted in the state from now on: ${paths.join(", ")}; no request is sent`;
}

/** Lists the rules that a resource which is about to be made takes over by `adopt`; undefined where it has none. */
export function describeTakeOvers(steps: readonly Step[], of: Resource, place: Place): readonly string[] | undefined {
  const adopting = steps.flatMap((step) => {
    const adopt = step.kind === "create" ? step.declared.adopt : undefined;
    return adopt === undefined ? [] : [{ key: step.key, rule: adoptedRule(adopt, place) }];
  });
  const [first] = adopting;
  if (first === undefined) return undefined;
  if (of.isRule) return [`${nameOf(of)}: takes over ${first.rule}`];
  const counts = counted([
    [adopting.length, plannedWords.adopt.counted],
    [steps.length - adopting.length, plannedWords.create.counted],
  ]);
  const lines = adopting
    .slice(0, mostRules)
    .map(({ key, rule }) => `  ${plannedWords.adopt.symbol} ${joinPath("rules", key)}: ${rule}`);
  if (adopting.length > mostRules) lines.push(`  and ${adopting.length - mostRules} more rules`);
  return [`${nameOf(of)}: ${counts}`, ...lines];
}

function adoptedRule(adopt: string | true, { contract }: Place): string {
  if (adopt === true) return `the rule with its natural key (${contract.rule.naturalKey}), where there is one`;
  return isUnknown(adopt) ? "a rule whose id is known only after up" : `rule ${adopt}`;
}

function linesOf({ change, step, formerKey }: Planned, { contract }: Place): string[] {
  const rule = joinPath("rules", step.key);
  const { symbol } = plannedWords[change];
  if (step.kind === "keep") return [`  ${symbol} ${rule} (before: ${joinPath("rules", formerKey ?? step.key)})`];
  if (step.kind === "create" || step.kind === "delete") return [`  ${symbol} ${rule}`];
  const paths = differences(step.known.definition, step.declared.definition, contract.rule).map(({ path }) =>
    pathOf(path, rule),
  );
  if (paths.length === 0) return [`  ${symbol} ${rule} (looked at: what the last run's write to it did is not known)`];
  const lines = paths.slice(0, mostPaths).map((path) => `  ${symbol} ${path}`);
  return paths.length > mostPaths ? [...lines, `  ${symbol} ${rule}: ${paths.length - mostPaths} more`] : lines;
}

/** A set with more objects is slow to the engine. */
const manyObjects = 2000;

/** Advises to declare rules as their JSON; undefined for a set that has at most 2000 objects. */
export function hintAtTexts(inputs: Properties): string | undefined {
  const objects = setShape
    .entries(inputs.rules ?? {})
    .values()
    .filter(isJsonObject);
  const count = [...objects].length;
  if (count <= manyObjects) return undefined;
  const name = nameOf({ owner: ownerInput(inputs) });
  return `${name}: ${count} rules are declared as objects. Declared as JSON texts they take the engine a fraction of the time: ruleTexts(rules), or loadRules(folder, { as: "texts" })`;
}

/** Describes the outcome of a set's run: `1 created and verified, 2 updated and verified, 997 unchanged`; and the rules taken over. */
export function describeOutcome(
  steps: readonly Step[],
  outcomes: readonly Outcome[],
  of: Resource,
  { audits, contract }: Place,
): readonly string[] {
  const failed = outcomes.filter(({ error }) => error !== undefined).length;
  const done = steps.filter((_, index) => outcomes[index]?.error === undefined);
  const count = (wanted: Step["kind"]): number => done.filter(({ kind }) => kind === wanted).length;
  const takenOver = outcomes.filter(
    ({ isTakenOver, error }, index) => error === undefined && steps[index]?.kind === "create" && isTakenOver,
  ).length;
  const counts = counted([
    [count("create") - takenOver, "created and verified"],
    [count("update"), "updated and verified"],
    [count("replace"), "replaced and verified"],
    [count("delete"), "deleted and verified"],
    [takenOver, "taken over"],
    [count("keep"), "unchanged"],
    [failed, "failed"],
  ]);
  const isWritten = done.filter(({ kind }) => kind !== "keep").length > takenOver;
  const why =
    contract.operations.list === null ? "the contract has no operations.list" : "operations.list has summaries";
  const note = isWritten && audits.saysFew() ? ` (at most 5 other rules were looked at: ${why})` : "";
  return [`${nameOf(of)}: ${counts === "" ? "no rules" : counts}${note}`, ...takenOverIn(outcomes)];
}

/** Lists the rules that were taken over, one line for each way. */
function takenOverIn(outcomes: readonly Outcome[]): string[] {
  const taken = Map.groupBy(
    outcomes.filter(({ how, error }) => how !== undefined && error === undefined),
    ({ how }) => how,
  );
  return [...taken].map(([how, rules]) => {
    const names = rules.slice(0, mostTaken).map(({ key, known }) => `${key} (${known?.ruleId})`);
    if (rules.length > names.length) names.push(`and ${rules.length - names.length} more`);
    return `  ${plannedWords.adopt.symbol} ${how}: ${names.join(", ")}`;
  });
}

/** Returns a resource's own name, the part of its owner's behind project and stack. */
function nameOf({ owner }: Pick<Resource, "owner">): string {
  return owner.split("/").slice(2).join("/");
}
