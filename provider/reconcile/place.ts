import { setTimeout as sleep } from "node:timers/promises";
import type { LiveRule, RulesClient } from "../../sdk/client/index.ts";
import type { Contract } from "../../sdk/contract/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { canonical, isEqual, type JsonObject, valueAt } from "../../sdk/rules/index.ts";
import { getOrMake } from "../get-or-make.ts";
import { Judge, type Resource } from "./observe.ts";
import { named, type Owner } from "./owner.ts";
import type { KnownRule } from "./plan.ts";
import { Unmanaged } from "./unmanaged.ts";

/** Where rules are: what the state says of it, to be compared in a later run. */
export interface Whereabouts {
  /** The service's address. */
  readonly at: string;
  /** Values of the contract's parameters. */
  readonly with?: Readonly<Record<string, string>>;
  /** What `auth.identity` of the contract answers. */
  readonly as?: string;
}

/** What a place knows of the connection that reaches it. */
export interface PlaceOptions {
  /** The connection's name, for messages. */
  readonly name: string;
  readonly contract: Contract;
  readonly whereabouts: Whereabouts;
  /** What the user says for one run, and how to say it. */
  readonly acceptAllGone: Answer;
  readonly moved: Answer;
  readonly recover: Answer;
}

export interface Answer {
  readonly isGiven: boolean;
  /** What to set: `MERCHANT_RULES_MOVED=true`. */
  readonly howTo: string;
}

/** What a look at one rule shows. */
export type Sight =
  | { readonly is: "present"; readonly rule: JsonObject }
  /** `inOwnWords`: the service itself said so, in its own error form, by other rules in its list, or by a dead row. */
  | { readonly is: "absent"; readonly inOwnWords: boolean };

/** How a rule is looked at. See {@link Place.look}. */
export type How = "list" | "cheap" | "fresh";

/** What this run knows of one rule. */
interface RuleRecord {
  /** The resource of this stack that holds the rule. */
  owner?: Owner;
  /** The owner gives the rule up in this run: it deletes or replaces it. */
  isLeaving?: boolean;
  /** The resource that gives the rule up has taken it over again, as its own replacement. */
  isPassedOn?: boolean;
  /** The rule was there before, and became the resource's own in this run. */
  isTakenOver?: boolean;
  /** What the state says of the rule. */
  known?: KnownRule;
  /** What this run wrote or saw after the list was read; null: the rule is gone. */
  rule?: JsonObject | null;
  /** What a GET showed. */
  seen?: JsonObject;
  /** A delete that is under way. */
  busy?: Promise<unknown>;
}

/** How long a refusal waits for another resource of the stack to say that it gives the rule up. */
const patienceMs = 300;

/** How long after a 404 a rule is looked for once more, where no list is a second witness. */
const secondLookMs = 1000;

/**
 * One place where rules are: an address with its parameters and credentials. It has one record for each rule: who holds
 * it, what was seen, what was written. All resources of a run that reach the place share it.
 */
export class Place {
  readonly options: PlaceOptions;
  readonly contract: Contract;
  readonly judge: Judge;
  readonly #records = new Map<string, RuleRecord>();
  /** The ids of rules that this run wrote, by natural key. */
  readonly #written = new Map<string, Set<string>>();
  /** The last create under way for a natural key. */
  readonly #creating = new Map<string, Promise<unknown>>();
  /** Resources whose rule the engine replaces, as they were: their creates know no rule. */
  readonly replaced = new Map<Owner, Resource>();
  /** Reports on unmanaged rules, and what each set of a group says for them. */
  readonly unmanaged = new Unmanaged();
  /** Operations whose answers hold a part of the rule alone, as was seen in this run. */
  readonly answersInPart = new Set<"create" | "update">();
  #here: Whereabouts;
  readonly #connect: () => Promise<RulesClient>;
  readonly #onListed: (rules: number) => void;
  #client: Promise<RulesClient> | undefined;
  #pass: Promise<Pass> | undefined;
  #nextPass: Promise<Pass> | undefined;

  /**
   * @param connect called on first use: check and diff, all that a preview calls, need neither HTTP nor credentials, but
   * for a set with onUnmanaged
   */
  constructor(
    options: PlaceOptions,
    connect: () => Promise<RulesClient>,
    onListed: (rules: number) => void = () => {},
  ) {
    this.options = options;
    this.#connect = connect;
    this.#onListed = onListed;
    this.contract = options.contract;
    this.#here = options.whereabouts;
    this.judge = new Judge(this);
  }

