import { setTimeout as sleep } from "node:timers/promises";
import PQueue from "p-queue";
import type { LiveRule, RulesClient } from "../../sdk/client/index.ts";
import { type Contract, pagingOf, sentByUpdate } from "../../sdk/contract/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { getOrMake } from "../../sdk/get-or-make.ts";
import { fieldsShown, isEqual, type JsonObject, segmentsOf, valueAt } from "../../sdk/json/index.ts";
import { isAsDeclared, naturalKeyIn } from "../decide/live-rule.ts";
import type { KnownRule } from "../decide/plan.ts";
import { warn } from "../host/print.ts";
import { markId, markIn, parsedMark } from "../merchant/mark.ts";
import { mayBeCut } from "../refusals/say.ts";
import type { Paper } from "./paper.ts";

/** The result of a look at one rule. */
export type Sight =
  | { readonly is: "present"; readonly rule: JsonObject }
  | {
      readonly is: "absent";
      /** A deleted rule that is still answered (contract `rule.gone`): its id is in use. */
      readonly isDead?: true;
    };

/** The way of a look. See {@link Live.look}. */
export type How = "list" | "cheap" | "fresh";

/** One reading of the whole list, without dead rows. */
export interface Pass {
  readonly byId: ReadonlyMap<string, LiveRule>;
  readonly byNaturalKey: ReadonlyMap<string, readonly LiveRule[]>;
  /** The rules with a mark, by the hash of resource and key in it. */
  readonly byResource: ReadonlyMap<string, readonly LiveRule[]>;
  /** The pages that were read, an empty last one included. */
  readonly pages: number;
  /** The length of a last page that may be cut; undefined: nothing looks like it. */
  readonly cutAt: number | undefined;
  /** When the reading began (performance.now), and how long it took, in milliseconds. */
  readonly beganAt: number;
  readonly tookMs: number;
}

/**
 * A reading by which nothing is created any more: another run may have made the rules since. Readings that take long are
 * repeated less often, so that they cost a fortieth of a run at most.
 */
export const oldMs = 10_000;
const oldTimes = 40;

/** The time after a 404 at which a rule is looked for once more, where no list is a second witness. */
export const secondLookMs = 1000;

/**
 * The one reader of the rules at a place: the list, read once a run; single rules; and what this run wrote after it
 * read them.
 */
export class Live {
  readonly contract: Contract;
  readonly paper: Paper;
  readonly #connect: () => Promise<RulesClient>;
  readonly #onListed: (rules: number) => void;
  #client: Promise<RulesClient> | undefined;
  #pass: Promise<Pass> | undefined;
  #nextPass: Promise<Pass> | undefined;
  /** The first and the last reading that came to their ends. */
  #firstPass: Pass | undefined;
  #lastPass: Pass | undefined;
  #isShared = false;
  #isUnlistedSaid = false;
  readonly #turns: PQueue;
  /** True once a GET has shown that the list holds whole rules. */
  #isWhole = false;

  /**
   * @param connect called on first use: check and diff, all that a preview calls, need neither HTTP nor credentials, but
   * for a set with onUnmanaged
   */
  constructor(paper: Paper, connect: () => Promise<RulesClient>, onListed: (rules: number) => void = () => {}) {
    this.contract = paper.contract;
    this.paper = paper;
    this.#connect = connect;
    this.#onListed = onListed;
    this.#turns = new PQueue({ concurrency: this.contract.limits.concurrency });
  }

