import { randomUUID } from "node:crypto";
import type { dynamic } from "@pulumi/pulumi";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { contains, differences } from "../../sdk/json/index.ts";
import { print } from "../host/print.ts";
import { isUnknown, type Properties } from "../host/wire.ts";
import {
  apply,
  bothDoubts,
  type Change,
  demandNothingLost,
  fieldsAdded,
  glanceAtUnmanaged,
  isElsewhere,
  type Known,
  type KnownRule,
  lookForHandEdits,
  lookForUnmanaged,
  type OnDrift,
  type Outcome,
  type Place,
  pathsOf,
  plan,
  type Resource,
  type Step,
  warnOf,
} from "../reconcile/index.ts";
import type { ResourceShape } from "../state/shape.ts";
import {
  connectionName,
  type Inputs,
  keyOfLeft,
  readInputs,
  readState,
  type State,
  writeInputs,
  writeState,
} from "../state/state.ts";
import { atBoundary, errorOf, PartialResult } from "./boundary.ts";
import { checked } from "./check.ts";
import { sayLeftovers } from "./leftovers.ts";
import { readObserved, resourceOf } from "./observed.ts";
import { oddFields } from "./odd-fields.ts";
import type { Session } from "./session.ts";
import { describeOutcome, describePlan, describeTakeOvers, hintAtTexts } from "./summary.ts";

/**
 * The six hooks that the provider host calls, for rules by key: observe, plan, apply. A MerchantRule is the set with one
 * key; the two differ by their shape alone.
 */
export class Lifecycle implements dynamic.ResourceProvider<Properties, Properties> {
  readonly #shape: ResourceShape;
  readonly #session: Session;

  constructor(shape: ResourceShape, session: Session) {
    this.#shape = shape;
    this.#session = session;
  }

  // Stores before anything could be awaited: the host runs the next hook without waiting for this one.
  async configure({ config }: dynamic.ConfigureRequest): Promise<void> {
    this.#session.configure((key) => config.get(key));
  }

  check(olds: Properties, news: Properties): Promise<dynamic.CheckResult<Properties>> {
    return this.#run("check", () => {
      const result = checked(this.#shape, this.#session, olds, news);
      if (result.failures?.length === 0) {
        this.#announce(olds, news);
        if (!this.#shape.isRule) this.#session.sayOnce("texts", hintAtTexts(news));
        this.#hintAtSlips(news);
      }
      return result;
    });
  }

