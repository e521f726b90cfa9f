import { setTimeout as sleep } from "node:timers/promises";
import type { LiveRule } from "../../sdk/client/index.ts";
import { fittingForms } from "../../sdk/contract/fitting-forms.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { type CompareOptions, fieldsShown, type JsonObject } from "../../sdk/json/index.ts";
import { isAsDeclared } from "../decide/live-rule.ts";
import type { KnownRule } from "../decide/plan.ts";
import { idsChange } from "../decide/plan.ts";
import { warn } from "../host/print.ts";
import type { Claims } from "./claims.ts";
import type { Live, Pass } from "./live.ts";
import { Written } from "./written.ts";

type Kind = "update" | "delete";

/** The result of a guarded write. */
export interface Done<T> {
  readonly value: T;
  /** The service said that it did so; one that was not there to be deleted proves nothing. */
  readonly isDone: boolean;
  /** The id that the rule has after it. Default: the same as before. */
  readonly ruleId?: string;
}

/** The other rules, as they were before the first write. */
interface Before {
  readonly pass: Pass | undefined;
  /** Without a list: another rule that is there. */
  readonly other: KnownRule | undefined;
}

/** The service's doing, and what to do about that before the contract is corrected. */
interface Fault {
  readonly what: string;
  readonly first: string;
}

/** Rules that the list shows otherwise and that are looked at by themselves: a list may shift while it is read. */
const mostLooks = 3;

/** The time after a write at which a rule is looked at once more, where the contract does not say how far answers lag. */
const unknownLagMs = 1000;

/** The time in which hooks that an engine calls side by side have all begun. */
const besideMs = 50;

/**
 * The first update and the first delete of a run go alone and are looked at: the service did that, and nothing else. When
 * it did something else, nothing more is written in this run. An answer that may be stale proves nothing, and is said.
 */
export class FirstWrites {
  readonly #live: Live;
  readonly #claims: Claims;
  readonly #lookedAt = new Set<Kind>();
  /** The last write that this run sent to each rule, but for one that had no effect: what it did is no harm of another. */
  readonly #written = new Map<string, Kind>();
  readonly #searches = new Set<Promise<unknown>>();
  #saysWithoutId = false;
  #first: Promise<unknown> | undefined;
  #stop: MerchantRulesError | undefined;

  constructor(live: Live, claims: Claims) {
    this.#live = live;
    this.#claims = claims;
  }

