import { listed } from "../../provider/decide/live-rule.ts";
import { reasonToReplace } from "../../provider/decide/plan.ts";
import { plannedChange } from "../../provider/hooks/planned-changes.ts";
import { connectionType, ownerType } from "../../provider/host/types.ts";
import type { Contract } from "../../sdk/contract/index.ts";
import { naturalKeyText } from "../../sdk/contract/natural-key.ts";
import {
  contains,
  defined,
  differences,
  isAtOrBelow,
  type Json,
  masked,
  type Path,
  pathOf,
  pointerOf,
  valueAt,
} from "../../sdk/json/index.ts";
import type { Drift } from "../drift/drift.ts";
import { connectionIn, driftWarnings, undeclaredFindings, unmanagedFindings } from "../drift/drift-report.ts";
import type { UnmanagedRule } from "../drift/unmanaged-rules.ts";
import type { IgnoreLine } from "../files/ignore-file.ts";
import { contentOf } from "../model/content.ts";
import { pathFindingsOf } from "../model/path-findings.ts";
import { type Finding, type PathFinding, type Report, reportOf } from "../model/report.ts";
import { firstNames } from "../words/report-words.ts";
import { AtService, asDeclaredForm, judgeTakeOver, type TakeOver } from "./at-service.ts";
import { failuresOf } from "./failed-checks.ts";
import { contractsBy, withMoves } from "./planned-steps.ts";
import { isOfRules, mask, type Preview, type PreviewStep, projectOf, resourceOf, subjectOf } from "./preview.ts";
import { engineReplaces, expand, type RuleStep } from "./rule-steps.ts";
import { asShown, isMasked } from "./secrets.ts";
import { isHidden, isRenamed, nameOf, naturalKeyIn, whereOf } from "./step-names.ts";
import { violationsOf } from "./violations.ts";

/** A plan, and whether a run would change a resource of rules. */
export interface PlannedRun {
  readonly report: Report;
  readonly hasChanges: boolean;
}

/**
 * Makes the plan of a run, rule by rule, from what a preview says of resources.
 * @param contractOf gives the contract of a connection, where there is one
 * @throws MerchantRulesError SETTINGS_INVALID: a newer version of this package wrote the state
 */
export function planOf(
  preview: Preview,
  contractOf: (connection: string) => Contract | undefined,
  { drift, ignoring = [], meantContract = "" }: Refreshed = {},
): PlannedRun {
  const { known, contracts } = contractsBy(contractOf);
  const ours = preview.steps.filter(isOfRules);
  const service = drift === undefined ? undefined : new AtService(drift);
  const expanded = ours.map((step) => ({ step, ...expand(step, contracts, service) }));
  const { steps, warned } = withMoves(expanded.flatMap((each) => each.steps));
  const existing = service === undefined ? noExisting : existingIn(steps, service);
  const planned = steps.flatMap((step) => findingOf(step, existing.taken.get(step)) ?? []);
  const others = service?.others(existing.ids) ?? [];
  const unmanaged = unmanagedFindings(others, ignoring);
  const found = [...planned, ...(drift === undefined ? [] : undeclaredFindings(drift)), ...unmanaged.findings];
  const quiet = expanded.filter(
    ({ step, steps: own }) =>
      changing.has(step.op) && own.every(({ kind, formerKey }) => kind === "keep" && formerKey === undefined),
  );
  const rules = expanded.reduce((sum, each) => sum + each.rules, 0);
  const unchanged = steps.filter((step) => step.kind === "keep" && !isRenamed(step)).length;
  const isWithoutContract = [...known.values()].includes(undefined);
  const report = reportOf({
    report: "plan",
    subject: subjectOf(preview),
    rules,
    unchanged,
    findings: found,
    about: [nowOf(preview, drift !== undefined)],
    project: projectOf(preview),
    violations: violationsOf(preview),
    errors: failuresOf(preview.errors),
    warnings: [
      ...(isWithoutContract ? [`No contract was found here${meantContract}, ${noContract}`] : []),
      ...deletionsIn(found, rules, unseen(preview) > 0),
      ...warned,
      ...existing.warned,
      ...(drift === undefined ? [] : driftWarnings(drift)),
      ...expanded.flatMap((each) => each.warnings),
    ],
    engineWarnings: preview.warnings,
    notes: [
      ...(drift?.read ?? []),
      ...expanded.flatMap((each) => each.notes),
      ...quiet.map(({ step }) => quietNote(step)),
      ...preview.steps.flatMap((step) => connectionNote(step) ?? []),
      ...secretNotes(steps),
      ...maskedNote(steps),
      ...unseenNote(preview),
      ...unmanaged.notes,
      ...(drift?.withoutList ?? []).map(
        (connection) => `unmanaged rules cannot be told over connection ${connection}: its contract has no list`,
      ),
      ...othersNote(preview.steps),
    ],
  });
  return { report, hasChanges: planned.length > 0 || quiet.length > 0 };
}