  client(): Promise<RulesClient> {
    this.#client ??= this.#connect().catch((error) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  /**
   * Looks at one rule. `list`: in the list, where the contract has one, and by a GET where it is not in there. `cheap`:
   * in the list only if that was read anyhow; what a GET showed in this run counts. `fresh`: by a GET.
   */
  async look(known: KnownRule, label: string | undefined, how: How): Promise<Sight> {
    const record = this.paper.of(known.ruleId);
    const { list } = this.contract.operations;
    let isUnlisted = false;
    // A list may be behind, and what is not known of a rule must not stand in it.
    const mayTell = record.written === undefined && known.doubt === undefined && !this.#isMarkedSince(known.ruleId);
    if (how !== "fresh" && mayTell) {
      if (how === "cheap" && record.seen !== undefined) return { is: "present", rule: record.seen };
      if (list !== null && (how === "list" || this.#pass !== undefined)) {
        const pass = await this.listed();
        const listed = pass.byId.get(known.ruleId);
        isUnlisted = listed === undefined && list.lagMs === 0 && !this.canShift(pass);
        if (listed !== undefined) {
          if (Object.keys(known.definition).some((name) => !Object.hasOwn(listed.rule, name)))
            await this.#demandWhole(listed);
          // A list that lags may not show the last write yet: a difference is looked at.
          if (list.lagMs === 0 || isAsDeclared(listed.rule, known.definition, this))
            return { is: "present", rule: listed.rule };
        }
      }
    }
    const sight = await this.get(known, label);
    if (sight.is === "present" && isUnlisted) this.#sayUnlisted(known.ruleId);
    if (sight.is === "present" || sight.isDead) return sight;
    // The list was not asked: it is the second witness.
    if (known.doubt !== undefined && (await this.isStillListed(known.ruleId))) throw contradiction(known.ruleId, label);
    if (list !== null) return sight;
    // Some services show a new rule late.
    await sleep(secondLookMs);
    return await this.get(known, label);
  }

  /** True where the list, read after a GET of the rule, shows another mark than the GET: only a new GET tells whose it is. */
  #isMarkedSince(ruleId: string): boolean {
    const { owner } = this.contract.rule;
    const { seen, seenAt = 0 } = this.paper.of(ruleId);
    if (owner === null || seen === undefined || this.#lastPass === undefined || this.#lastPass.beganAt < seenAt)
      return false;
    const listed = this.#lastPass.byId.get(ruleId)?.rule;
    if (listed === undefined) return false;
    const [now = null, then = null] = [valueAt(listed, owner.at), valueAt(seen, owner.at)];
    return !isEqual(now, then, this.contract.rule, segmentsOf(owner.at));
  }

  /** A list that leaves rules out is no proof that one is not there. */
  #sayUnlisted(ruleId: string): void {
    if (this.#isUnlistedSaid) return;
    this.#isUnlistedSaid = true;
    const pagination = this.contract.operations.list?.pagination ?? {};
    const { cutAt } = this.#lastPass ?? {};
    const byTotal = "total" in pagination && pagination.total !== null;
    const wrong =
      cutAt !== undefined
        ? `describe its pages in operations.list.pagination of the contract, for it ends after ${cutAt} rules, where services cut lists`
        : byTotal
          ? "set operations.list.pagination.total in the contract to null, for it ends the list, and may be no count of its rules"
          : "correct operations.list in the contract, so that it shows all rules (query, pagination)";
    warn(
      `the list does not show rule ${ruleId}, which a read finds. A rule that the list leaves out may be made twice after a killed run. What to do: ${wrong}; or set its lagMs, where it is behind`,
    );
  }

  /**
   * Looks whether an id is in use, before a rule is made with it.
   * @param when "due": it is about to be made, and a list tells only where the service refuses an id that is taken since;
   * "refused": that was said of it, or its create was not answered, and only the service tells
   */
  async lookForId(known: KnownRule, label: string | undefined, when: "early" | "due" | "refused"): Promise<Sight> {
    const { operations, rule, errors } = this.contract;
    const record = this.paper.of(known.ruleId);
    await Promise.allSettled([record.deleting]);
    if (record.written) return { is: "present", rule: record.written };
    if (record.written === null && rule.gone.length === 0) return { is: "absent" };
    // By a 412 a dead rule cannot be told from one that is there.
    const isRefused = mustBeNew(operations.create.headers) && rule.gone.length === 0;
    const saysTaken = errors.exists.length > 0 || isRefused;
    const isEnough = when === "early" || (when === "due" && saysTaken);
    if (isEnough && operations.list !== null) {
      const { byId } = await (when === "early" ? this.listed() : this.#recent());
      const listed = byId.get(known.ruleId);
      return listed === undefined || record.written === null ? { is: "absent" } : { is: "present", rule: listed.rule };
    }
    const sight = await this.get(known, label);
    // A read that is behind shows what this run has deleted.
    return record.written === null && sight.is === "present" ? { is: "absent", isDead: true } : sight;
  }

  /**
   * A rule as this run has read it already; asks nothing. Undefined where it has not, where the run has written it since, and
   * where nothing tells that the list shows it as it is and whole.
   */
  glance({ ruleId, definition }: KnownRule): JsonObject | undefined {
    const { written, seen } = this.paper.of(ruleId);
    if (written !== undefined || seen !== undefined) return written === undefined ? seen : undefined;
    const listed = this.contract.operations.list?.lagMs === 0 ? this.#lastPass?.byId.get(ruleId)?.rule : undefined;
    const isWhole =
      listed !== undefined && fieldsShown(definition, this.contract.rule).every((name) => Object.hasOwn(listed, name));
    return this.#isWhole || isWhole ? listed : undefined;
  }

  /**
   * The whole rule as the list showed it not long ago, for an update that sends it back; undefined where a GET is to tell: this
   * run has written it since, or the list may be behind. @throws MerchantRulesError RESPONSE_INVALID: the list holds summaries
   */
  async toSendBack({ ruleId }: KnownRule): Promise<JsonObject | undefined> {
    const { list } = this.contract.operations;
    if (sentByUpdate(this.contract.operations) === "declared" || list === null || list.lagMs !== 0 || list.summaries)
      return undefined;
    const isWritten = (): boolean => this.paper.of(ruleId).written !== undefined;
    if (isWritten()) return undefined;
    const listed = (await this.#recent()).byId.get(ruleId);
    if (listed !== undefined) await this.#demandWhole(listed);
    return isWritten() ? undefined : listed?.rule;
  }

  /**
   * True where the list shows a rule of which something else says that it is gone: a wrong path and a page in between
   * answer 404, too. What the list showed before is read anew, after its lag.
   */
  async isStillListed(ruleId: string): Promise<boolean> {
    const { list } = this.contract.operations;
    if (list === null || !(await this.listed()).byId.has(ruleId)) return false;
    await sleep(list.lagMs ?? secondLookMs);
    return (await this.listedAnew()).byId.has(ruleId);
  }

  /** True of a listed rule that may be gone: the list may lag, or an earlier reading alone has shown it. */
  mayBeGone(ruleId: string): boolean {
    return this.contract.operations.list?.lagMs !== 0 || this.#lastPass?.byId.has(ruleId) !== true;
  }

  /**
   * True where a read shows a listed rule. One that the list still shows after its lag is read once more: some services
   * show a new rule late.
   * @throws MerchantRulesError RESPONSE_INVALID: list and read contradict each other
   */
  async isThere(ruleId: string, label: string | undefined): Promise<boolean> {
    const known = { ruleId, definition: {} };
    if ((await this.get(known, label)).is === "present") return true;
    if (!(await this.isStillListed(ruleId))) return false;
    if ((await this.get(known, label)).is === "present") return true;
    throw contradiction(ruleId, label);
  }

  /** The list as it was last read in this run. */
  listed(): Promise<Pass> {
    // A pass that failed is not kept: what was not read to its end says nothing about any rule.
    this.#pass ??= this.#readPass().catch((error) => {
      this.#pass = undefined;
      throw error;
    });
    return this.#pass;
  }

  /** The last reading that came to its end in this run. */
  get lastPass(): Pass | undefined {
    return this.#lastPass;
  }

  /** Says that the list, as it was last read, may not be whole; undefined where nothing looks like it. */
  get mayBeCut(): string | undefined {
    const { cutAt } = this.#lastPass ?? {};
    return cutAt === undefined ? undefined : `${mayBeCut.what(cutAt)}. What to do: ${mayBeCut.advice}`;
  }

  /** A pass that begins after this call; callers that wait for the same moment share one. */
  listedAnew(): Promise<Pass> {
    this.#nextPass ??= Promise.allSettled([this.#pass]).then(() => {
      this.#nextPass = undefined;
      this.#pass = undefined;
      return this.listed();
    });
    return this.#nextPass;
  }

