import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { leaving, leavingDefinition } from "../host/wire.ts";
import { createOnce } from "./create.ts";
import { demandNothingLost } from "./erased.ts";
import { lookForHandEdits, type OnDrift } from "./hand-edits.ts";
import type { Made } from "./making.ts";
import type { Place } from "./place.ts";
import type { Change, DeclaredRule, KnownRule, Step } from "./plan.ts";
import { remove } from "./remove.ts";
import { isElsewhere, type Resource } from "./resource.ts";
import { leftThere, warnOf } from "./say.ts";
import { type Task, Written } from "./task.ts";
import { update } from "./update.ts";

/** The outcome of one step. */
export interface Outcome {
  readonly key: string;
  /** The rule as the state should know it from now on; absent: it is gone. */
  readonly known?: KnownRule;
  /** The rule could not be changed: `known` is as it was before. */
  readonly isOld?: true;
  /** The definition that a change was to give it, where it failed. */
  readonly wanted?: JsonObject;
  /** A rule that was replaced and could not be deleted: the state must not forget it. */
  readonly left?: KnownRule;
  /** The rule was there before, and became the resource's own. */
  readonly isTakenOver?: true;
  /** The way, where a word of the program or the user did it. */
  readonly how?: string;
  readonly error?: MerchantRulesError;
}

/**
 * Carries out the steps, side by side as far as the connection's limits allow; one that fails does not stop the others.
 * @throws MerchantRulesError when this may not be the place of the resource's rules, or a rule was changed there since and
 * `onDrift` refuses to write over that; then nothing was written
 */
export async function apply(steps: readonly Step[], of: Resource, place: Place, onDrift: OnDrift): Promise<Outcome[]> {
  // Where the contract has no delete, a delete is refused before its first request.
  const canDelete = place.contract.operations.delete.identifyBy !== null;
  // A rule that another resource of this run has by now is passed on, which writes nothing.
  const isWritten = (step: Step): boolean =>
    step.kind === "delete" ? canDelete && !place.holders.isHeldByOther(step.known.ruleId, of) : step.kind !== "keep";
  // A rule that was made as another identity is believed to be here no more than it is written.
  if (!steps.some(isWritten) && !isElsewhere(of)) return sideBySide(steps, of, place);
  if (needsList(steps, place)) await place.live.listed();
  const touched = steps.flatMap((step) => (step.kind === "keep" || step.kind === "create" ? [] : [step]));
  const known = touched.map((step) =>
    step.kind === "delete" ? step.known : { ...step.known, wanted: step.declared.definition },
  );
  const standing = await place.proof.demand(of, known);
  if (standing === "elsewhere" && of.isRule && steps.some(({ kind }) => kind === "update" || kind === "keep"))
    throw needsRefresh(of, place);
  const here = standing === "here" ? steps : steps.map((step) => anew(step, of));
  await lookForHandEdits(here, of, place, onDrift);
  return sideBySide(here, of, place);
}

/** The steps under way at a time: many more than requests are, since some wait, and so few that a large set fits in memory. */
const mostAtOnce = 1000;

async function sideBySide(steps: readonly Step[], of: Resource, place: Place): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const queue = steps.entries();
  const next = async (): Promise<void> => {
    for (const [index, step] of queue) outcomes[index] = await applyStep(step, of, place);
  };
  await Promise.all(Array.from({ length: Math.min(mostAtOnce, steps.length) }, next));
  return outcomes;
}

/** Whose each rule is stands in the list, and what a first write changes: one reading of it instead of many looks. */
function needsList(steps: readonly Step[], { contract }: Place): boolean {
  if (contract.operations.list === null) return false;
  const { owner, naturalKey } = contract.rule;
  return steps.some(({ kind }) => (kind === "create" ? owner !== null || naturalKey !== null : kind !== "keep"));
}

/** The rules that the state knows are another merchant's, and are to be here now: they are left there and made anew. */
function anew(step: Step, of: Resource): Step {
  if (step.kind === "create") return step;
  const { ruleId } = step.known;
  warnOf(leftThere, ruleId, { key: step.key, of });
  if (step.kind === "delete") return { ...step, isLeft: true };
  const declared = step.kind === "keep" ? { definition: step.known.definition } : step.declared;
  return { kind: "create", key: step.key, declared };
}

/** Only a refresh can tell the engine that a resource of one rule is to have another rule. */
function needsRefresh({ known }: Resource, { options: { moved } }: Place): MerchantRulesError {
  const ids = [...known.values()].map(({ ruleId }) => ruleId).join();
  return new MerchantRulesError(
    "RULE_NOT_FOUND",
    `rule ${ids} is at the merchant of the last run, and not at this one`,
    {
      attempted: `update rule ${ids}`,
      advice: `run \`pulumi up --refresh\` with ${moved.howTo}, which makes it anew here`,
    },
  );
}

