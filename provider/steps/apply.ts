import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import {
  type Change,
  type DeclaredRule,
  demandOneRule,
  type KnownRule,
  type OnDrift,
  type Step,
} from "../decide/plan.ts";
import { leaving, leavingDefinition } from "../host/wire.ts";
import { isSamePlace, sameIdentity } from "../merchant/site.ts";
import { mayHavePairWord } from "../merchant/words.ts";
import { leftThere, warnOf } from "../refusals/say.ts";
import type { Made } from "../run/making.ts";
import type { Place } from "../run/place.ts";
import type { Resource } from "../run/resource.ts";
import type { Task } from "../run/task.ts";
import { Written } from "../run/written.ts";
import { audited } from "./audited.ts";
import { createOnce } from "./create.ts";
import { demandNothingLost } from "./erased.ts";
import { lookForHandEdits } from "./hand-edits.ts";
import { sameRow } from "./known.ts";
import type { Outcome } from "./outcome.ts";
import { remove } from "./remove.ts";
import { update } from "./update.ts";

/**
 * Carries out the steps, side by side as far as the connection's limits allow; one that fails does not stop the others.
 * @throws MerchantRulesError when this may not be the place of the resource's rules, or a rule was changed there since and
 * `onDrift` refuses to write over that; then nothing was written
 */
export async function apply(steps: readonly Step[], of: Resource, place: Place, onDrift: OnDrift): Promise<Outcome[]> {
  // Where the contract has no delete, a delete is refused before its first request.
  const canDelete = place.contract.operations.delete.identifyBy !== null;
  const isWritten = (step: Step): boolean =>
    step.kind === "delete"
      ? canDelete && sameRow(step.known, { of, key: step.key, place }, true).claim !== "yes"
      : step.kind !== "keep" || isToBeProven(step, of, place);
  if (!steps.some(isWritten)) return sideBySide(steps, { of, place, site: undefined });
  const site = of.link === undefined ? undefined : await place.here(of.link.ownerId);
  if (needsList(steps, place)) await place.live.listed();
  if (steps.some(({ kind }) => kind === "create")) await place.check.ofCreate(of);
  const here: Step[] = [];
  for (const step of steps) here.push(isWritten(step) ? await standing(step, of, place) : step);
  await lookForHandEdits(here, of, place, onDrift);
  const outcomes = await audited(await sideBySide(here, { of, place, site }), { of, place, site });
  return outcomes.map((outcome, at) => keepable(outcome, here[at]));
}

/**
 * True of a rule that is as declared, and has still to be seen at this connection, or to be told from another resource's: the
 * update is for that alone.
 */
function isToBeProven({ key, known, adopt }: Extract<Step, { kind: "keep" }>, of: Resource, place: Place): boolean {
  const { site, notOurs, ruleId } = known;
  if (typeof adopt === "string" && adopt !== ruleId) return true;
  if (notOurs === true || sameRow(known, { of, key, place }, false).claim === "yes") return true;
  if (site === undefined || of.link === undefined) return false;
  const now = place.site(of.link.ownerId);
  const remembered = of.link.site;
  if (site.connection !== now.connection) return true;
  if (isSamePlace(remembered, now) && sameIdentity(site, remembered) === false) return true;
  return mayHavePairWord(place.words) && !isSamePlace(site, now);
}

/** A step by where its rule stands: what stands elsewhere stays there, and is made anew here. */
async function standing(step: Step, of: Resource, place: Place): Promise<Step> {
  if (step.kind === "create") return step;
  const { key, known } = step;
  const declared = declaredIn(step);
  if ((await place.check.ofRow(key, known, of)) !== "elsewhere") {
    demandOneRule(step, place.contract);
    return step.kind === "keep" ? { kind: "update", key, known, declared, deleteFirst: false } : step;
  }
  warnOf(leftThere, known.ruleId, { key, of });
  place.claims.drop(of, key, known.ruleId);
  return step.kind === "delete" ? { ...step, isLeft: true } : { kind: "create", key, declared };
}

function declaredIn(step: Exclude<Step, { kind: "create" }>): DeclaredRule {
  if (step.kind === "update" || step.kind === "replace") return step.declared;
  const { definition } = step.known;
  return step.kind === "keep" && step.adopt !== undefined ? { definition, adopt: step.adopt } : { definition };
}

/** The steps under way at a time: many more than requests are, since some wait, and so few that a large set fits in memory. */
const mostAtOnce = 1000;

async function sideBySide(steps: readonly Step[], at: Omit<Task, "key">): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const queue = steps.entries();
  const next = async (): Promise<void> => {
    for (const [index, step] of queue) outcomes[index] = await applyStep(step, { ...at, key: step.key });
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

/** One step. Whatever is thrown in it is its own failure: what was done for other rules must come into the state. */
async function applyStep(step: Step, task: Task): Promise<Outcome> {
  const { place } = task;
  const progress: Progress =
    step.kind === "create" ? {} : { known: step.kind === "keep" ? unsealed(step.known) : step.known };
  try {
    if (step.kind !== "keep") place.audits.demandGoingOn();
    if (step.kind === "create") take(await createOnce(step.declared, task), progress);
    if (step.kind === "update") await updated(step, task, progress);
    if (step.kind === "replace") await replaced(step, task, progress);
    if (step.kind === "delete") {
      if (step.isLeft !== true) await remove(step.known, task);
      delete progress.known;
    }
    return outcome(step, place, progress, progress.differs?.error);
  } catch (error) {
    if (error instanceof Written) return outcome(step, place, { ...progress, known: error.known }, error.error);
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
function keepable(done: Outcome, step: Step | undefined): Outcome {
  if (step === undefined) return done;
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
  const gone = task.place.paper.isGone(known.ruleId) ? known : undefined;
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
    rule !== undefined && !place.paper.isGone(rule.ruleId);
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