  /** Compares. Different is "unknown", so that the engine compares by itself and prints which path changed. */
  diff(id: string, olds: Properties, news: Properties): Promise<dynamic.DiffResult> {
    return this.#run("diff", async () => {
      const { isRule, field } = this.#shape;
      const state = readState(this.#shape, id, olds);
      const declared = readInputs(this.#shape, news);
      const place = this.#session.place(state.connection);
      const of = resourceOf(this.#shape, declared, state, this.#session);
      if (state.connection !== declared.connection) {
        for (const { ruleId } of of.known.values()) place.holders.leave(ruleId, of);
        return { replaces: ["connection"] };
      }
      if (declared.isUnknown) return {};
      await glanceAtUnmanaged(of.known, place, declared);
      const there = ownOf(of.known, of, place);
      if (isRule && there.size === 0) return { replaces: [field] };
      const steps = planned(there, declared, place);
      if (steps === undefined) return {};
      const [first] = steps;
      if (isRule && first?.kind === "update" && isTakenOver(first, of, place)) return { replaces: [field] };
      share(steps, of, place);
      if (isRule && first?.kind === "replace") {
        if (first.declared.adopt === first.known.ruleId) throw hasAdopted(first.known.ruleId);
        if (of.owner !== "") place.holders.replaced.set(of.holder, { of, next: first.declared.definition });
        return { replaces: [field], deleteBeforeReplace: first.deleteFirst };
      }
      if (!isRule) {
        if (!declared.allowEmpty) demandSomeKept(steps, declared);
        const words = describePlan(steps, of, place);
        if (words !== undefined) this.#session.sayPlan(of.holder, words);
      }
      if (there.size < of.known.size || isInvisible(steps, place)) return { changes: true };
      // Rules that were made as another identity are to be looked at before anything says that they are unchanged.
      if (isElsewhere(of)) return { changes: true };
      const isSame =
        readInputs(this.#shape, olds).onUnmanaged === declared.onUnmanaged &&
        readInputs(this.#shape, olds).onDrift === declared.onDrift &&
        steps.every((step) => step.kind === "keep" && of.known.get(step.key) === step.known);
      place.holders.declare(of.holder, isSame ? new Set() : identitiesOf(steps, place));
      return isSame ? { changes: false } : {};
    });
  }

  create(inputs: Properties): Promise<dynamic.CreateResult<Properties>> {
    return this.#run("create", async () => {
      const declared = readInputs(this.#shape, inputs);
      const place = this.#session.place(declared.connection);
      const made = resourceOf(this.#shape, declared, { ...nothing, connection: declared.connection }, this.#session);
      const of = place.holders.replaced.get(made.holder)?.of ?? made;
      await this.#demandNothingLost(of, place, declared);
      const id = `set-${randomUUID()}`;
      const { outs, rules } = await this.#make(id, new Map(), of, declared, place, inputs);
      return { id: this.#idOf(id, rules), outs };
    });
  }

  read(id: string, props: Properties = {}): Promise<dynamic.ReadResult<Properties>> {
    return this.#run("read", async () => {
      const state = readState(this.#shape, id, props);
      const place = this.#session.place(state.connection);
      const of = resourceOf(this.#shape, { owner: state.owner, connectionId: undefined }, state, this.#session);
      const rules = new Map<string, KnownRule>();
      for (const [key, { known, seen, takenBy, isHeldByOther }] of await readObserved(of, place)) {
        if (isHeldByOther)
          warnOf("is in the state of another resource as well, and is read for that one alone", known.ruleId, {
            key,
            of,
          });
        const { doubt: _, ...told } = known;
        rules.set(key, { ...told, definition: seen });
        if (takenBy === undefined) continue;
        const fact = `is managed by "${takenBy}" now, as its mark says; it is neither changed nor deleted here`;
        warnOf(fact, known.ruleId, { key, of });
      }
      await lookForUnmanaged(rules, place, readInputs(this.#shape, props));
      await sayLeftovers(of, rules, place);
      if (this.#shape.isRule && rules.size === 0) return { id: "" };
      const secrets = place.contract.rule.secret;
      return {
        id: this.#idOf(id, rules),
        props: writeState(this.#shape, rules, props, state.formerOwnerIds, secrets),
        inputs: writeInputs(this.#shape, rules, props, secrets),
      };
    });
  }

  update(id: string, olds: Properties, news: Properties): Promise<dynamic.UpdateResult<Properties>> {
    return this.#run("update", async () => {
      const declared = readInputs(this.#shape, news);
      const place = this.#session.place(declared.connection);
      const of = resourceOf(this.#shape, declared, readState(this.#shape, id, olds), this.#session);
      // The engine can replace a MerchantRule that is gone, an update cannot.
      const known = this.#shape.isRule ? of.known : ownOf(of.known, of, place);
      const { outs } = await this.#make(id, known, of, declared, place, news);
      return { outs };
    });
  }

  delete(id: string, props: Properties): Promise<void> {
    return this.#run("delete", async () => {
      const state = readState(this.#shape, id, props);
      const place = this.#session.place(state.connection);
      const of = resourceOf(this.#shape, { owner: state.owner, connectionId: undefined }, state, this.#session);
      const steps = [...of.known].map(([key, known]): Step => ({ kind: "delete", key, known }));
      share(steps, of, place);
      await this.#demandNothingLost(of, place, readInputs(this.#shape, props));
      const outcomes = await apply(steps, of, place, this.#onDrift(readInputs(this.#shape, props)));
      const afterwards =
        "the others are deleted, but all of them are still in the state: run `pulumi destroy` again, or `pulumi up --refresh` to have them made again";
      const error = errorOf(outcomes, this.#shape.isRule, afterwards);
      if (error !== undefined) throw error;
    });
  }

  #hintAtSlips(news: Properties): void {
    if (isUnknown(news.connection)) return;
    const { contract } = this.#session.place(connectionName(news));
    for (const { name, sentence } of oddFields(this.#shape, contract, news))
      this.#session.sayOnce(`field ${name}`, sentence);
  }

  #onDrift({ onDrift, connection }: Inputs): OnDrift {
    return onDrift ?? this.#session.settings(connection).onDrift;
  }

  /** Refuses to replace a rule that was taken over where fields would be lost. Delete and create ask, whichever is first. */
  async #demandNothingLost(of: Resource, place: Place, inputs: Inputs): Promise<void> {
    const replacement = place.holders.replaced.get(of.holder);
    if (replacement === undefined) return;
    const deletes = [...replacement.of.known].map(([key, known]): Step => ({ kind: "delete", key, known }));
    if (this.#onDrift(inputs) === "fail") await lookForHandEdits(deletes, replacement.of, place, "fail");
    for (const [key, known] of replacement.of.known)
      await demandNothingLost(known, replacement.next, { key, of, place });
  }

  /** Notes what a resource that is about to be made will hold: a rule that another gives up is left to it. */
  #announce(olds: Properties, news: Properties): void {
    if (this.#shape.field in olds || isUnknown(news.connection)) return;
    const declared = readInputs(this.#shape, news);
    const place = this.#session.place(declared.connection);
    const of = resourceOf(this.#shape, declared, { ...nothing, connection: declared.connection }, this.#session);
    const steps = [...declared.rules].map(([key, rule]): Step => ({ kind: "create", key, declared: rule }));
    place.holders.declare(of.holder, identitiesOf(steps, place));
    const words = describeTakeOvers(steps, of, place);
    if (words !== undefined) print(...words);
  }

  #run<T>(hook: string, run: () => T | Promise<T>): Promise<T> {
    return atBoundary(hook, (error) => this.#session.explain(error), run);
  }

  /** Makes the rules as declared. The rules that succeeded are in the outputs, or in the partial result of the error. */
  async #make(
    id: string,
    known: Known,
    of: Resource,
    declared: Inputs,
    place: Place,
    inputs: Properties,
  ): Promise<{ outs: Properties; rules: Known }> {
    const { isRule } = this.#shape;
    this.#session.planIsDone(of.holder);
    const steps = plan(known, declared.rules, place.contract);
    const [first] = steps;
    if (isRule && first?.kind === "replace") throw mustBeReplaced(first, place);
    // Of an update, the diff before it has looked.
    if (known.size === 0) await lookForUnmanaged(known, place, declared);
    const outcomes = await apply(steps, of, place, this.#onDrift(declared)).finally(() =>
      place.holders.declare(of.holder, new Set()),
    );
    if (!isRule) print(...describeOutcome(steps, outcomes, of));
    const rules = stillThere(rulesAfter(outcomes), place);
    const undecided = outcomes.flatMap(({ key, error }) => (error?.outcomeUnknown ? [key] : []));
    await sayLeftovers(of, rules, place, undecided);
    // Of a copied state nothing is kept: what it says is the other stack's.
    const former = [...of.ownerIds].filter((each) => each !== declared.connectionId?.ownerId);
    const formerOwnerIds = declared.connectionId === undefined ? [] : former;
    const outs = writeState(this.#shape, rules, inputs, formerOwnerIds, place.contract.rule.secret);
    const error = errorOf(outcomes, isRule, "what was done for the others is in the state");
    if (error === undefined) return { outs, rules };
    // Where nothing has changed, or the one rule is gone, the state stays as it is.
    if (isSame(rules, known) || (isRule && rules.size === 0)) throw error;
    throw new PartialResult(error, this.#idOf(id, rules), outs);
  }

  #idOf(id: string, rules: Known): string {
    return this.#shape.isRule ? ([...rules.values()][0]?.ruleId ?? id) : id;
  }
}

const nothing: State = {
  rules: new Map(),
  connection: "",
  connectionId: undefined,
  formerOwnerIds: [],
  owner: "",
};

/**
 * Returns the rules that no other resource has deleted in this run. A resource that took a rule over from a set, in a run
 * that did not come to that set (`--target`, or a kill), may be called only after the set has deleted the rule.
 */
function stillThere(known: Known, place: Place): Known {
  return new Map([...known].filter(([, { ruleId }]) => !place.live.isGone(ruleId)));
}

/**
 * Returns the rules that are still the resource's own: no other resource has deleted them, nor has made another rule of
 * one that the states of both know, as after a move in a run that came to no end.
 */
function ownOf(known: Known, of: Resource, place: Place): Known {
  const { holders, live } = place;
  return new Map(
    [...stillThere(known, place)].filter(
      ([, { ruleId, definition }]) => !holders.isAnotherNow(ruleId, of, live.naturalKeyOf(definition)),
    ),
  );
}

/** Plans the steps of a diff; undefined where the plan is refused and values are unknown yet. */
function planned(known: Known, { rules }: Inputs, place: Place): Step[] | undefined {
  try {
    return plan(known, rules, place.contract);
  } catch (error) {
    if ([...rules.values()].some(({ definition }) => contains(definition, isUnknown))) return undefined;
    throw error;
  }
}

/** Notes which rules the resource keeps and which it gives up. @throws MerchantRulesError: another holds one that it keeps */
function share(steps: readonly Step[], of: Resource, place: Place): void {
  const { holders } = place;
  if (isElsewhere(of)) return;
  for (const step of steps) {
    // A rule that went to another resource of this run is let go of by the update.
    if (step.kind === "update" && isTakenOver(step, of, place)) continue;
    if (step.kind === "keep" || step.kind === "update") {
      const { definition } = step.kind === "keep" ? step.known : step.declared;
      holders.hold(step.known.ruleId, of, place.live.naturalKeyOf(definition));
    }
    if (step.kind === "delete" || step.kind === "replace") holders.leave(step.known.ruleId, of);
  }
}

/** Returns the natural keys of the rules that a resource is about to make. */
function identitiesOf(steps: readonly Step[], { live }: Place): Set<string> {
  const made = steps.flatMap((step) => (step.kind === "create" ? [live.naturalKeyOf(step.declared.definition)] : []));
  return new Set(made.filter((key) => key !== undefined));
}

/** Decides whether another resource took the rule over in this run, and this one is to be another rule. */
function isTakenOver({ known, deleteFirst }: Change, of: Resource, place: Place): boolean {
  return (
    !deleteFirst &&
    !isElsewhere(of) &&
    place.contract.rule.naturalKey !== null &&
    place.holders.isHeldByOther(known.ruleId, of)
  );
}

/**
 * Decides whether the engine would see no difference although there is one: to it, null and absent are the same. Where it
 * sees one, the engine should do the comparison, because then it prints the paths.
 */
function isInvisible(steps: readonly Step[], { contract }: Place): boolean {
  const changed = steps.filter(({ kind }) => kind !== "keep");
  // The engine has the inputs of the run after which nobody knew.
  if (changed.some((step) => step.kind === "update" && step.known.doubt !== undefined)) return true;
  const areNulls = ({ known, declared }: Change): boolean =>
    differences(known.definition, declared.definition, contract.rule).every(
      ({ kind, before, after }) => kind !== "update" && (before ?? null) === null && (after ?? null) === null,
    );
  return changed.length > 0 && changed.every((step) => step.kind === "update" && areNulls(step));
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
  const same = (key: string, { ruleId, definition, doubt }: KnownRule): boolean => {
    const old = before.get(key);
    return old?.ruleId === ruleId && old.definition === definition && old.doubt === doubt;
  };
  return rules.size === before.size && [...rules].every(([key, rule]) => same(key, rule));
}

/** Refuses a change by which no rule of a set stays, as when another folder is read. @throws RULE_CONFLICT */
function demandSomeKept(steps: readonly Step[], { rules }: Inputs): void {
  const deleted = steps.filter(({ kind }) => kind === "delete").length;
  if (deleted === 0 || steps.some(({ kind }) => kind !== "delete" && kind !== "create")) return;
  const reason = `this change deletes every rule that the set has (${deleted}) and declares ${rules.size} others`;
  throw new MerchantRulesError("RULE_CONFLICT", reason, {
    attempted: "compare the set with its state",
    advice:
      "check where the rules are read from. If none of the old rules is to stay, set allowEmpty: true for one run",
  });
}

function hasAdopted(ruleId: string): MerchantRulesError {
  const reason = "this change replaces the rule, and adopt names the rule itself";
  const advice = "remove adopt: it has done its work";
  return new MerchantRulesError("RULE_CONFLICT", reason, { attempted: `replace rule ${ruleId}`, advice });
}

/** Refuses a change that only a replace can make: the engine replaces only when an input changes. */
function mustBeReplaced({ known, declared }: Change, place: Place): MerchantRulesError {
  const paths = pathsOf(known.definition, declared.definition, place);
  const reason = `the rule differs at ${paths}, and by the contract it cannot be changed in place`;
  return new MerchantRulesError("UNSUPPORTED_BY_CONTRACT", reason, {
    attempted: `update rule ${known.ruleId}`,
    advice:
      "declare it as the service keeps it (`pulumi refresh`, then `pulumi preview --diff` shows how). If only the contract has changed, run `pulumi up` again, which replaces the rule",
  });
}