  /** Runs creates as many at once as the contract lets requests run, in the order in which they came. */
  inTurn<T>(run: () => Promise<T>): Promise<T> {
    return this.#turns.add(run);
  }

  /** Another run makes the same rules at this time: from now on the list is read anew before each create. */
  beware(): void {
    this.#isShared = true;
  }

  /**
   * The list as it was not long ago; read twice where rows move between pages and one reading may miss a rule. What a run
   * before this process made is in it: it is read after the lag, counted from when the process began.
   */
  async #recent(): Promise<Pass> {
    const pass = await this.listed();
    const lagMs = this.contract.operations.list?.lagMs ?? 0;
    if (pass.beganAt < lagMs) {
      await sleep(lagMs - performance.now());
      return this.listedAnew();
    }
    if (pass === this.#firstPass && this.canShift(pass)) return this.listedAnew();
    const isOld = performance.now() - pass.beganAt > Math.max(oldMs, oldTimes * pass.tookMs);
    return isOld || this.#isShared ? this.listedAnew() : pass;
  }

  /** A rule that this run wrote before a reading that does not show it, its lag later: the list leaves rules out. */
  leftOutOf(pass: Pass): string | undefined {
    const lagMs = this.contract.operations.list?.lagMs ?? null;
    if (lagMs === null || this.canShift(pass)) return undefined;
    for (const [ruleId, { written, writtenAt = pass.beganAt, deleting }] of this.paper.all())
      if (written && writtenAt + lagMs < pass.beganAt && deleting === undefined && !pass.byId.has(ruleId))
        return ruleId;
    return undefined;
  }