/** What a plan of a run with a refresh knows besides. */
export interface Refreshed {
  /** From the state to the service. Default: the plan is from the state, or from what the preview itself refreshed. */
  readonly drift?: Drift | undefined;
  /** Unmanaged rules that are not named. */
  readonly ignoring?: readonly IgnoreLine[];
  /** What to say of files that are nearly named as a contract, where there is none. Default: "" */
  readonly meantContract?: string;
}

function nowOf({ stateTime, isRefreshed }: Preview, isFromService: boolean): string {
  if (isFromService) return "now is what the service has: edits by hand are in this plan, as of `pulumi up --refresh`";
  if (isRefreshed)
    return "now is what the service has, as the preview's refresh saw it; plan --refresh tells edits by hand apart";
  const since = stateTime === undefined ? "as the last run left it" : `last changed at ${stateTime}`;
  return `now is the stack's state, ${since}, not the service: edits by hand are not seen; plan --refresh sees them`;
}

interface Existing {
  /** The rule that a step takes over. */
  readonly taken: ReadonlyMap<RuleStep, TakenRule>;
  readonly ids: ReadonlySet<string>;
  readonly warned: readonly string[];
}

interface TakenRule extends UnmanagedRule, Pick<TakeOver, "kept"> {}

const noExisting: Existing = { taken: new Map(), ids: new Set(), warned: [] };

/** Finds the rules at the service that the rules which are to be made meet. */
function existingIn(steps: readonly RuleStep[], service: AtService): Existing {
  const taken = new Map<RuleStep, TakenRule>();
  const ids = new Set<string>();
  const warned: string[] = [];
  for (const step of steps) {
    const { kind, declared, of } = step;
    if (kind !== "create" || declared === undefined) continue;
    const { adopt } = declared;
    const rule = service.existing(declared, of.connection, of.contract);
    if (rule !== undefined && adopt !== undefined) {
      const { refusal, kept } = judgeTakeOver(rule, declared.definition, of.contract);
      taken.set(step, { ...rule, kept });
      if (refusal !== undefined)
        warned.push(`${nameOf(step)} takes over rule ${rule.ruleId}, and the run will refuse it: the rule ${refusal}`);
      ids.add(JSON.stringify([rule.connection, rule.ruleId]));
    } else if (rule !== undefined)
      warned.push(
        `${nameOf(step)} is to be created by ${whereOf(step)} and exists as rule ${rule.ruleId}${rule.owner === undefined ? "" : ` of "${rule.owner}"`}: the run will refuse it. What to do: add adopt for that rule, or give this one another natural key`,
      );
    else if (typeof adopt === "string")
      warned.push(`${nameOf(step)} of ${whereOf(step)} is to take over rule ${adopt}, which is not at the service`);
  }
  return { taken, ids, warned };
}

const changing = new Set(["create", "update", "replace"]);

const noContract =
  "so that what replaces a rule, and which arrays have no order, is not known: run this in the project's folder, or name it with --cwd";

function findingOf(planned: RuleStep, taken: TakenRule | undefined): Finding | undefined {
  const step = taken === undefined ? planned : taking(planned, taken);
  const { kind, key, formerKey, formerResource, known, declared, of } = step;
  const usual =
    taken !== undefined
      ? "adopt"
      : kind === "opaque"
        ? "update"
        : plannedChange({ kind, adopt: declared?.adopt, isRenamed: isRenamed(step) });
  if (usual === undefined) return undefined;
  const paths = pathsOf(step);
  const change = usual === "update" && isReset(step, paths) ? "reset" : usual;
  const adopt = kind === "create" ? declared?.adopt : undefined;
  const ruleId = known?.ruleId ?? (typeof adopt === "string" ? adopt : undefined);
  const reason =
    formerResource === undefined ? reasonOf(step) : [`from ${formerResource}`, reasonOf(step) ?? []].flat().join(", ");
  return {
    change,
    name: nameOf(step),
    ...formerNameOf(step),
    ...defined({
      key: key === "" ? undefined : key,
      formerKey: isRenamed(step) && formerKey !== "" && formerKey !== key ? formerKey : undefined,
      ruleId,
      resource: of.resource,
    }),
    ...connectionIn(of),
    ...defined({ reason }),
    ...ruleOf(step),
    ...defined({ owner: taken?.owner }),
    paths,
  };
}

