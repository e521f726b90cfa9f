import type { CallOptions, LiveRule, RulesClient } from "../../sdk/client/index.ts";
import type { Contract } from "../../sdk/contract/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { canonical, type Json, type JsonObject, valueAt } from "../../sdk/rules/index.ts";
import { demandOwnFields } from "./foreign-answer.ts";
import { creator, type Holder, type Holders } from "./holders.ts";
import { Presence } from "./presence.ts";

/** How long after a 404 a rule is looked for once more. */
const secondLookMs = 1000;

/**
 * The rules of one connection as this process sees them. Where the contract has a list, one paged pass serves every
 * read of the process; what this process wrote since is known, or read again by itself.
 */
export class LiveRules {
  readonly client: RulesClient;
  readonly contract: Contract;
  readonly presence: Presence;
  readonly holders: Holders;
  #pass: Promise<Pass> | undefined;
  #nextPass: Promise<Pass> | undefined;
  /** Rules that this process created, changed or (undefined) deleted after the pass. */
  readonly #written = new Map<string, LiveRule | undefined>();
  /** Those of them that are there, by natural key and then by rule id. */
  readonly #writtenByNaturalKey = new Map<string, Map<string, LiveRule>>();
  /** Deletes under way, by rule id. */
  readonly #deleting = new Map<string, Promise<unknown>>();
  /** The last create under way for a natural key. */
  readonly #creating = new Map<string, Promise<unknown>>();

  constructor(client: RulesClient, options: { acceptAllGone: boolean; howToAccept: string; holders: Holders }) {
    this.client = client;
    this.holders = options.holders;
    this.contract = client.contract;
    this.presence = new Presence(client.connectionName, options);
  }

  /**
   * The live rule, or undefined when it is gone for certain. Here and below `known` is what the rule is known to hold:
   * where the service repeats it in an error, it is not printed.
   * @throws MerchantRulesError when that cannot be told.
   */
  find(ruleId: string, label?: string, known?: JsonObject): Promise<LiveRule | undefined> {
    return this.presence.judge(ruleId, async () => {
      if (!this.#written.has(ruleId) && this.contract.operations.list !== null) {
        const { byId } = await this.#listed();
        const listed = byId.get(ruleId);
        if (listed !== undefined) return listed;
        if (byId.size > 0) this.presence.heard();
      }
      const found = await this.#get(ruleId, label, known);
      if (found !== undefined || this.contract.operations.list !== null) return found;
      // Where no list is a second witness, a second look must be: services show a new rule late, here and there.
      await new Promise((resolve) => setTimeout(resolve, secondLookMs));
      return this.#get(ruleId, label, known);
    });
  }

  /** The rule was seen to be gone: what this process knew of it no longer counts. */
  forget(ruleId: string): void {
    this.#remember(ruleId, undefined);
    this.holders.release(ruleId);
  }

  /** Whether a rule can be looked up without its id: the contract has a list and a natural key, and the definition has its value. */
  canSearch(definition: JsonObject): boolean {
    return this.contract.operations.list !== null && this.#naturalKeyOf(definition) !== undefined;
  }

  /**
   * The rule with the same natural key as a definition, as far as the contract lets it be found: among all rules where
   * there is a list, else among those that this process made. `fresh` looks again rather than at the pass.
   * @throws MerchantRulesError RULE_CONFLICT: when more than one has it.
   */
  async search(definition: JsonObject, options: { fresh?: boolean } = {}): Promise<LiveRule | undefined> {
    const wanted = this.#naturalKeyOf(definition);
    if (wanted === undefined) return undefined;
    const listed = this.contract.operations.list === null ? [] : await this.#withKey(wanted, options.fresh === true);
    const written = this.#writtenByNaturalKey.get(wanted)?.values() ?? [];
    const [found, ...others] = [...listed, ...written];
    if (found === undefined || others.length === 0) return found;
    const ids = [found, ...others].map(({ ruleId }) => ruleId).join(", ");
    throw new MerchantRulesError(
      "RULE_CONFLICT",
      `more than one rule has its natural key (${this.contract.rule.naturalKey}): ${ids}`,
      {
        advice: 'delete those that should not be, or name the one to take over with adopt: "<ruleId>"',
      },
    );
  }