/** One step. Whatever is thrown in it is its own failure: what was done for other rules must come into the state. */
async function applyStep(step: Step, of: Resource, place: Place): Promise<Outcome> {
  const task = { key: step.key, of, place };
  const progress: Progress =
    step.kind === "create" ? {} : { known: step.kind === "keep" ? unsealed(step.known) : step.known };
  try {
    if (step.kind !== "keep") place.firstWrites.demandGoingOn();
    if (step.kind === "create") take(await createOnce(step.declared, task), progress);
    if (step.kind === "update") await updated(step, task, progress);
    if (step.kind === "replace") await replaced(step, task, progress);
    if (step.kind === "delete") {
      if (step.isLeft !== true) await remove(step.known, task);
      delete progress.known;
    }
    return keepable(outcome(step, place, progress, progress.differs?.error), step);
  } catch (error) {
    if (error instanceof Written)
      return keepable(outcome(step, place, { ...progress, known: error.known }, error.error), step);
    // The old rule is both: what is known, and what is left.
    if (progress.known === progress.left) delete progress.left;
    return outcome(step, place, progress, isMerchantRulesError(error) ? error : unexpected(error, step));
  }
}

/** A rule that is declared as the state knows it: the change that had failed was taken back. */
function unsealed({ isSealed: _, ...known }: KnownRule): KnownRule {
  return known;
}

/** A rule in whose place the service keeps what no state can hold: the state has what was declared or known of it. */
function keepable(done: Outcome, step: Step): Outcome {
  const { definition } = "declared" in step ? step.declared : step.known;
  // A definition that was declared or known has been judged before; a large set is not walked once more for that.
  if (done.known === undefined || done.known.definition === definition) return done;
  try {
    leaving({ definition: leavingDefinition(done.known.definition) });
    return done;
  } catch (error) {
    if (!isMerchantRulesError(error)) throw error;
    const attempted = `keep rule ${done.known.ruleId} as it is at the service`;
    return { ...done, known: { ...done.known, definition }, error: error.with({ attempted }) };
  }
}

/** An error that nothing here throws: a defect of this package or of one that it uses. Its text may hold anything. */
function unexpected(error: unknown, { kind, key }: Step): MerchantRulesError {
  const { name, stack = "" } = error instanceof Error ? error : { name: typeof error };
  const [, where] = /^\s+at (?:async )?([\w.#]+) \(/m.exec(stack) ?? [];
  const reason = `an error that this package does not expect, ${name}${where === undefined ? "" : ` in ${where}`}; what it had sent may have taken effect`;
  return new MerchantRulesError("INTERNAL", reason, {
    attempted: `${kind} rule ${key}`.trimEnd(),
    advice:
      "run `pulumi up --refresh`, which looks at what there is; if it comes again, report it with the version of pulumi-merchant-rules",
    outcomeUnknown: true,
    cause: error,
  });
}

/** The knowledge that the state must keep, should the next request fail. */
interface Progress {
  known?: KnownRule;
  left?: KnownRule;
  differs?: Written;
  isTakenOver?: boolean;
  how?: string;
}

async function updated({ known, declared }: Change, task: Task, progress: Progress): Promise<void> {
  const now = await update(known, declared, task);
  if (now !== undefined) {
    progress.known = now;
    return;
  }
  delete progress.known;
  const gone = task.place.live.isGone(known.ruleId) ? known : undefined;
  take(await createOnce(withoutOwnId(declared, known), task, gone), progress);
}

async function replaced({ known, declared, deleteFirst }: Change, task: Task, progress: Progress): Promise<void> {
  await demandNothingLost(known, declared.definition, task);
  if (deleteFirst) {
    await remove(known, task);
    delete progress.known;
  } else progress.left = known;
  try {
    take(await createOnce(withoutOwnId(declared, known), task), progress);
  } catch (error) {
    if (!(error instanceof Written)) throw error;
    progress.differs = error;
    progress.known = error.known;
  }
  if (progress.left !== undefined) await remove(progress.left, task);
  delete progress.left;
}

/** A rule that was adopted by its id is replaced now, so it is not adopted again. */
function withoutOwnId({ definition, adopt }: DeclaredRule, { ruleId }: KnownRule): DeclaredRule {
  return adopt === undefined || adopt === ruleId ? { definition } : { definition, adopt };
}

function take({ known, isTakenOver, how }: Made, progress: Progress): void {
  if (how !== undefined) progress.how = how;
  progress.known = known;
  progress.isTakenOver = isTakenOver;
}

/** A rule that is seen to be gone by now is nothing to keep, whatever failed. */
function outcome(
  step: Step,
  place: Place,
  { known, left, isTakenOver, how }: Progress,
  error?: MerchantRulesError,
): Outcome {
  const isOld = error !== undefined && "known" in step && step.known === known;
  const isThere = (rule: KnownRule | undefined): rule is KnownRule =>
    rule !== undefined && !place.live.isGone(rule.ruleId);
  return {
    key: step.key,
    ...(isThere(known) ? { known } : {}),
    ...(isThere(left) ? { left } : {}),
    ...(isTakenOver ? { isTakenOver } : {}),
    ...(how === undefined ? {} : { how }),
    ...(error === undefined ? {} : { error }),
    ...(isOld ? { isOld } : {}),
    ...(isOld && step.kind === "update" ? { wanted: step.declared.definition } : {}),
  };
}