function reasonOf({ kind, known, declared, reason, inState, of }: RuleStep): string | undefined {
  if (kind === "update" && inState !== undefined && declared !== undefined) {
    const own = differences(inState, declared.definition, of.contract.rule).map(({ path }) => pathOf(path));
    return own.length === 0 ? reason : `the program changes ${listed(own)}`;
  }
  if (kind === "create" && declared?.adopt === true)
    return "where a rule with its natural key exists; else it is created";
  if (kind !== "replace" || known === undefined || declared === undefined) return reason;
  if (reason !== undefined && reason !== engineReplaces) return reason;
  return reasonToReplace(known.definition, declared.definition, of.contract) ?? reason;
}

/** Returns a create that takes over a rule as the change of that rule. */
function taking(step: RuleStep, { ruleId, live, kept }: TakenRule): RuleStep {
  const definition = asDeclaredForm(live, step.declared?.definition ?? {});
  const { reason: _, ...others } = step;
  const reason = kept.length === 0 ? {} : { reason: `keeps ${listed(kept)}, which the program does not declare` };
  return { ...others, kind: "update", known: { ruleId, definition }, ...reason };
}

/** Decides whether a run overwrites what somebody edited by hand. */
function isReset({ inState, known, of }: RuleStep, paths: readonly PathFinding[]): boolean {
  if (inState === undefined) return false;
  const { rule } = of.contract;
  const edited = new Set(differences(inState, known?.definition, rule).map(({ path }) => pathOf(path)));
  return paths.some(({ path }) => edited.has(path));
}

/** Returns the natural key that the rule has now, where the run gives it another one. */
function formerNameOf({ known, declared, of }: RuleStep): Pick<Finding, "formerName"> {
  const [was, is] = [known, declared].map((each) => naturalKeyText(each?.definition, of.contract));
  const [held, wanted] = [known, declared].map((each) => naturalKeyIn({ of }, each?.definition));
  if (
    was === undefined ||
    is === undefined ||
    was === is ||
    (held !== undefined && held === wanted) ||
    isHidden(was) ||
    isHidden(is)
  )
    return {};
  return { formerName: was };
}

/** Returns the rule as the state has it, and as the program declares it. */
function ruleOf({ known, declared, of }: RuleStep): Pick<Finding, "rule"> {
  const shown = (definition: Json | undefined): Json | undefined =>
    definition === undefined ? undefined : asShown(definition);
  return contentOf({ before: shown(known?.definition), after: shown(declared?.definition) }, of.contract.rule.secret);
}

function pathsOf({ kind, key, known, declared, of }: RuleStep): PathFinding[] {
  if (kind === "create" || kind === "delete" || kind === "keep" || kind === "opaque") return [];
  const { rule } = of.contract;
  const side = (definition: Json | undefined): Json | undefined =>
    definition === undefined ? undefined : masked(definition, rule.secret, rule);
  const found = differences(side(known?.definition), side(declared?.definition), rule);
  return found.flatMap((difference): PathFinding[] => {
    const [finding] = pathFindingsOf([difference]);
    if (finding === undefined) return [];
    const { before, after } = finding;
    if (finding.secret) return [finding];
    if (!isMasked(before) && !isMasked(after))
      return after === undefined ? [finding] : [{ ...finding, after: asShown(after) }];
    const inside = of.secrets.within(key, key === "", difference.path);
    return inside.length === 0
      ? [{ ...finding, secret: true }]
      : inside.map(({ path: each, kind }) =>
          rule.secret.some((pattern) => isAtOrBelow(each, pattern))
            ? defined({
                path: pathOf(each),
                before: kind === "add" ? undefined : mask,
                after: kind === "delete" ? undefined : mask,
                secret: true,
              })
            : { path: pathOf(each), masked: true },
        );
  });
}