  /** True of a rule that the list had when this run began. */
  wasThere(ruleId: string): boolean {
    return this.#firstPass?.byId.has(ruleId) === true;
  }

  /** The listed rules with one very mark, as `markId` of it, under whatever id. */
  async withMark(id: string): Promise<LiveRule[]> {
    const { contract } = this;
    const hash = parsedMark(id)?.resource;
    if (hash === undefined || contract.rule.owner === null || contract.operations.list === null) return [];
    const marked = (await this.listed()).byResource.get(hash) ?? [];
    return marked.filter(({ ruleId, rule }) => {
      const mark = markIn(rule, contract);
      return mark !== undefined && markId(mark) === id && !this.paper.isGone(ruleId);
    });
  }

  /** True of several pages between which rows may move while they are read: a URL of the next page may hold its number. */
  canShift({ pages }: Pass): boolean {
    return pages > 1 && this.hasShiftingPages;
  }

  /** True where pages go by offset or number: rows may move between them. */
  get hasShiftingPages(): boolean {
    const { list } = this.contract.operations;
    return list === null || pagingOf(list.pagination).canShift;
  }

  /** True where a rule can be looked up without its id. */
  canSearch(definition: JsonObject): boolean {
    return this.contract.operations.list !== null && this.naturalKeyOf(definition) !== undefined;
  }

  /** The natural key's value as a text to compare by; undefined where there is none. */
  naturalKeyOf(definition: JsonObject): string | undefined {
    return naturalKeyIn(definition, this);
  }