  client(): Promise<RulesClient> {
    this.#client ??= this.#connect().catch((error) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  /** Where this place is, as far as it is known yet. */
  get here(): Whereabouts {
    return this.#here;
  }

  /** Where this place is, with who the credentials are where the contract can ask. */
  async whereabouts(): Promise<Whereabouts> {
    if (this.contract.auth.identity !== null && this.#here.as === undefined) {
      const as = await (await this.client()).identity();
      if (as !== undefined) this.#here = { ...this.#here, as };
    }
    return this.#here;
  }

  record(ruleId: string): RuleRecord {
    return getOrMake(this.#records, ruleId, () => ({}));
  }

  // Who holds which rule.

  /** Rules that the states of this run's resources know. */
  known(): KnownRule[] {
    return [...this.#records.values()].flatMap(({ known, rule }) =>
      known === undefined || rule === null ? [] : [known],
    );
  }

  /** A resource keeps the rule. @throws MerchantRulesError RULE_CONFLICT: another one holds it. */
  hold(ruleId: string, owner: Owner): void {
    const record = this.record(ruleId);
    if (this.isHeldByOther(ruleId, owner)) throw conflict(ruleId, record.owner);
    record.owner = owner;
    record.isLeaving = false;
    delete record.isPassedOn;
  }

  /** A resource deletes or replaces the rule in this run, so that another may have it. */
  leave(ruleId: string, owner: Owner): void {
    const record = this.record(ruleId);
    if (!record.isPassedOn && !this.isHeldByOther(ruleId, owner)) Object.assign(record, { owner, isLeaving: true });
  }

  /** A create makes the rule or takes it over. @throws MerchantRulesError RULE_CONFLICT: a resource holds it, or deletes it now. */
  claim(ruleId: string, owner: Owner): void {
    const record = this.record(ruleId);
    if (record.busy !== undefined || (record.owner !== undefined && record.isLeaving !== true))
      throw conflict(ruleId, record.owner);
    if (record.owner === owner) record.isPassedOn = true;
    record.owner = owner;
    record.isLeaving = false;
  }

  /** Whether a resource took its own rule over again by its replacement; then the delete of what it was spares the rule. */
  isPassedOn(ruleId: string): boolean {
    const record = this.record(ruleId);
    const { isPassedOn = false } = record;
    delete record.isPassedOn;
    return isPassedOn;
  }

  /** Waits a moment for the resource of this stack that holds a rule to say so: the engine asks one after another. */
  async holderKnown(ruleId: string): Promise<void> {
    const end = performance.now() + patienceMs;
    while (this.record(ruleId).owner === undefined && performance.now() < end) await sleep(10);
  }

  isHeldByOther(ruleId: string, owner: Owner): boolean {
    const record = this.record(ruleId);
    return record.owner !== undefined && !record.isLeaving && record.owner !== owner;
  }

  /** Runs creates of one natural key one after another, so that the second sees what the first made. */
  async oneAtATime<T>(definition: JsonObject, run: () => Promise<T>): Promise<T> {
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

  // What is at the service.

  /**
   * Looks at one rule. `list`: in the list, where the contract has one, and by a GET where it is not in there. `cheap`:
   * in the list only if that was read anyhow; what a GET showed in this run counts. `fresh`: by a GET.
   */
  async look(known: KnownRule, label: string | undefined, how: How): Promise<Sight> {
    const record = this.record(known.ruleId);
    const { list } = this.contract.operations;
    let inOwnWords = false;
    if (how !== "fresh" && record.rule === undefined) {
      if (how === "cheap" && record.seen !== undefined) return { is: "present", rule: record.seen };
      if (list !== null && (how === "list" || this.#pass !== undefined)) {
        const { byId } = await this.#listed();
        const listed = byId.get(known.ruleId);
        if (listed !== undefined) return { is: "present", rule: listed.rule };
        inOwnWords = byId.size > 0;
      }
    }
    let sight = await this.#get(known, label);
    if (sight.is === "absent" && !sight.isDead && list === null) {
      // Some services show a new rule late.
      await sleep(secondLookMs);
      sight = await this.#get(known, label);
    }
    return sight.is === "present" ? sight : { is: "absent", inOwnWords: sight.inOwnWords || inOwnWords };
  }

  /** Reads the list, for looks at several rules to come; where the contract has one. */
  async readList(): Promise<void> {
    if (this.contract.operations.list !== null) await this.#listed();
  }

  /** Whether a rule can be looked up without its id. */
  canSearch(definition: JsonObject): boolean {
    return this.contract.operations.list !== null && this.#naturalKeyOf(definition) !== undefined;
  }

  /**
   * The rule with the natural key of a definition: among all rules where there is a list, else among those that this run
   * wrote. `isFresh` reads the list again.
   * @throws MerchantRulesError RULE_CONFLICT: more than one rule has it.
   */
  async search(definition: JsonObject, { isFresh = false } = {}): Promise<LiveRule | undefined> {
    const key = this.#naturalKeyOf(definition);
    if (key === undefined) return undefined;
    const listed = this.contract.operations.list === null ? [] : await this.#listedWith(key, isFresh);
    const written = [...(this.#written.get(key) ?? [])].flatMap((ruleId) => {
      const rule = this.record(ruleId).rule;
      return rule ? [{ ruleId, rule }] : [];
    });
    const [found, ...others] = [...listed, ...written];
    if (found === undefined || others.length === 0) return found;
    const ids = [found, ...others].map(({ ruleId }) => ruleId).join(", ");
    const reason = `${others.length + 1} rules have its natural key (${this.contract.rule.naturalKey}): ${ids}`;
    const advice = "delete all but one of them at the service, and run again";
    throw new MerchantRulesError("RULE_CONFLICT", reason, { advice });
  }

  /** Every rule at the service but dead ones, as far as the list and what this run wrote tell. Needs `operations.list`. */
  async all(): Promise<LiveRule[]> {
    const { byId } = await this.#listed();
    const own = [...this.#records].flatMap(([ruleId, { rule }]) => (rule ? [{ ruleId, rule }] : []));
    return [...[...byId.values()].filter(({ ruleId }) => this.record(ruleId).rule === undefined), ...own];
  }

  /** Whether a live rule is the service's own (contract `rule.foreign`). */
  isForeign(rule: JsonObject): boolean {
    return saysSo(rule, this.contract.rule.foreign);
  }

  /** This run made, changed or saw the rule (null: deleted it, or saw that it is gone): the list tells it no longer. */
  remember(ruleId: string, rule: JsonObject | null): void {
    const record = this.record(ruleId);
    if (record.rule) this.#writtenWith(record.rule)?.delete(ruleId);
    record.rule = rule;
    delete record.seen;
    if (rule !== null) this.#writtenWith(rule)?.add(ruleId);
    else delete record.owner;
  }

  /** Marks a delete as under way, until it ends. */
  async deleting<T>(ruleId: string, run: () => Promise<T>): Promise<T> {
    const record = this.record(ruleId);
    const busy = run();
    record.busy = busy;
    try {
      return await busy;
    } finally {
      delete record.busy;
    }
  }

  #writtenWith(rule: JsonObject): Set<string> | undefined {
    const key = this.#naturalKeyOf(rule);
    return key === undefined ? undefined : getOrMake(this.#written, key, () => new Set());
  }

  async #listedWith(key: string, isFresh: boolean): Promise<LiveRule[]> {
    const pass = isFresh ? await this.#freshPass() : await this.#listed();
    const found = pass.byNaturalKey.get(key) ?? [];
    // A rule that is on its way out must not be taken over.
    await Promise.allSettled(found.map(({ ruleId }) => this.record(ruleId).busy));
    return found.filter(({ ruleId }) => this.record(ruleId).rule === undefined);
  }

  #naturalKeyOf(definition: JsonObject): string | undefined {
    const { naturalKey } = this.contract.rule;
    const value = naturalKey === null ? undefined : valueAt(definition, naturalKey);
    return value === undefined || value === null ? undefined : canonical(value);
  }

  async #get({ ruleId, definition }: KnownRule, label: string | undefined): Promise<Sight & { isDead?: true }> {
    try {
      const { rule } = await (await this.client()).get(ruleId, {
        known: definition,
        ...(label === undefined ? {} : { label }),
      });
      if (saysSo(rule, this.contract.rule.gone)) return { is: "absent", inOwnWords: true, isDead: true };
      this.record(ruleId).seen = rule;
      return { is: "present", rule };
    } catch (error) {
      if (!isMerchantRulesError(error) || error.code !== "RULE_NOT_FOUND") throw error;
      return { is: "absent", inOwnWords: error.exchange?.serviceCode !== undefined };
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

  /** A pass that begins after this call; callers that wait for the same moment share one. */
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
    let seen = 0;
    for await (const live of (await this.client()).list()) {
      seen += 1;
      this.#onListed(seen);
      if (saysSo(live.rule, this.contract.rule.gone)) continue;
      byId.set(live.ruleId, live);
      const key = this.#naturalKeyOf(live.rule);
      if (key !== undefined) getOrMake(byNaturalKey, key, () => []).push(live);
    }
    return { byId, byNaturalKey };
  }
}

/** One reading of the whole list, without dead rows. */
interface Pass {
  readonly byId: ReadonlyMap<string, LiveRule>;
  readonly byNaturalKey: ReadonlyMap<string, readonly LiveRule[]>;
}

function saysSo(rule: JsonObject, rows: Contract["rule"]["gone"]): boolean {
  return rows.some(({ at, is }) => {
    const found = valueAt(rule, at);
    return found !== undefined && is.some((value) => isEqual(value, found));
  });
}

function conflict(ruleId: string, holder: Owner | undefined): MerchantRulesError {
  const advice = "declare the rule once; where one of the two has just been changed to be another rule, run again";
  return new MerchantRulesError("RULE_CONFLICT", `rule ${ruleId} is managed by ${named(holder)} of this stack`, {
    advice,
  });
}
