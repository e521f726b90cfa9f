import type { dynamic } from "@pulumi/pulumi";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { apply, creator, type KnownRule, type LiveRules, observe, plan, type Step } from "../reconcile/index.ts";
import { atBoundary } from "./boundary.ts";
import { checkRule } from "./check-rule.ts";
import { withContractSecrets } from "./contract-secrets.ts";
import { hold, isInvisible, planned } from "./planned.ts";
import type { Session } from "./session.ts";
import { type Properties, readRuleInputs, readRuleState, writeRuleInputs, writeRuleState } from "./wire.ts";

/** The hooks that the provider host calls for a MerchantRule: the reconciler with one key. */
export class MerchantRuleHooks implements dynamic.ResourceProvider<Properties, Properties> {
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
      inputs: withContractSecrets(news, this.#session, ({ definition = null }, mark) => ({
        ...news,
        definition: mark(definition),
      })),
      failures: checkRule(news, this.#session),
    }));
  }

  diff(id: string, olds: Properties, news: Properties): Promise<dynamic.DiffResult> {
    return atBoundary("diff", () => {
      const { connection, ...known } = readRuleState(id, olds);
      const declared = readRuleInputs(news);
      if (connection !== declared.connection) return { replaces: ["connection"] };
      const contract = this.#session.contract(connection);
      const holders = this.#session.holders(connection);
      if (holders.isDeleted(id)) return { replaces: ["definition"] };
      const [step] = planned(one(known), one(declared), contract) ?? [];
      if (step === undefined) return {};
      const isRenamed = step.kind === "update" && !step.deleteFirst && contract.rule.naturalKey !== null;
      if (isRenamed && holders.isHeldByOther(id, known.takeover ?? creator)) {
        // Another resource took the rule over in this run, and this one is to be another rule: so it gets one of its own.
        return { replaces: ["definition"] };
      }
      hold([step], holders);
      if (step.kind === "replace" && typeof declared.adopt === "string") throw hasAdopted(id);
      return isInvisible([step], contract) ? { changes: true } : diffOf(step);
    });
  }

  create(inputs: Properties): Promise<dynamic.CreateResult<Properties>> {
    return atBoundary("create", async () => {
      const { connection, ...declared } = readRuleInputs(inputs);
      const known = await this.#applied({ kind: "create", key, declared }, connection);
      return { id: known.ruleId, outs: writeRuleState(known, inputs) };
    });
  }

  read(id: string, props: Properties = {}): Promise<dynamic.ReadResult<Properties>> {
    return atBoundary("read", async () => {
      const { connection, ...known } = readRuleState(id, props);
      const seen = (await observe(one(known), await this.#session.live(connection), () => undefined)).get(key);
      return seen === undefined
        ? { id: "" }
        : { id, props: writeRuleState(seen, props), inputs: writeRuleInputs(seen, props) };
    });
  }

  update(id: string, olds: Properties, news: Properties): Promise<dynamic.UpdateResult<Properties>> {
    return atBoundary("update", async () => {
      const { connection, ...known } = readRuleState(id, olds);
      const [step] = plan(one(known), one(readRuleInputs(news)), this.#session.contract(connection));
      if (step?.kind === "replace") throw mustBeReplaced(id);
      return { outs: writeRuleState(step === undefined ? known : await this.#applied(step, connection), news) };
    });
  }

  delete(id: string, props: Properties): Promise<void> {
    return atBoundary("delete", async () => {
      const { connection, ...known } = readRuleState(id, props);
      await this.#apply({ kind: "delete", key, known }, await this.#session.live(connection));
    });
  }

  async #applied(step: Step, connection: string): Promise<KnownRule> {
    const known = await this.#apply(step, await this.#session.live(connection));
    if (known === undefined) throw new Error(`a ${step.kind} left no rule`);
    return known;
  }

  async #apply(step: Step, live: LiveRules): Promise<KnownRule | undefined> {
    const [outcome] = await apply([step], live, () => undefined);
    if (outcome?.error !== undefined) throw outcome.error;
    return outcome?.known;
  }
}

/** A MerchantRule is the set with one key. */
const key = "rule";

/** No change, or "unknown": then the engine compares by itself and prints which path changed. */
function diffOf(step: Step): dynamic.DiffResult {
  if (step.kind === "update") return { deleteBeforeReplace: step.deleteFirst };
  if (step.kind === "replace") return { replaces: ["definition"], deleteBeforeReplace: step.deleteFirst };
  return { changes: false };
}

function hasAdopted(ruleId: string): MerchantRulesError {
  return new MerchantRulesError("RULE_CONFLICT", "this change replaces the rule, and adopt names a rule to take over", {
    attempted: `replace rule ${ruleId}`,
    advice: "remove adopt: it has done its work",
  });
}

function mustBeReplaced(ruleId: string): MerchantRulesError {
  return new MerchantRulesError(
    "UNSUPPORTED_BY_CONTRACT",
    `rule ${ruleId} cannot be changed in place by its contract`,
    {
      attempted: `update rule ${ruleId}`,
      advice: "run `pulumi up` again: with the contract as it is now, the change replaces the rule",
    },
  );
}

function one<T>(rule: T): ReadonlyMap<string, T> {
  return new Map([[key, rule]]);
}