/**
 * Warns of many deletions: more than a tenth of all rules is often a mistake.
 * @param isPart whether there may be rules that the preview does not show
 */
function deletionsIn(found: readonly Finding[], rules: number, isPart: boolean): string[] {
  const count = found.filter(({ change }) => change === "delete").length;
  if (count * 10 <= rules || count === 0) return [];
  const are = count === 1 ? "is" : "are";
  const what = `${rules === 1 ? "rule" : "rules"}${isPart ? " that the preview shows" : ""}`;
  return [
    `${count} of ${rules} ${what} ${are} to be deleted, more than a tenth. See that this is meant before you run \`pulumi up\``,
  ];
}

function quietNote(step: PreviewStep): string {
  const inputs = step.changedInputs.filter((input) => !input.startsWith("__"));
  const which = inputs.length === 0 ? "" : ` (${inputs.join(", ")})`;
  return `${resourceOf(step)} changes${which}, but none of its rules does`;
}

/** Tells a change of an Owner or a connection. It is no rule, and what changes in it changes none; but it says whose and where they are. */
function connectionNote(step: PreviewStep): string | undefined {
  if (step.type !== connectionType && step.type !== ownerType) return undefined;
  if (step.op === "replace" && step.type === ownerType)
    return `${resourceOf(step)} is replaced: the stack's rules get a new owner id`;
  if (step.op === "replace") return `${resourceOf(step)} is replaced: it remembers where it leads now`;
  if (step.op !== "update") return undefined;
  return `${resourceOf(step)} changes (${step.changedInputs.join(", ")}), and none of its rules by that`;
}

/** Notes secrets of which nothing is known: where the engine did not say what changes, a changed one looks unchanged. */
function secretNotes(steps: readonly RuleStep[]): string[] {
  const blind = steps.filter(
    ({ known, declared, of, ...step }) =>
      (step.kind === "keep" || step.kind === "update") &&
      known !== undefined &&
      declared !== undefined &&
      contains(declared.definition, isMasked) &&
      (isRenamed({ ...step, of }) || !of.secrets.areKnown),
  );
  if (blind.length === 0) return [];
  const names = firstNames(blind.map(nameOf));
  return [`A preview masks secrets, so whether those of these rules change cannot be told: ${names}`];
}

/** Notes masked arrays: an engine masks an array as a whole for one secret in it, in everything that it prints. */
function maskedNote(steps: readonly RuleStep[]): string[] {
  const isWhole = steps.some(({ key, declared, of }) =>
    of.secrets.within(key, key === "", []).some(({ path }) => isBelowMask(declared?.definition, path)),
  );
  if (!isWhole) return [];
  return [
    "A preview masks an array as a whole where the program made a secret in it. What changes there is told by its path, and (not shown) stands for its values, secret or not. What to do: see in the program what these paths are now",
  ];
}

function isBelowMask(definition: Json | undefined, path: Path): boolean {
  return path.some((_, at) => at > 0 && isMasked(valueAt(definition, pointerOf(path.slice(0, at)))));
}

/** Counts the resources without changes of which the preview says no more than how many they are. */
function unseen({ steps, sames }: Preview): number {
  return Math.max(0, sames - steps.filter(({ op }) => op === "same").length);
}

function unseenNote(preview: Preview): string[] {
  const count = unseen(preview);
  if (count === 0) return [];
  const resources = count === 1 ? "1 resource without changes is" : `${count} resources without changes are`;
  return [
    `${resources} not in the preview, and rules in them are not counted as unchanged: \`pulumi preview --json --show-sames\` has them`,
  ];
}

function othersNote(steps: readonly PreviewStep[]): string[] {
  const others = steps.filter((step) => !isOfRules(step) && !isScaffold(step) && step.op !== "same");
  if (others.length === 0) return [];
  const counts = [...Map.groupBy(others, ({ op }) => op)].map(([op, all]) => `${all.length} ${op}`).join(", ");
  return [`The run has steps on other resources than merchant rules, which are not in this plan: ${counts}`];
}

/** Decides whether a resource is one of the engine or of the stack's memory, or the component that spreads rules over sets. */
function isScaffold({ type }: PreviewStep): boolean {
  return (
    type === connectionType ||
    type === ownerType ||
    type === "pulumi:pulumi:Stack" ||
    type.startsWith("pulumi:providers:") ||
    type.startsWith("merchant-rules:index:")
  );
}
