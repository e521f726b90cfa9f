import { randomUUID } from "node:crypto";
import type { dynamic } from "@pulumi/pulumi";
import { MerchantRulesError } from "../sdk/errors.ts";
import { contains, differences } from "../sdk/rules/index.ts";
import { atBoundary, errorOf, PartialResult } from "./hooks/boundary.ts";
import { checked } from "./hooks/check.ts";
import type { Session } from "./hooks/session.ts";
import type { Shape } from "./hooks/shape.ts";
import { type Inputs, readInputs, readState, type State, writeInputs, writeState } from "./hooks/state.ts";
import { isUnknown, type Properties } from "./hooks/wire.ts";
import { observed, resourceOf } from "./observed.ts";
import {
  apply,
  type Change,
  glanceAtUnmanaged,
  type Known,
  type KnownRule,
  lookForUnmanaged,
  type Outcome,
  type Place,
  pathsOf,
  plan,
  type Resource,
  type Step,
  say,
} from "./reconcile/index.ts";
import { describeOutcome, describePlan } from "./summary.ts";

/**
 * The six hooks that the provider host calls, for rules by key: observe, plan, apply. A MerchantRule is the set with one
 * key; the two differ by their shape alone.
 */
export class Lifecycle implements dynamic.ResourceProvider<Properties, Properties> {
  readonly #shape: Shape;
  readonly #session: Session;

  constructor(shape: Shape, session: Session) {
    this.#shape = shape;
    this.#session = session;
  }

  // Stores before anything could be awaited: the host runs the next hook without waiting for this one.
  async configure({ config }: dynamic.ConfigureRequest): Promise<void> {
    this.#session.configure((key) => config.get(key));
  }

  check(olds: Properties, news: Properties): Promise<dynamic.CheckResult<Properties>> {
    return this.#run("check", () => checked(this.#shape, this.#session, olds, news));
  }