  /** @throws MerchantRulesError when an earlier write did something else, or a create brought no id */
  demandGoingOn(): void {
    if (this.#stop !== undefined) throw this.#stop;
  }

  /** Waits until it is known what became of creates whose answers had no id. @throws as demandGoingOn */
  async waitForIds(): Promise<void> {
    while (this.#searches.size > 0) await Promise.allSettled(this.#searches);
    this.demandGoingOn();
  }

  /**
   * The look for a rule after a create whose answer had no id. No other create is sent meanwhile; and none at all where the
   * look finds nothing, for the next answers would have no id either, and nobody would know their rules.
   */
  async searchAfter<T>(error: MerchantRulesError, search: () => Promise<T>): Promise<T> {
    const searching = search();
    this.#searches.add(searching);
    try {
      return await searching;
    } catch (failed) {
      this.#stop ??= notSent(error);
      throw failed;
    } finally {
      this.#searches.delete(searching);
    }
  }

  /** True when an error has said already what an answer without an id has instead of it, and what to correct. */
  hasSaidWithoutId(): boolean {
    const hasSaid = this.#saysWithoutId;
    this.#saysWithoutId = true;
    return hasSaid;
  }

  /**
   * Runs a write, the first of its kind alone.
   * @param declared the rule as an update makes it
   * @throws MerchantRulesError SERVICE_FAILED: this write, or the first one, did something else
   */
  async run<T>(kind: Kind, target: KnownRule, declared: JsonObject, write: () => Promise<Done<T>>): Promise<T> {
    for (;;) {
      this.demandGoingOn();
      if (this.#lookedAt.has(kind)) return (await this.#send(kind, target, write)).value;
      if (this.#first === undefined) break;
      // A first write that failed proves nothing: the next one is the first.
      await this.#first.catch(() => undefined);
    }
    const first = this.#runFirst(kind, target, declared, write);
    this.#first = first;
    try {
      return await first;
    } finally {
      this.#first = undefined;
    }
  }

  async #runFirst<T>(kind: Kind, target: KnownRule, declared: JsonObject, write: () => Promise<Done<T>>): Promise<T> {
    const before = await this.#before(target);
    let done: Done<T>;
    try {
      done = await this.#send(kind, target, write);
    } catch (error) {
      // It may have been carried out all the same, and be wrong.
      if (!isMerchantRulesError(error))
        await this.#lookAfter(
          kind,
          target,
          declared,
          before,
          error instanceof Written ? error.known.ruleId : undefined,
        );
      else if (error.outcomeUnknown) await this.#lookForHarm(kind, target, before);
      throw error;
    }
    if (!done.isDone) return done.value;
    await this.#lookAfter(kind, target, declared, before, done.ruleId);
    this.#lookedAt.add(kind);
    return done.value;
  }

  async #send<T>(kind: Kind, { ruleId }: KnownRule, write: () => Promise<Done<T>>): Promise<Done<T>> {
    this.#written.set(ruleId, kind);
    try {
      return await write();
    } catch (error) {
      if (isMerchantRulesError(error) && !error.outcomeUnknown) this.#written.delete(ruleId);
      throw error;
    }
  }

  async #before(target: KnownRule): Promise<Before> {
    if (this.#live.contract.operations.list !== null) return { pass: await this.#live.listed(), other: undefined };
    const other = await this.#otherThere(target);
    if (other !== undefined) return { pass: undefined, other };
    // Hooks that are called beside this one are heard in a moment: it lets more be looked at, and decides nothing.
    await sleep(besideMs);
    return { pass: undefined, other: await this.#otherThere(target) };
  }

  /** Another rule that states know, and that is there. */
  async #otherThere(target: KnownRule): Promise<KnownRule | undefined> {
    for (const { row: known } of this.#claims.ofStates()) {
      if (
        known.ruleId === target.ruleId ||
        this.#live.paper.isGone(known.ruleId) ||
        this.#live.paper.isBeingDeleted(known.ruleId)
      )
        continue;
      if ((await this.#live.look(known, undefined, "cheap")).is === "present") return known;
    }
    return undefined;
  }

  async #lookAfter(
    kind: Kind,
    target: KnownRule,
    declared: JsonObject,
    before: Before,
    now: string = target.ruleId,
  ): Promise<void> {
    const { list } = this.#live.contract.operations;
    await sleep(list?.lagMs ?? 0);
    let after: Pass | undefined;
    try {
      after = list === null ? undefined : await this.#live.listedAnew();
      const fault =
        (kind === "update"
          ? await this.#updateFault({ ...target, ruleId: now }, declared, before, after)
          : await this.#deleteFault(target, after)) ??
        (now === target.ruleId ? undefined : await this.#stillThereFault(target, after)) ??
        (await this.#harm(before, after));
      if (fault !== undefined) this.#stop = wrong(kind, target.ruleId, fault);
    } catch (error) {
      if (!isMerchantRulesError(error)) throw error;
      warn(
        `after the first ${kind} of this run (rule ${target.ruleId}) it cannot be told what the service did: ${error.reason}`,
      );
    }
    this.demandGoingOn();
  }

  /** A look after a write of no known outcome. What cannot be read tells nothing, as the write's own error says. */
  async #lookForHarm(kind: Kind, { ruleId }: KnownRule, before: Before): Promise<void> {
    const { list } = this.#live.contract.operations;
    try {
      await sleep(list?.lagMs ?? 0);
      const fault = await this.#harm(before, list === null ? undefined : await this.#live.listedAnew());
      if (fault !== undefined) this.#stop = wrong(kind, ruleId, fault);
    } catch (error) {
      if (!isMerchantRulesError(error)) throw error;
    }
  }

  /** The rule that was changed, and doubles of it. */
  async #updateFault(
    { ruleId, definition }: KnownRule,
    declared: JsonObject,
    { pass: before }: Before,
    after: Pass | undefined,
  ): Promise<Fault | undefined> {
    const double = before === undefined ? undefined : await this.#double(ruleId, declared, before, after);
    if (double !== undefined)
      return {
        what: `the service made another rule, ${double}, beside it`,
        first: `delete rule ${double} at the service, and`,
      };
    const listed = after?.byId.get(ruleId)?.rule;
    if (listed !== undefined && isAsDeclared(listed, declared, this.#live)) return undefined;
    const sight = await this.#live.look({ ruleId, definition: declared }, undefined, "fresh");
    if (sight.is === "absent") return { what: "the rule is gone after it", first: whatIsLeft };
    if (isAsDeclared(sight.rule, declared, this.#live)) return undefined;
    if (isAsDeclared(sight.rule, definition, this.#live)) {
      const { forms } = fittingForms(sight.rule, declared, this.#live.contract);
      const why =
        forms.length === 0
          ? "see whether operations.update in the contract is right"
          : `say in the contract that the service stores the same in another form: add rule.forms: [${forms.join(", ")}]`;
      warn(
        `after the update of rule ${ruleId} the service still shows what was before; it cannot be told whether it was carried out. The next run looks again. What to do if it stays so: ${why}`,
      );
      return undefined;
    }
    const live = sight.rule;
    const lost = fieldsShown(declared, this.#live.contract.rule).filter((name) => !Object.hasOwn(live, name));
    if (lost.length === 0) return undefined;
    return {
      what: `the rule has lost ${lost.slice(0, 5).join(", ")} by it`,
      first: "look at the service what the rule is now, and",
    };
  }

  /** A rule that came with the update: it is as the update was to make the one that was there. */
  async #double(
    ruleId: string,
    declared: JsonObject,
    before: Pass,
    after: Pass | undefined,
  ): Promise<string | undefined> {
    const key = this.#live.naturalKeyOf(declared);
    const isNew = ({ ruleId: id, rule }: LiveRule): boolean =>
      id !== ruleId &&
      !before.byId.has(id) &&
      this.#live.paper.written(id) === undefined &&
      (key === undefined ? isAsDeclared(rule, declared, this.#live) : this.#live.naturalKeyOf(rule) === key);
    const found = after?.byId.values().find(isNew);
    if (found === undefined) return undefined;
    const sight = await this.#live.look({ ruleId: found.ruleId, definition: declared }, undefined, "fresh");
    return sight.is === "present" ? found.ruleId : undefined;
  }

  /** The rule of which an update has made another one. */
  async #stillThereFault(target: KnownRule, after: Pass | undefined): Promise<Fault | undefined> {
    if ((await this.#deleteFault(target, after)) === undefined) return undefined;
    return {
      what: `the service made another rule of it, and rule ${target.ruleId} is still there`,
      first: `delete rule ${target.ruleId} at the service; if it is a deleted one, describe that in rule.gone of the contract; and`,
    };
  }

  /** The rule that was deleted. */
  async #deleteFault(target: KnownRule, after: Pass | undefined): Promise<Fault | undefined> {
    if (after !== undefined && !after.byId.has(target.ruleId)) return undefined;
    const { list } = this.#live.contract.operations;
    for (const waitMs of [0, list?.lagMs ?? unknownLagMs]) {
      await sleep(waitMs);
      const client = await this.#live.client();
      const answer = await client.get(target.ruleId, { known: target.definition }).catch((error: unknown) => {
        if (isMerchantRulesError(error) && error.code === "RULE_NOT_FOUND") return undefined;
        throw error;
      });
      if (answer === undefined || this.#live.isDead(answer.rule)) return undefined;
      await this.#live.paper.createsAnswered();
      if (this.#live.paper.isGivenAgain(target.ruleId)) return undefined;
    }
    return {
      what: "by its answer the rule is deleted, but a read still finds it",
      first: "if the service is slow to show a delete, set operations.list.lagMs in the contract; else",
    };
  }

  /** Another rule that is gone with the write, or has lost fields with it. Rules that this run wrote may have other fields. */
  async #harm({ pass, other }: Before, after: Pass | undefined): Promise<Fault | undefined> {
    const isDeleted = (id: string): boolean =>
      this.#written.get(id) === "delete" ||
      this.#live.paper.isGone(id) ||
      // An update that was not answered may have given it another id.
      (idsChange(this.#live) && this.#written.get(id) === "update");
    const isChanged = (id: string): boolean => this.#written.has(id) || this.#live.paper.written(id) !== undefined;
    const known = other === undefined ? [] : [{ ruleId: other.ruleId, rule: other.definition }];
    const others =
      pass === undefined || after === undefined ? known : [...pass.byId.values(), ...this.#live.paper.writtenSince()];
    let looks = 0;
    for (const { ruleId: id, rule } of others) {
      const isWhole = (now: JsonObject): boolean => isChanged(id) || hasFieldsOf(now, rule, this.#live.contract.rule);
      const now = after?.byId.get(id)?.rule;
      if (isDeleted(id) || (now !== undefined && isWhole(now))) continue;
      const sight = await this.#live.look({ ruleId: id, definition: {} }, undefined, "fresh");
      if (isDeleted(id)) continue;
      if (sight.is === "absent") {
        // Its state forgets it, so that the next run makes it again.
        this.#live.paper.remember(id, null);
        return {
          what: `rule ${id} is gone with it, so the service seems to delete more than it is asked to`,
          first: whatIsLeft,
        };
      }
      if (!isWhole(sight.rule)) return { what: `rule ${id} has lost fields with it`, first: whatIsLeft };
      looks += 1;
      if (looks === mostLooks) return undefined;
    }
    return undefined;
  }
}

/** True where a rule has every field that it had; values change by many hands. */
function hasFieldsOf(now: JsonObject, before: JsonObject, by: CompareOptions): boolean {
  return fieldsShown(before, by).every((name) => Object.hasOwn(now, name));
}

function notSent({ advice }: MerchantRulesError): MerchantRulesError {
  const reason = "not sent, because the answer to a create of this run has no id where the contract says (rule.id)";
  return new MerchantRulesError("NOT_TRIED", reason, { advice });
}

const whatIsLeft = "look at the service which rules are left, and";

function wrong(kind: Kind, ruleId: string, { what, first }: Fault): MerchantRulesError {
  const operation =
    kind === "delete" ? "operations.delete.identifyBy" : "operations.update (method, path, identifyBy, bodyAt, id)";
  return new MerchantRulesError("SERVICE_FAILED", `${what}; nothing else was written`, {
    attempted: `${kind} rule ${ruleId}`,
    advice: `${first} correct ${operation} in the contract before anything else is written. Then run \`pulumi up --refresh\`, which makes again what is missing`,
  });
}
