import { bothDoubts, fieldsAdded } from "../../sdk/json/added-fields.ts";
import { type Known, type KnownRule, plan, type Step } from "../decide/plan.ts";
import { print } from "../host/print.ts";
import type { Properties } from "../host/wire.ts";
import { isSamePlace } from "../merchant/site.ts";
import { harmedBefore } from "../refusals/audit.ts";
import { unfinishedField } from "../state/names.ts";
import { keyOfLeft, writeState } from "../state/state.ts";
import { apply } from "../steps/apply.ts";
import { stillHarmed } from "../steps/audited.ts";
import { demandNothingLost } from "../steps/erased.ts";
import { lookForHandEdits } from "../steps/hand-edits.ts";
import type { Outcome } from "../steps/outcome.ts";
import { lookForUnmanaged } from "../steps/unmanaged.ts";
import { errorOf, PartialResult } from "./boundary.ts";
import type { HookCall } from "./call.ts";
import { hear } from "./steps-of.ts";
import { describeOutcome } from "./summary.ts";

/** What a hook made: the outputs, and the rules in them. */
export interface MadeRules {
  readonly outs: Properties;
  readonly rules: Known;
}

/**
 * Makes the rules as declared.
 * @param id the resource's, should only a part of the work succeed
 * @throws PartialResult: the rules that succeeded are in it
 */
export async function make(call: HookCall, id: string, inputs: Properties): Promise<MadeRules> {
  const { of, place, declared, onDrift, shape, session } = call;
  session.planIsDone(of.holder);
  const steps = plan(of.known, declared.rules, place.contract).map((step) => inPlace(step, shape.isRule));
  // Of an update, the diff before it has looked.
  if (of.known.size === 0) await lookForUnmanaged(of.known, place, declared);
  hear(steps, call);
  const outcomes = await apply(steps, of, place, onDrift);
  if (!shape.isRule) print(...describeOutcome(steps, outcomes, of, place));
  const rules = seenHere(stillThere(rulesAfter(outcomes), call), call);
  const before = await stillHarmed(call.harmed, place);
  const harmed = [...new Set([...before, ...outcomes.flatMap((outcome) => outcome.harmed ?? [])])];
  const outs = writeState(shape, rules, inputs, place.contract.rule.secret, harmed);
  const error =
    errorOf(outcomes, shape.isRule, "what was done for the others is in the state") ??
    (before.length === 0 ? undefined : harmedBefore(before));
  if (error === undefined) return { outs, rules };
  // Where nothing has changed, or the one rule is gone, the state stays as it is.
  const isSameHarm = harmed.join() === call.harmed.join();
  if ((isSame(rules, of.known) && isSameHarm) || (shape.isRule && rules.size === 0)) throw error;
  // The engine keeps the inputs of before, but for a create.
  const isUpdate = of.known.size > 0;
  throw new PartialResult(error, idOf(call, id, rules), isUpdate ? { ...outs, [unfinishedField]: true } : outs);
}

/** Returns the id of a resource: that of its one rule; of a set its own. */
export function idOf({ shape }: Pick<HookCall, "shape">, id: string, rules: Known): string {
  return shape.isRule ? ([...rules.values()][0]?.ruleId ?? id) : id;
}

/** Makes an update of a replacement: only the engine replaces the rule of a resource of one rule: an update that cannot change it says so. */
function inPlace(step: Step, isRule: boolean): Step {
  return isRule && step.kind === "replace" ? { ...step, kind: "update" } : step;
}

/** Refuses to replace a rule that was taken over where fields would be lost. Delete and create ask, whichever is first. */
export async function demandReplaceable({ of, place, onDrift, session }: HookCall): Promise<void> {
  const replacement = session.replaced.get(of.holder);
  if (replacement === undefined) return;
  const deletes = [...replacement.of.known].map(([key, known]): Step => ({ kind: "delete", key, known }));
  if (onDrift === "fail") await lookForHandEdits(deletes, replacement.of, place, "fail");
  for (const [key, known] of replacement.of.known)
    await demandNothingLost(known, replacement.next, { key, of, place, site: undefined });
}

/** Returns the rows but for those whose rules the run has seen to be gone from here, by whatever write. */
function stillThere(rules: Known, { of, place }: HookCall): Known {
  const now = place.site(of.link?.ownerId);
  return new Map([...rules].filter(([, { ruleId, site }]) => !(place.paper.isGone(ruleId) && isSamePlace(site, now))));
}

/** Notes that the rows that nobody touched, of an old place that this run has proven, stand here now. */
function seenHere(rules: Known, { of, place }: HookCall): Known {
  const now = place.site(of.link?.ownerId);
  const before = new Set(of.known.values());
  return new Map(
    [...rules].map(([key, row]) => {
      const isMoved = before.has(row) && !isSamePlace(row.site, now) && place.check.isProven(row, of);
      return [key, isMoved && row.site !== undefined ? { ...row, site: { ...now, identity: row.site.identity } } : row];
    }),
  );
}

/**
 * Returns the rules that the state must know after the steps, also those that the next run must delete. A rule that is not
 * as declared keeps its old definition, sealed; and the doubt, where nobody knows what its write did.
 */
function rulesAfter(outcomes: readonly Outcome[]): Known {
  const rules = new Map<string, KnownRule>();
  const add = (key: string, rule: KnownRule): void => {
    if (rules.has(key)) add(keyOfLeft(key), rule);
    else rules.set(key, rule);
  };
  const unfinished = (rule: KnownRule, { error, wanted = {} }: Outcome): KnownRule => ({
    ...rule,
    isSealed: true,
    ...(error?.outcomeUnknown ? { doubt: bothDoubts(rule.doubt ?? {}, fieldsAdded(rule.definition, wanted)) } : {}),
  });
  for (const outcome of outcomes)
    if (outcome.known !== undefined)
      add(outcome.key, outcome.isOld ? unfinished(outcome.known, outcome) : outcome.known);
  for (const outcome of outcomes)
    if (outcome.left !== undefined) add(keyOfLeft(outcome.key), unfinished(outcome.left, outcome));
  return rules;
}

/** Decides whether the state would say the same of every rule. */
function isSame(rules: Known, before: Known): boolean {
  const same = (key: string, { ruleId, definition, doubt, mark, site }: KnownRule): boolean => {
    const old = before.get(key);
    return (
      old?.ruleId === ruleId &&
      old.definition === definition &&
      old.doubt === doubt &&
      old.mark === mark &&
      old.site === site
    );
  };
  return rules.size === before.size && [...rules].every(([key, rule]) => same(key, rule));
}