  /** Equal: no change. Different: "unknown", so that the engine compares by itself and prints which path changed. */
  diff(id: string, olds: Properties, news: Properties): Promise<dynamic.DiffResult> {
    return this.#run("diff", async () => {
      const { isRule, field } = this.#shape;
      const state = readState(this.#shape, id, olds);
      const declared = readInputs(this.#shape, news);
      const place = this.#session.place(state.connection);
      const of = resourceOf(this.#shape, declared.owner, state, place);
      if (state.connection !== declared.connection) {
        for (const { ruleId } of of.known.values()) place.leave(ruleId, of.owner);
        return { replaces: ["connection"] };
      }
      if (declared.isUnknown) return {};
      await glanceAtUnmanaged(of.owner, of.known, place, declared);
      const there = stillThere(of.known, place);
      if (isRule && there.size === 0) return { replaces: [field] };
      const steps = planned(there, declared, place);
      if (steps === undefined) return {};
      const [first] = steps;
      if (isRule && first?.kind === "update" && isTakenOver(first, of, place)) return { replaces: [field] };
      share(steps, of, place);
      if (isRule && first?.kind === "replace") {
        if (first.declared.adopt === id) throw hasAdopted(id);
        if (of.owner !== "") place.replaced.set(of.owner, of);
        return { replaces: [field], deleteBeforeReplace: first.deleteFirst };
      }
      if (!isRule) {
        if (!declared.allowEmpty) demandSomeKept(steps, declared);
        const words = describePlan(steps, of, place);
        if (words !== undefined) console.error(words);
      }
      if (there.size < of.known.size || isInvisible(steps, place)) return { changes: true };
      const isSame =
        readInputs(this.#shape, olds).onUnmanaged === declared.onUnmanaged &&
        steps.every((step) => step.kind === "keep" && of.known.get(step.key) === step.known);
      return isSame ? { changes: false } : {};
    });
  }

  create(inputs: Properties): Promise<dynamic.CreateResult<Properties>> {
    return this.#run("create", async () => {
      const declared = readInputs(this.#shape, inputs);
      const place = this.#session.place(declared.connection);
      const of = place.replaced.get(declared.owner) ?? resourceOf(this.#shape, declared.owner, nothing, place);
      const id = `set-${randomUUID()}`;
      const { outs, rules } = await this.#make(id, new Map(), of, declared, place, inputs);
      return { id: this.#idOf(id, rules), outs };
    });
  }

  read(id: string, props: Properties = {}): Promise<dynamic.ReadResult<Properties>> {
    return this.#run("read", async () => {
      const state = readState(this.#shape, id, props);
      const place = this.#session.place(state.connection);
      const of = resourceOf(this.#shape, state.owner, state, place);
      const rules = new Map<string, KnownRule>();
      for (const [key, { known, seen, takenBy }] of await observed(of, place)) {
        rules.set(key, { ...known, definition: seen });
        if (takenBy === undefined) continue;
        const fact = `is managed by "${takenBy}" now, as its mark says; it is neither changed nor deleted here`;
        say(fact, known.ruleId, { key, of });
      }
      await lookForUnmanaged(of.owner, rules, place, readInputs(this.#shape, props));
      if (this.#shape.isRule && rules.size === 0) return { id: "" };
      const whereabouts = await place.whereabouts();
      return {
        id,
        props: writeState(this.#shape, rules, whereabouts, props),
        inputs: writeInputs(this.#shape, rules, props),
      };
    });
  }

  update(id: string, olds: Properties, news: Properties): Promise<dynamic.UpdateResult<Properties>> {
    return this.#run("update", async () => {
      const declared = readInputs(this.#shape, news);
      const place = this.#session.place(declared.connection);
      const of = resourceOf(this.#shape, declared.owner, readState(this.#shape, id, olds), place);
      // The engine can replace a MerchantRule that is gone, an update cannot.
      const known = this.#shape.isRule ? of.known : stillThere(of.known, place);
      const { outs } = await this.#make(id, known, of, declared, place, news);
      return { outs };
    });
  }

  delete(id: string, props: Properties): Promise<void> {
    return this.#run("delete", async () => {
      const state = readState(this.#shape, id, props);
      const place = this.#session.place(state.connection);
      const of = resourceOf(this.#shape, state.owner, state, place);
      const steps = [...of.known].map(([key, known]): Step => ({ kind: "delete", key, known }));
      share(steps, of, place);
      const outcomes = await apply(steps, of, place);
      const afterwards =
        "the others are deleted, but the state has all of them still: run `pulumi destroy` again, or `pulumi up --refresh` to have them made again";
      const error = errorOf(outcomes, this.#shape.isRule, afterwards);
      if (error !== undefined) throw error;
    });
  }

  #run<T>(hook: string, run: () => T | Promise<T>): Promise<T> {
    return atBoundary(hook, (error) => this.#session.explain(error), run);
  }

  /** Makes the rules as declared. What succeeded is in the outputs, or in the partial result that the error carries. */
  async #make(
    id: string,
    known: Known,
    of: Resource,
    declared: Inputs,
    place: Place,
    inputs: Properties,
  ): Promise<{ outs: Properties; rules: Known }> {
    const { isRule } = this.#shape;
    const steps = plan(known, declared.rules, place.contract);
    const [first] = steps;
    if (isRule && first?.kind === "replace") throw mustBeReplaced(first, place);
    // Of an update, the diff before it has looked.
    if (known.size === 0) await lookForUnmanaged(of.owner, known, place, declared);
    const outcomes = await apply(steps, of, place);
    if (!isRule) console.error(describeOutcome(steps, outcomes, of, place));
    const rules = rulesAfter(outcomes);
    const outs = writeState(this.#shape, rules, await place.whereabouts(), inputs);
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

const nothing: State = { rules: new Map(), connection: "", owner: "", whereabouts: undefined };

/**
 * The rules that no other resource has deleted in this run. One that took a rule over from a set, in a run that did not
 * come to that set (`--target`, or a kill), may be asked only after the set has deleted what it still has in its state.
 */
function stillThere(known: Known, place: Place): Known {
  return new Map([...known].filter(([, { ruleId }]) => place.record(ruleId).rule !== null));
}

/** The steps that a diff speaks of; undefined where what would be refused depends on values that are unknown yet. */
function planned(known: Known, { rules }: Inputs, place: Place): Step[] | undefined {
  try {
    return plan(known, rules, place.contract);
  } catch (error) {
    if ([...rules.values()].some(({ definition }) => contains(definition, isUnknown))) return undefined;
    throw error;
  }
}

/** Says which rules the resource keeps and which it gives up. @throws MerchantRulesError: another holds one that it keeps */
function share(steps: readonly Step[], { owner }: Resource, place: Place): void {
  for (const step of steps) {
    if (step.kind === "keep" || step.kind === "update") place.hold(step.known.ruleId, owner);
    else if (step.kind !== "create") place.leave(step.known.ruleId, owner);
  }
}

/** Whether another resource took the rule over in this run, and this one is to be another rule. */
function isTakenOver({ known, deleteFirst }: Change, of: Resource, place: Place): boolean {
  return !deleteFirst && place.contract.rule.naturalKey !== null && place.isHeldByOther(known.ruleId, of.owner);
}

/**
 * Whether the engine would see no difference although there is one: to it, null and absent are the same. Where it sees
 * one it should compare, for then it prints the paths.
 */
function isInvisible(steps: readonly Step[], { contract }: Place): boolean {
  const changed = steps.filter(({ kind }) => kind !== "keep");
  const areNulls = ({ known, declared }: Change): boolean =>
    differences(known.definition, declared.definition, contract.rule).every(
      ({ kind, before, after }) => kind !== "update" && (before ?? null) === null && (after ?? null) === null,
    );
  return changed.length > 0 && changed.every((step) => step.kind === "update" && areNulls(step));
}

/**
 * What the state must know after the steps: also the rules that could not be deleted, for the next run to do it. One that
 * is not as declared keeps the definition that it had, sealed.
 */
function rulesAfter(outcomes: readonly Outcome[]): Known {
  const rules = new Map<string, KnownRule>();
  const add = (key: string, rule: KnownRule): void => {
    if (rules.has(key)) add(`${key} (to be deleted)`, rule);
    else rules.set(key, rule);
  };
  for (const { key, known, isOld } of outcomes)
    if (known !== undefined) add(key, isOld ? { ...known, isSealed: true } : known);
  for (const { key, left } of outcomes)
    if (left !== undefined) add(`${key} (to be deleted)`, { ...left, isSealed: true });
  return rules;
}

/** Whether the state would say the same of every rule. */
function isSame(rules: Known, before: Known): boolean {
  const same = (key: string, { ruleId, definition }: KnownRule): boolean => {
    const old = before.get(key);
    return old?.ruleId === ruleId && old.definition === definition;
  };
  return rules.size === before.size && [...rules].every(([key, rule]) => same(key, rule));
}

/** @throws MerchantRulesError RULE_CONFLICT: no rule of the set would stay, as when another folder is read */
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

/** The engine replaces a rule only when an input changes: not after a create whose rule the service keeps otherwise. */
function mustBeReplaced({ known, declared }: Change, place: Place): MerchantRulesError {
  const paths = pathsOf(known.definition, declared.definition, place);
  const reason = `the rule differs at ${paths}, and by the contract it cannot be changed in place`;
  return new MerchantRulesError("UNSUPPORTED_BY_CONTRACT", reason, {
    attempted: `update rule ${known.ruleId}`,
    advice:
      "declare it as the service keeps it (`pulumi refresh`, then `pulumi preview --diff` shows how). If only the contract has changed, run `pulumi up` again, which replaces the rule",
  });
}