  /** Every rule at the service, as far as the list and what this process wrote tell. Needs `operations.list`. */
  async all(): Promise<LiveRule[]> {
    const { byId } = await this.#listed();
    const written = [...this.#written.values()].filter((rule) => rule !== undefined);
    return [...[...byId.values()].filter(({ ruleId }) => !this.#written.has(ruleId)), ...written];
  }

  /** Runs creates of one natural key one after another, so that the second sees what the first made. */
  async exclusively<T>(definition: JsonObject, run: () => Promise<T>): Promise<T> {
    const key = this.#naturalKeyOf(definition);
    if (key === undefined) return run();
    const turn = Promise.allSettled([this.#creating.get(key)]).then(run);
    this.#creating.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#creating.get(key) === turn) this.#creating.delete(key);
    }
  }

  async create(definition: JsonObject, options: { idempotencyKey?: string; label?: string }): Promise<string> {
    const { ruleId } = await this.client.create(definition, options);
    this.#remember(ruleId, definition);
    this.holders.claim(ruleId, creator);
    this.presence.seen();
    return ruleId;
  }

  async update(ruleId: string, declared: JsonObject, label?: string, known: JsonObject = declared): Promise<void> {
    let live = declared;
    if (this.contract.operations.update?.body !== "declared") {
      live = (await this.client.get(ruleId, named(label, known))).rule;
      demandOwnFields(live, known, ruleId, label);
    }
    await this.client.update(ruleId, { declared, live }, named(label, known));
    this.#remember(ruleId, declared);
    this.presence.seen();
  }

  /**
   * Deletes the rule, unless it lives on under another resource: a resource that is renamed in the program is a new one
   * to the engine, which takes the rule over, and an old one, which is deleted afterwards. One that is not there counts
   * as deleted: a run that was stopped has deleted it already. It is said, for the place may be the wrong one.
   */
  async delete(ruleId: string, holder: Holder, label?: string, known?: JsonObject): Promise<void> {
    if (this.holders.isHeldByOther(ruleId, holder)) return;
    this.holders.beginDelete(ruleId, holder);
    const deleting = this.client.delete(ruleId, named(label, known));
    this.#deleting.set(ruleId, deleting);
    try {
      if ((await deleting) === "absent") {
        console.error(
          `warning: rule ${label ?? ruleId} was not there and counts as deleted; if connection "${this.client.connectionName}" is not the one that made it, it still is in force there`,
        );
      }
    } catch (error) {
      this.holders.deleteFailed(ruleId);
      throw error;
    } finally {
      this.#deleting.delete(ruleId);
    }
    this.forget(ruleId);
  }

  #remember(ruleId: string, rule: JsonObject | undefined): void {
    const before = this.#written.get(ruleId);
    if (before !== undefined) this.#writtenWithKeyOf(before)?.delete(ruleId);
    const now = rule === undefined ? undefined : { ruleId, rule };
    this.#written.set(ruleId, now);
    if (now !== undefined) this.#writtenWithKeyOf(now)?.set(ruleId, now);
  }

  #writtenWithKeyOf({ rule }: LiveRule): Map<string, LiveRule> | undefined {
    const key = this.#naturalKeyOf(rule);
    if (key === undefined) return undefined;
    const same = this.#writtenByNaturalKey.get(key) ?? new Map<string, LiveRule>();
    this.#writtenByNaturalKey.set(key, same);
    return same;
  }

  async #withKey(key: string, fresh: boolean): Promise<LiveRule[]> {
    const pass = fresh ? await this.#freshPass() : await this.#listed();
    // A rule that is on its way out must not be taken over.
    await Promise.allSettled((pass.byNaturalKey.get(key) ?? []).map(({ ruleId }) => this.#deleting.get(ruleId)));
    return (pass.byNaturalKey.get(key) ?? []).filter(({ ruleId }) => !this.#written.has(ruleId));
  }

  #naturalKeyOf(definition: JsonObject): string | undefined {
    const { naturalKey } = this.contract.rule;
    const value: Json | undefined = naturalKey === null ? undefined : valueAt(definition, naturalKey);
    return value === undefined || value === null ? undefined : canonical(value);
  }

  async #get(ruleId: string, label: string | undefined, known: JsonObject | undefined): Promise<LiveRule | undefined> {
    try {
      return await this.client.get(ruleId, named(label, known));
    } catch (error) {
      if (!isMerchantRulesError(error) || error.code !== "RULE_NOT_FOUND") throw error;
      if (error.exchange?.serviceCode !== undefined) this.presence.heard();
      return undefined;
    }
  }

  /** A pass that failed is not kept: what was not read to its end says nothing about any rule. */
  #listed(): Promise<Pass> {
    this.#pass ??= this.#readPass().catch((error) => {
      this.#pass = undefined;
      throw error;
    });
    return this.#pass;
  }

  /** A pass that began after this call; callers that wait for the same moment share one. */
  #freshPass(): Promise<Pass> {
    this.#nextPass ??= Promise.allSettled([this.#pass]).then(() => {
      this.#nextPass = undefined;
      this.#pass = undefined;
      return this.#listed();
    });
    return this.#nextPass;
  }

  async #readPass(): Promise<Pass> {
    const byId = new Map<string, LiveRule>();
    const byNaturalKey = new Map<string, LiveRule[]>();
    for await (const rule of this.client.list()) {
      byId.set(rule.ruleId, rule);
      const key = this.#naturalKeyOf(rule.rule);
      if (key === undefined) continue;
      const same = byNaturalKey.get(key);
      if (same === undefined) byNaturalKey.set(key, [rule]);
      else same.push(rule);
    }
    return { byId, byNaturalKey };
  }
}

/** One reading of the whole list. */
interface Pass {
  readonly byId: ReadonlyMap<string, LiveRule>;
  readonly byNaturalKey: ReadonlyMap<string, readonly LiveRule[]>;
}

function named(label: string | undefined, known: JsonObject | undefined): CallOptions {
  return { ...(label === undefined ? {} : { label }), ...(known === undefined ? {} : { known }) };
}