  /**
   * The rules that may be the declared one: with its natural key, among all rules where there is a list, and among those that
   * this run wrote; and with the mark of one resource and key.
   * @param resource that hash; undefined: it has none
   */
  async find(definition: JsonObject, resource: string | undefined): Promise<LiveRule[]> {
    const hasList = this.contract.operations.list !== null;
    const key = this.naturalKeyOf(definition);
    const hash = this.contract.rule.owner === null ? undefined : resource;
    if (!hasList || (key === undefined && hash === undefined))
      return key === undefined ? [] : this.paper.writtenWith(key);
    const pass = await this.#recent();
    const byKey = key === undefined ? [] : this.#listedWith(key, pass);
    const marked = hash === undefined ? [] : (pass.byResource.get(hash) ?? []);
    const listed = [...byKey, ...marked.filter(({ ruleId }) => byKey.every((each) => each.ruleId !== ruleId))];
    return [...(await this.#settled(listed)), ...(key === undefined ? [] : this.paper.writtenWith(key))];
  }

  /** The rules with a natural key. A later reading whose rows moved while it was read may lack one that the first had. */
  #listedWith(key: string, pass: Pass): readonly LiveRule[] {
    const listed = pass.byNaturalKey.get(key) ?? [];
    if (!this.canShift(pass)) return listed;
    const missed = (this.#firstPass?.byNaturalKey.get(key) ?? []).filter(({ ruleId }) => !pass.byId.has(ruleId));
    return [...listed, ...missed];
  }

  /** Those of them that no delete takes away, and of which this run knows nothing newer. */
  async #settled(found: readonly LiveRule[]): Promise<LiveRule[]> {
    // A rule that is on its way out must not be taken over.
    await Promise.allSettled(found.map(({ ruleId }) => this.paper.of(ruleId).deleting));
    return found.filter(({ ruleId }) => this.paper.of(ruleId).written === undefined);
  }

  /** Every rule at the service but dead ones, as far as the list and what this run wrote tell. Needs `operations.list`. */
  async all(): Promise<LiveRule[]> {
    const { byId } = await this.listed();
    const listed = [...byId.values()].filter(({ ruleId }) => this.paper.of(ruleId).written === undefined);
    return [...listed, ...this.paper.writtenSince()];
  }

  /** As {@link Live.all}, for who uses all of a rule: a list of summaries is refused. @throws MerchantRulesError RESPONSE_INVALID */
  async allWhole(): Promise<LiveRule[]> {
    const [first] = (await this.listed()).byId.values();
    if (first !== undefined) await this.#demandWhole(first);
    return this.all();
  }

  /** True of a live rule that counts as deleted (contract `rule.gone`). */
  isDead(rule: JsonObject): boolean {
    return saysSo(rule, "gone", this.contract);
  }

  /** True of a live rule that is the service's own (contract `rule.foreign`). */
  isForeign(rule: JsonObject): boolean {
    return saysSo(rule, "foreign", this.contract);
  }

  /** Reads one rule by a GET. */
  async get({ ruleId, definition }: KnownRule, label?: string): Promise<Sight> {
    const before = this.paper.of(ruleId).written;
    const seenAt = performance.now();
    try {
      const { rule } = await (await this.client()).get(ruleId, {
        known: definition,
        ...(label === undefined ? {} : { label }),
      });
      if (this.isDead(rule)) return { is: "absent", isDead: true };
      this.paper.saw(ruleId, rule, seenAt);
      return { is: "present", rule };
    } catch (error) {
      if (!isMerchantRulesError(error) || error.code !== "RULE_NOT_FOUND") throw error;
      // A read that began before the rule was made says nothing of it.
      const { written } = this.paper.of(ruleId);
      return written && written !== before ? { is: "present", rule: written } : { is: "absent" };
    }
  }

  async #readPass(): Promise<Pass> {
    const byId = new Map<string, LiveRule>();
    const byNaturalKey = new Map<string, LiveRule[]>();
    const byResource = new Map<string, LiveRule[]>();
    const beganAt = performance.now();
    let seen = 0;
    let pages = 0;
    let keyless: LiveRule | undefined;
    let cutAt: number | undefined;
    const onPage = (): void => {
      pages += 1;
    };
    const onCut = (length: number): void => {
      cutAt = length;
    };
    for await (const live of (await this.client()).list({ onPage, onCut })) {
      seen += 1;
      this.#onListed(seen);
      if (this.isDead(live.rule)) continue;
      byId.set(live.ruleId, live);
      const key = this.naturalKeyOf(live.rule);
      if (key !== undefined) getOrMake(byNaturalKey, key, () => []).push(live);
      else keyless ??= live;
      const mark = markIn(live.rule, this.contract);
      if (mark !== undefined) getOrMake(byResource, mark.resource, () => []).push(live);
    }
    if (keyless !== undefined && this.contract.rule.naturalKey !== null) await this.#demandWhole(keyless);
    const pass = { byId, byNaturalKey, byResource, pages, cutAt, beganAt, tookMs: performance.now() - beganAt };
    this.#firstPass ??= pass;
    this.#lastPass = pass;
    return pass;
  }

  /** Refuses a list of summaries; a GET of one listed rule tells. @throws MerchantRulesError RESPONSE_INVALID */
  async #demandWhole(listed: LiveRule): Promise<void> {
    if (!this.#isWhole) this.#isWhole = await (await this.client()).demandWhole(listed);
  }
}

/** True of a create that says by its headers that no rule may have its id yet (RFC 9110, 13.1.2). */
function mustBeNew(headers: Contract["operations"]["create"]["headers"]): boolean {
  return Object.entries(headers).some(([name, value]) => name.toLowerCase() === "if-none-match" && value === "*");
}

function contradiction(ruleId: string, label: string | undefined): MerchantRulesError {
  const reason = `the service answers to a GET that rule ${ruleId} is not there, but its list shows the rule`;
  return new MerchantRulesError("RESPONSE_INVALID", reason, {
    attempted: `read rule ${label ?? ruleId}`,
    advice: "run again; if it stays, see whether operations.get in the contract is right",
  });
}

function saysSo(rule: JsonObject, what: "gone" | "foreign", { rule: by }: Contract): boolean {
  return by[what].some(({ at, is }) => {
    const found = valueAt(rule, at);
    return found !== undefined && is.some((value) => isEqual(value, found, by, segmentsOf(at)));
  });
}
