import { randomUUID } from "node:crypto";
import type { dynamic } from "@pulumi/pulumi";
import { isJsonObject, jsonObject } from "../../sdk/rules/index.ts";
import { apply, type KnownRule, type Outcome, observe, plan, type Step } from "../reconcile/index.ts";
import { atBoundary } from "./boundary.ts";
import { checkRuleSet } from "./check-rule-set.ts";
import { withContractSecrets } from "./contract-secrets.ts";
import { hold, isInvisible, notDeleted, planned } from "./planned.ts";
import { errorOfRules, PartialResult } from "./rule-failures.ts";
import type { Session } from "./session.ts";
import { readRuleSetInputs, readRuleSetState, writeRuleSetInputs, writeRuleSetState } from "./set-wire.ts";
import { lookForUnmanaged } from "./unmanaged.ts";
import type { Properties } from "./wire.ts";

type Known = ReadonlyMap<string, KnownRule>;

/** The hooks that the provider host calls for a MerchantRuleSet: the reconciler with many keys. */
export class MerchantRuleSetHooks implements dynamic.ResourceProvider<Properties, Properties> {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  // Stores before anything could be awaited: the host runs the next hook without waiting for this one.
  async configure({ config }: dynamic.ConfigureRequest): Promise<void> {
    this.#session.configure((key) => config.get(key));
  }

  check(_olds: Properties, news: Properties): Promise<dynamic.CheckResult<Properties>> {
    return atBoundary("check", () => ({
      inputs: withContractSecrets(news, this.#session, ({ rules = null }, mark) => ({
        ...news,
        rules: isJsonObject(rules) ? jsonObject(Object.entries(rules).map(([key, rule]) => [key, mark(rule)])) : rules,
      })),
      failures: checkRuleSet(news, this.#session),
    }));
  }

  diff(_id: string, olds: Properties, news: Properties): Promise<dynamic.DiffResult> {
    return atBoundary("diff", () => {
      const { rules: known, connection } = readRuleSetState(olds);
      const declared = readRuleSetInputs(news);
      if (connection !== declared.connection) return { replaces: ["connection"] };
      const contract = this.#session.contract(connection);
      const holders = this.#session.holders(connection);
      const there = notDeleted(known, holders);
      const steps = planned(there, declared.rules, contract);
      if (steps === undefined) return {};
      hold(steps, holders);
      if (there.size < known.size || isInvisible(steps, contract)) return { changes: true };
      const isSame =
        steps.every(({ kind }) => kind === "keep") && [...declared.rules.keys()].every((key) => known.has(key));
      return isSame ? { changes: false } : {};
    });
  }

  create(inputs: Properties): Promise<dynamic.CreateResult<Properties>> {
    return atBoundary("create", async () => {
      const id = `set-${randomUUID()}`;
      return { id, outs: await this.#write(id, new Map(), inputs) };
    });
  }

  read(id: string, props: Properties = {}): Promise<dynamic.ReadResult<Properties>> {
    return atBoundary("read", async () => {
      const { rules, connection } = readRuleSetState(props);
      const live = await this.#session.live(connection);
      const seen = await observe(rules, live, (key) => key);
      await lookForUnmanaged(seen, live, readRuleSetInputs(props).onUnmanaged);
      return { id, props: writeRuleSetState(seen, props), inputs: writeRuleSetInputs(seen, props) };
    });
  }

  update(id: string, olds: Properties, news: Properties): Promise<dynamic.UpdateResult<Properties>> {
    return atBoundary("update", async () => ({ outs: await this.#write(id, readRuleSetState(olds).rules, news) }));
  }

  delete(_id: string, props: Properties): Promise<void> {
    return atBoundary("delete", async () => {
      const { rules, connection } = readRuleSetState(props);
      const steps = [...rules].map(([key, known]): Step => ({ kind: "delete", key, known }));
      const outcomes = await apply(steps, await this.#session.live(connection), (key) => key);
      const error = errorOfRules(outcomes, steps.length);
      if (error !== undefined) throw error;
    });
  }

  /** Makes the rules as declared. What succeeded is in the outputs, or in the partial result that the error carries. */
  async #write(id: string, known: Known, inputs: Properties): Promise<Properties> {
    const { rules: declared, connection, onUnmanaged } = readRuleSetInputs(inputs);
    const live = await this.#session.live(connection);
    const there = notDeleted(known, live.holders);
    const steps = plan(there, declared, live.contract);
    await lookForUnmanaged(there, live, onUnmanaged, declared);
    const outcomes = await apply(steps, live, (key) => key);
    const rules = rulesAfter(outcomes, declared);
    const outs = writeRuleSetState(rules, inputs);
    const error = errorOfRules(outcomes, steps.length);
    if (error === undefined) return outs;
    throw known.size === 0 && rules.size === 0 ? error : new PartialResult(error, id, outs);
  }
}

/**
 * What the state must know after the steps. A rule that could not be deleted keeps a place, for the next run to delete
 * it; without its definition, whose secrets the engine would no longer know as such. One that could not be changed
 * keeps the definition that it had, sealed.
 */
function rulesAfter(outcomes: readonly Outcome[], declared: ReadonlyMap<string, unknown>): Known {
  const rules = new Map<string, KnownRule>();
  const add = (key: string, rule: KnownRule): void => {
    if (rules.has(key)) add(`${key} (to be deleted)`, rule);
    else rules.set(key, declared.has(key) ? rule : { ...opened(rule), definition: {} });
  };
  for (const { key, known, error } of outcomes) {
    if (known !== undefined) add(key, error === undefined ? opened(known) : { ...known, isSealed: true });
  }
  for (const { key, left } of outcomes) if (left !== undefined) add(`${key} (to be deleted)`, left);
  return rules;
}

function opened({ isSealed: _, ...rule }: KnownRule): KnownRule {
  return rule;
}
