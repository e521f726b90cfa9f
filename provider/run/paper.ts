import type { LiveRule } from "../../sdk/client/index.ts";
import type { Contract } from "../../sdk/contract/index.ts";
import { getOrMake } from "../../sdk/get-or-make.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { naturalKeyIn } from "../decide/live-rule.ts";

/** This run's knowledge of one rule beside the list. */
export interface RuleRecord {
  /** The rule as this run wrote or saw it after the list was read; null: it is gone. */
  written?: JsonObject | null | undefined;
  /** When this run wrote or saw it so (performance.now). */
  writtenAt?: number;
  /** The rule as a GET showed it, and when that GET began (performance.now). */
  seen?: JsonObject;
  seenAt?: number;
  /** A delete that is under way. */
  deleting?: Promise<unknown>;
  /** This run has sent a delete for it. */
  isDeleteSent?: true;
  /** An attempt of that delete lost its answer: the service may yet carry it out. */
  mayBeDeletedYet?: true;
  /** After that a create of this run was answered with its id: the id is another rule's now. */
  isGivenAgain?: true;
}

/** What the service should hold at one place: what this run has read of single rules, and what it has written since. */
export class Paper {
  readonly contract: Contract;
  readonly #records = new Map<string, RuleRecord>();
  /** The ids of rules that this run wrote, by natural key. */
  readonly #writtenByKey = new Map<string, Set<string>>();
  /** The last create under way for a natural key. */
  readonly #creating = new Map<string, Promise<unknown>>();
  /** Requests of creates that are under way. */
  readonly #sending = new Set<Promise<unknown>>();

  constructor(contract: Contract) {
    this.contract = contract;
  }

  /**
   * This run made, changed or saw the rule (null: deleted it, or saw that it is gone): the list tells it no longer. Undefined:
   * nothing is known of it.
   */
  remember(ruleId: string, rule: JsonObject | null | undefined): void {
    const record = this.of(ruleId);
    if (record.written) this.#writtenWith(record.written)?.delete(ruleId);
    record.written = rule;
    record.writtenAt = performance.now();
    delete record.seen;
    if (rule) this.#writtenWith(rule)?.add(ruleId);
  }

  /** A GET that began at `seenAt` (performance.now) showed the rule so. */
  saw(ruleId: string, seen: JsonObject, seenAt: number): void {
    Object.assign(this.of(ruleId), { seen, seenAt });
  }

  /** The rule as this run wrote or saw it after the list was read; null: it is gone; undefined: nothing. */
  written(ruleId: string): JsonObject | null | undefined {
    return this.of(ruleId).written;
  }

  /** The rules that this run made, changed or saw by themselves, and that are there as far as it knows. */
  writtenSince(): LiveRule[] {
    return [...this.#records].flatMap(([ruleId, { written }]) => (written ? [{ ruleId, rule: written }] : []));
  }

  isGone(ruleId: string): boolean {
    return this.of(ruleId).written === null;
  }

  isBeingDeleted(ruleId: string): boolean {
    return this.of(ruleId).deleting !== undefined;
  }

  /** Marks a delete as under way, until it ends. */
  async deleting<T>(ruleId: string, run: () => Promise<T>): Promise<T> {
    const record = this.of(ruleId);
    record.isDeleteSent = true;
    delete record.isGivenAgain;
    const busy = run();
    record.deleting = busy;
    try {
      return await busy;
    } finally {
      delete record.deleting;
    }
  }

  /** An attempt of this run's delete lost its answer. */
  sayDeletedLate(ruleId: string): void {
    this.of(ruleId).mayBeDeletedYet = true;
  }

  /** True of an id whose next rule a delete of this run may take, because the service may carry it out late. */
  mayBeDeletedYet(ruleId: string): boolean {
    return this.of(ruleId).mayBeDeletedYet === true;
  }

  /** Marks the request of a create as under way, until it has ended and {@link Paper.madeNow} was said of its rule. */
  async sending<T>(run: () => Promise<T>): Promise<T> {
    const busy = run();
    this.#sending.add(busy);
    try {
      return await busy;
    } finally {
      this.#sending.delete(busy);
    }
  }

  /**
   * A create of this run has made the rule. A service that gives ids again may have given that of a rule whose delete
   * is not answered yet.
   */
  madeNow(ruleId: string, definition: JsonObject): void {
    const record = this.of(ruleId);
    if (record.isDeleteSent) record.isGivenAgain = true;
    this.remember(ruleId, definition);
  }

  /** True where the id of a rule that this run has deleted is another rule's now, as far as creates are answered. */
  isGivenAgain(ruleId: string): boolean {
    return this.of(ruleId).isGivenAgain === true;
  }

  /** Waits for the answers of the creates that are under way. */
  async createsAnswered(): Promise<void> {
    await Promise.allSettled(this.#sending);
  }

  /** Waits for the end of a delete. @returns true where one was under way */
  async deleteEnded(ruleId: string): Promise<boolean> {
    const { deleting } = this.of(ruleId);
    await Promise.allSettled([deleting]);
    return deleting !== undefined;
  }

  /** Runs creates of one natural key one after another, so that the second sees what the first made. */
  async oneAtATime<T>(definition: JsonObject, run: () => Promise<T>): Promise<T> {
    const key = naturalKeyIn(definition, this);
    if (key === undefined) return run();
    const turn = Promise.allSettled([this.#creating.get(key)]).then(run);
    this.#creating.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#creating.get(key) === turn) this.#creating.delete(key);
    }
  }

  /** The rules of a natural key that this run wrote. */
  writtenWith(key: string): LiveRule[] {
    return [...(this.#writtenByKey.get(key) ?? [])].flatMap((ruleId) => {
      const rule = this.of(ruleId).written;
      return rule ? [{ ruleId, rule }] : [];
    });
  }

  /** All that is known of single rules. */
  all(): Iterable<[string, RuleRecord]> {
    return this.#records;
  }

  /** What is known of one rule. */
  of(ruleId: string): RuleRecord {
    return getOrMake(this.#records, ruleId, () => ({}));
  }

  #writtenWith(rule: JsonObject): Set<string> | undefined {
    const key = naturalKeyIn(rule, this);
    return key === undefined ? undefined : getOrMake(this.#writtenByKey, key, () => new Set());
  }
}
