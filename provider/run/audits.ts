import { setTimeout as sleep } from "node:timers/promises";
import PQueue from "p-queue";
import type { LiveRule } from "../../sdk/client/index.ts";
import { isMerchantRulesError, type MerchantRulesError } from "../../sdk/errors.ts";
import { getOrMake } from "../../sdk/get-or-make.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { type AtId, isToStop, judgeOthers, judgeOwn, type OtherChange } from "../decide/audit.ts";
import type { KnownRule } from "../decide/plan.ts";
import { warn } from "../host/print.ts";
import { harmed, notAsSent, notSent, notSentAfter, othersChanged } from "../refusals/audit.ts";
import type { Claimant, Claims } from "./claims.ts";
import { type Live, oldMs, type Pass, secondLookMs } from "./live.ts";
import { type Finding, groupOf, idsOf, isSettled, Sent, type ToSend } from "./sent.ts";

/** A rule that a request of this run has changed beside its own, as far as a reading tells. */
export interface Harm extends OtherChange {
  /** Undefined: it is gone. */
  readonly rule: JsonObject | undefined;
}

/** What the readings after the writes of a hook have shown. */
export interface Audit {
  readonly own: readonly Sent[];
  readonly harm: readonly Harm[];
  readonly error: MerchantRulesError | undefined;
}

/** Rules that are looked at by themselves where the list shows something else than was written, and others where there is no list. */
const mostLooks = 5;
/** The time in which hooks that an engine calls side by side have all begun. */
const besideMs = 50;
/** Readings of a list that does not show this run's own writes. */
const mostReadings = 3;
/** Rules in a list whose reading costs as much as a GET, where resources of one rule each look for themselves. */
const rulesPerLook = 50;

/**
 * Sees that the service did what it was asked and nothing else. The first request of each kind goes alone, and is looked at
 * before another is sent; at the end of a hook that wrote, all that it wrote is. One for each place.
 */
export class Audits {
  readonly #live: Live;
  readonly #claims: Claims;
  readonly #turns: PQueue;
  readonly #shown = new Set<string>();
  readonly #underWay = new Set<Promise<unknown>>();
  /** When the last request of this run about a rule began. */
  readonly #askedAt = new Map<string, number>();
  /** Requests since the other rules were last read. */
  #window: Sent[] = [];
  /** The requests of each call of a hook. */
  readonly #own = new Map<Claimant, Sent[]>();
  /** All rules, as they were before the requests of the window, and those of this run as they were seen after theirs. */
  readonly #others = new Map<string, LiveRule>();
  #readAt = Number.NEGATIVE_INFINITY;
  #judging: Promise<void> | undefined;
  /** Own rules that wait for a look, and looks at the ends of hooks so far. */
  #waiting = 0;
  #ends = 0;
  #alone: Promise<unknown> | undefined;
  #stop: MerchantRulesError | undefined;
  /** What each judging found that none before it had, the last request before it, and who sent it and those with it. */
  readonly #harms: {
    readonly harm: readonly Harm[];
    readonly last: Sent;
    readonly by: Set<Claimant>;
    isSaid: boolean;
  }[] = [];
  /** A create whose response had no id: nobody would know the rules of the next ones, which wait for the look for its own. */
  #idless: PromiseWithResolvers<void> | undefined;
  #saysWithoutId = false;
  #saysOthers = false;
  #hasSaidFew = false;

  constructor(live: Live, claims: Claims) {
    this.#live = live;
    this.#claims = claims;
    this.#turns = new PQueue({ concurrency: live.contract.limits.concurrency });
  }

  /** A list of summaries costs a GET of each rule. */
  get #hasList(): boolean {
    const { list } = this.#live.contract.operations;
    return list !== null && !list.summaries;
  }

  /** @throws MerchantRulesError NOT_TRIED: an earlier request did something else than it was to do */
  demandGoingOn(): void {
    if (this.#stop !== undefined) throw this.#stop;
  }

  /**
   * Sends a request, the first of its group alone; as many at once as the contract lets requests run, so that none waits to be
   * sent when it is to be stopped. Creates have turns of their own. @throws MerchantRulesError as demandGoingOn, or the request's own
   */
  send<T>(write: ToSend, request: (sent: Sent) => Promise<T>): Promise<T> {
    const sending = (): Promise<T> => this.#send(write, request);
    return write.kind === "create" ? sending() : this.#turns.add(sending);
  }

  async #send<T>(write: ToSend, request: (sent: Sent) => Promise<T>): Promise<T> {
    for (;;) {
      this.demandGoingOn();
      if (write.kind === "create") await this.waitForIds();
      if (this.#alone === undefined) break;
      await Promise.allSettled([this.#alone]);
    }
    if (this.#shown.has(groupOf(write))) return await this.#run(new Sent(write), request);
    const alone = this.#sendAlone(write, request);
    this.#alone = alone;
    try {
      return await alone;
    } finally {
      this.#alone = undefined;
    }
  }

  async #sendAlone<T>(write: ToSend, request: (sent: Sent) => Promise<T>): Promise<T> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    this.demandGoingOn();
    await this.#readBefore(write);
    const sent = new Sent(write);
    try {
      return await this.#run(sent, request);
    } finally {
      // Of a create that was not answered, the look for its rule is the reading.
      if (!sent.isVoid && (sent.isAnswered || sent.ruleId !== undefined)) await this.#lookAlone(sent);
    }
  }

  async #run<T>(sent: Sent, request: (sent: Sent) => Promise<T>): Promise<T> {
    this.#window.push(sent);
    const asked = idsOf(sent).map((ruleId) => [ruleId, this.#askedAt.get(ruleId)] as const);
    for (const [ruleId] of asked) this.#askedAt.set(ruleId, performance.now());
    getOrMake(this.#own, sent.write.of, () => []).push(sent);
    const busy = request(sent);
    this.#underWay.add(busy);
    try {
      const value = await busy;
      sent.isAnswered = true;
      return value;
    } catch (error) {
      if (!isMerchantRulesError(error)) throw error;
      if (!error.outcomeUnknown && !sent.isAnswered) sent.isVoid = true;
      if (error.exchange?.isWithoutId) this.#idless ??= Promise.withResolvers();
      // What it made of that one nobody knows; the next would do the same to others.
      if (error.exchange?.isOfOther && sent.kind !== "delete") this.#stopAfter(sent, error);
      // Nobody knows whether it made a rule, and nothing has shown yet that another one does.
      const isUnclear = sent.kind === "create" && sent.isAnswered && error.outcomeUnknown;
      if (isUnclear && !this.#shown.has(groupOf(sent.write))) this.#stopAfter(sent, error);
      throw error;
    } finally {
      sent.endedAt = performance.now();
      this.#underWay.delete(busy);
      if (sent.isVoid) {
        this.#window = this.#window.filter((each) => each !== sent);
        for (const [ruleId, before] of asked)
          if (before === undefined) this.#askedAt.delete(ruleId);
          else this.#askedAt.set(ruleId, before);
      }
    }
  }

  /** The look after a first request. What cannot be read is read again at the end, and the next request is the first. */
  async #lookAlone(sent: Sent): Promise<void> {
    try {
      await this.#look([sent], this.#hasList);
    } catch (error) {
      if (!isMerchantRulesError(error)) throw error;
      return;
    }
    const { verdict, rule } = sent.finding ?? { verdict: "unread", rule: undefined };
    // A service may take its time for a transition.
    const isSlow = sent.kind === "transition" && verdict === "otherwise";
    if (verdict !== "as sent" && isToStop(verdict, sent) && !isSlow)
      this.#stopAfter(sent, notAsSent(verdict, { write: sent, rule, contract: this.#live.contract }));
    if (sent.isAnswered && verdict !== "unread") this.#shown.add(groupOf(sent.write));
  }

  /** Reads the other rules before a first request, where they were not read a moment ago. */
  async #readBefore({ ruleId }: ToSend): Promise<void> {
    if (this.#hasList) {
      const pass = await this.#live.listed();
      const isOld = performance.now() - pass.beganAt > oldMs;
      if (this.#window.length === 0 || isOld) await this.#compare(isOld ? await this.#live.listedAnew() : pass);
      return;
    }
    const known = (): KnownRule[] =>
      this.#claims.ofStates().flatMap(({ row }) => (row.ruleId === ruleId || this.#isTouched(row.ruleId) ? [] : [row]));
    if (this.#claims.ofStates().some(({ row }) => this.#others.has(row.ruleId))) return;
    // Hooks that are called beside this one are heard in a moment: it lets more be looked at, and decides nothing.
    if (known().length === 0) await sleep(besideMs);
    const few = known().slice(0, mostLooks);
    for (const [ruleId, rule] of await this.#read(few)) this.#see(ruleId, rule);
  }

  /** Reads rules by a GET each, side by side; null: it is not there. */
  async #read(rules: readonly KnownRule[]): Promise<Map<string, JsonObject | null>> {
    const looks = rules.map(async (known) => {
      const sight = await this.#live.get(known);
      return [known.ruleId, sight.is === "present" ? sight.rule : null] as const;
    });
    return new Map(await Promise.all(looks));
  }

  /** From now on a rule is to be so, whatever else is written. Null or undefined: not there. */
  #see(ruleId: string, rule: JsonObject | null | undefined): void {
    this.#others.delete(ruleId);
    if (rule) this.#others.set(ruleId, { ruleId, rule });
  }

  #found(sent: Sent, finding: Finding): void {
    sent.finding = finding;
    for (const ruleId of idsOf(sent)) this.#see(ruleId, ruleId === sent.ruleId ? finding.rule : undefined);
  }

  #isTouched(ruleId: string): boolean {
    return this.#live.paper.written(ruleId) !== undefined || this.#live.paper.isBeingDeleted(ruleId);
  }

  /** Looks at all that a resource has written, once its requests have ended. */
  async end(of: Claimant & { readonly isRule: boolean }): Promise<Audit> {
    const own = (this.#own.get(of) ?? []).filter(({ isVoid }) => !isVoid);
    const ends = new Map(own.flatMap((each) => (each.ruleId === undefined ? [] : [[each.ruleId, each]])));
    const open = [...ends.values()].filter(({ finding }) => !isSettled(finding));
    this.#waiting += open.length;
    if (open.length > 0) this.#ends += 1;
    try {
      if (open.length > 0) await this.#look(open, this.#isWide(of.isRule), !of.isRule || looksAtOthers(this.#ends));
    } catch (error) {
      if (!isMerchantRulesError(error)) throw error;
      for (const each of open) this.#found(each, { verdict: "unread", rule: undefined, unread: error });
    } finally {
      this.#waiting -= open.length;
      this.#own.delete(of);
    }
    // Who is asked next says it where nobody that did it is left to.
    const harms = this.#harms.filter(({ by, isSaid }) => by.has(of) || !isSaid);
    for (const each of harms) each.isSaid = true;
    const harm = harms.flatMap((each) => each.harm);
    const last = harms.at(-1)?.last;
    const error = last && harmed(harm, last);
    return { own: own.filter((each) => each.ruleId === undefined || ends.get(each.ruleId) === each), harm, error };
  }

  /** By what a resource has sent, its rule should be so by now. */
  expect(of: Claimant, ruleId: string, definition: JsonObject): void {
    const last = this.#own.get(of)?.findLast((each) => each.ruleId === ruleId);
    if (last === undefined) return;
    last.sent = definition;
    last.finding = undefined;
  }

  /** True where one reading of the list costs no more than a look at each rule that waits for one, and at others; and at first in any case. */
  #isWide(isRule: boolean): boolean {
    const pass = this.#live.lastPass;
    if (!this.#hasList) return false;
    if (pass === undefined || this.#ends <= mostLooks) return true;
    return this.#waiting + mostLooks >= Math.max(pass.pages, isRule ? pass.byId.size / rulesPerLook : 0);
  }

  /** @param atOthers whether others are looked at, too, where the list is not read */
  async #look(writes: readonly Sent[], isWide: boolean, atOthers = true): Promise<void> {
    const live = this.#live;
    const lagMs = live.contract.operations.list?.lagMs ?? secondLookMs;
    let open = writes.filter(({ ruleId }) => ruleId !== undefined);
    let after = Math.max(...writes.map(({ endedAt = 0 }) => endedAt));
    let pass: Pass | undefined;
    for (let reading = 1; ; reading += 1) {
      if (isWide) pass = await this.#passAfter(after);
      const listed = inPass(pass);
      open = open.filter((each) => !this.#settle(each, listed));
      const looked = isWide ? open.slice(0, mostLooks) : open;
      const looks = await Promise.all(looked.map(async (each) => [each, await this.#lookTwice(each)] as const));
      const unlisted = looks.filter(([, { verdict }]) => verdict === "as sent");
      // A list of summaries, and one whose rows moved while it was read, shows a part and is not behind.
      const isPart = unlisted.some(([each]) => this.#isPart(each, listed, pass));
      const isBehind = isWide && !isPart && unlisted.length > 0;
      if (isBehind && reading < mostReadings) {
        after = performance.now();
        await sleep(lagMs);
        continue;
      }
      for (const [each, seen] of looks) {
        const isUnlisted = isBehind && seen.verdict === "as sent";
        this.#found(each, isUnlisted ? { ...seen, verdict: "not listed" } : seen);
      }
      open = open.slice(looked.length);
      if (isWide && isPart) {
        isWide = false;
        continue;
      }
      // The looks agree with the list, which is believed for the rest.
      for (const each of open)
        this.#found(each, isBehind ? { verdict: "unread", rule: undefined } : findingOf(each, listed, live));
      // A list that does not show this run's own writes is behind, and says nothing of others.
      if (isBehind) return;
      if (pass !== undefined) await this.#compare(pass, writes);
      else if (atOthers) await this.#compareFew();
      return;
    }
  }

  #isPart(sent: Sent, listed: AtId, pass: Pass | undefined): boolean {
    const verdict = judgeOwn(sent, listed, this.#live);
    return verdict === "lacks fields" || (verdict === "missing" && pass !== undefined && this.#live.canShift(pass));
  }

  /** Takes what a reading shows, where it is as it should be. */
  #settle(sent: Sent, at: AtId): boolean {
    // The rule that has the id by now is not the one that was deleted.
    if (sent.kind === "delete" && sent.ruleId !== undefined && this.#live.paper.isGivenAgain(sent.ruleId)) {
      sent.finding = { verdict: "as sent", rule: undefined };
      return true;
    }
    const finding = findingOf(sent, at, this.#live);
    if (finding.verdict !== "as sent") return false;
    this.#found(sent, finding);
    return true;
  }

  /** A look at one own rule, and once more after the lag where it is not as it should be. */
  async #lookTwice(sent: Sent): Promise<Finding> {
    const live = this.#live;
    const { get, list } = live.contract.operations;
    const lagMs = get?.lagMs ?? list?.lagMs ?? secondLookMs;
    const look = async (): Promise<Finding> => {
      const seen = await this.#read(idsOf(sent).map((ruleId) => ({ ruleId, definition: sent.sent })));
      return findingOf(sent, (ruleId) => seen.get(ruleId), live);
    };
    const first = await look();
    if (first.verdict === "as sent" || lagMs === 0) return first;
    await sleep(lagMs);
    return await look();
  }

  /** A reading of the list that began after a time, and its lag. */
  async #passAfter(time: number): Promise<Pass> {
    const lagMs = this.#live.contract.operations.list?.lagMs ?? 0;
    const due = time + lagMs * 1.1;
    const last = this.#live.lastPass;
    if (last !== undefined && last.beganAt > due) return last;
    const leftMs = due - performance.now();
    if (leftMs > 0) await sleep(leftMs);
    const read = (): Promise<Pass> => this.#live.listedAnew();
    if (!this.#live.hasShiftingPages) return await read();
    // A page behind the end is an error to some services, and deletes of others move the end while the list is read.
    return await read().catch(async (error: unknown) => {
      if (!isMerchantRulesError(error) || error.exchange === undefined) throw error;
      await sleep(secondLookMs);
      return await read();
    });
  }

  /** Compares the other rules with what they were, by a reading of the whole list. */
  async #compare(pass: Pass, writes: readonly Sent[] = []): Promise<void> {
    if (pass.beganAt <= this.#readAt) return await this.#judging;
    const isFirst = this.#readAt === Number.NEGATIVE_INFINITY;
    this.#readAt = pass.beganAt;
    const isNew = ({ ruleId }: LiveRule): boolean =>
      !this.#others.has(ruleId) && !this.#isTouched(ruleId) && !this.#claims.isKnown(ruleId);
    const reading = { at: inPass(pass), news: pass.byId.values().filter(isNew) };
    const beganAt = pass.beganAt - (this.#live.contract.operations.list?.lagMs ?? 0);
    // One that shows an own rule as before may be behind, too: the writes are judged once more by the next one.
    const isWhole = writes.every(({ finding }) => finding?.verdict !== "as before");
    if (!isFirst) this.#judging = this.#judge(reading, { beganAt, isWhole });
    // While requests are under way, what they may have changed by then is judged when they have ended, by what was before.
    if (this.#window.length === 0) {
      this.#others.clear();
      for (const [ruleId, live] of pass.byId) this.#others.set(ruleId, live);
    }
    await this.#judging;
  }

  /** The same by a look at a few, where no list is read: those that this run wrote last, and others that states know. */
  async #compareFew(): Promise<void> {
    const beganAt = performance.now();
    const lastAt = Math.max(...this.#window.map(({ endedAt = Number.NEGATIVE_INFINITY }) => endedAt));
    const unsettled = this.#unsettled;
    const isOld = (ruleId: string): boolean =>
      !unsettled.has(ruleId) && (this.#live.paper.of(ruleId).seenAt ?? Number.NEGATIVE_INFINITY) < lastAt;
    const few = [...this.#others.keys()].filter(isOld).slice(-mostLooks);
    const now = await this.#read(few.map((ruleId) => ({ ruleId, definition: {} })));
    await this.#judge({ at: (ruleId) => now.get(ruleId), news: [] }, { beganAt, isWhole: !this.#hasList });
    if (this.#window.length === 0) for (const [ruleId, rule] of now) this.#see(ruleId, rule);
  }

  /** The ids of rules that a request of this run has written, and that no reading after it has shown. */
  get #unsettled(): Set<string> {
    const open = [...this.#own.values()].flat().filter(({ finding, isVoid }) => !isVoid && !isSettled(finding));
    return new Set(open.flatMap(idsOf));
  }

  /** @param isWhole the reading shows all rules that anything can be said of: what ended before it is judged for good */
  async #judge(
    reading: { readonly at: AtId; readonly news: Iterable<LiveRule> },
    { beganAt, isWhole }: { readonly beganAt: number; readonly isWhole: boolean },
  ): Promise<void> {
    const before = this.#others;
    const isOver = ({ endedAt = Number.POSITIVE_INFINITY }: Sent): boolean => endedAt <= beganAt;
    const writes = this.#window.filter(isOver);
    // What was not answered may be carried out later.
    const open = this.#window.filter((each) => !each.isAnswered || !isOver(each));
    const notJudged = new Set([...this.#unsettled, ...open.flatMap(idsOf)]);
    const window = { writes, notJudged, awaited: open };
    const { paper } = this.#live;
    const changes = judgeOthers(before.values(), reading, window, this.#live)
      .filter(({ ruleId, what }) => what !== "gone" || !paper.isGone(ruleId))
      .map((change) => ({ ...change, known: before.get(change.ruleId) }));
    if (isWhole) this.#window = open;
    const harm: Harm[] = [];
    const isFirst = ({ ruleId }: OtherChange): boolean =>
      !this.#harms.some((each) => each.harm.some((known) => known.ruleId === ruleId));
    const news = changes.filter((change) => change.isHarm && isFirst(change));
    for (const { known, ...change } of news.slice(0, mostLooks)) {
      const sight = await this.#live.get({ ruleId: change.ruleId, definition: {} });
      const rule = sight.is === "present" ? sight.rule : undefined;
      // What this run has asked for since the reading is judged by the next one.
      if ((this.#askedAt.get(change.ruleId) ?? beganAt) > beganAt) continue;
      const live = { ruleId: change.ruleId, rule: rule ?? {} };
      const again = judgeOthers(
        known === undefined ? [] : [known],
        { at: () => rule ?? null, news: known === undefined && rule !== undefined ? [live] : [] },
        window,
        this.#live,
      );
      if (again[0]?.isHarm) harm.push({ ...change, ...again[0], rule });
    }
    const last = writes.at(-1);
    if (harm.length > 0 && last !== undefined) {
      for (const { ruleId, rule } of harm) paper.remember(ruleId, rule ?? null);
      this.#harms.push({ harm, last, by: new Set(writes.map(({ write }) => write.of)), isSaid: false });
      this.#stopAfter(last, harmed(harm, last));
    }
    const others = changes.filter(({ isHarm, ruleId }) => !isHarm && !this.#isTouched(ruleId));
    if (others.length === 0 || this.#saysOthers) return;
    this.#saysOthers = true;
    warn(othersChanged(others));
  }

  #stopAfter({ kind, ruleId }: Sent, error: MerchantRulesError): void {
    this.#stop ??= notSentAfter(kind, ruleId, error);
  }

  /** Waits until it is known what became of a create whose response had no id. @throws as demandGoingOn */
  async waitForIds(): Promise<void> {
    while (this.#idless !== undefined) await this.#idless.promise;
    this.demandGoingOn();
  }

  /** The look for a rule after a create whose response had no id. Where it finds nothing, no other create is sent. */
  async searchAfter<T>(error: MerchantRulesError, search: () => Promise<T>): Promise<T> {
    try {
      return await search();
    } catch (failed) {
      this.#stop ??= notSent(error);
      throw failed;
    } finally {
      this.#idless?.resolve();
      this.#idless = undefined;
    }
  }

  /** Returns true the first time that it is asked, where no list shows the other rules. */
  saysFew(): boolean {
    const says = !this.#hasList && !this.#hasSaidFew;
    this.#hasSaidFew ||= says;
    return says;
  }

  /** True when an error has said already what a response without an id has instead of it, and what to correct. */
  hasSaidWithoutId(): boolean {
    const hasSaid = this.#saysWithoutId;
    this.#saysWithoutId = true;
    return hasSaid;
  }
}

/** True of the first few, and then ever more seldom: resources of one rule would look at the same others again and again. */
function looksAtOthers(nth: number): boolean {
  return nth <= mostLooks || (nth & (nth - 1)) === 0;
}

/** What a reading of the list shows; nothing where there is none. */
function inPass(pass: Pass | undefined): AtId {
  return (ruleId) => pass && (pass.byId.get(ruleId)?.rule ?? null);
}

function findingOf(sent: Sent, at: AtId, live: Live): Finding {
  const rule = sent.ruleId === undefined ? undefined : at(sent.ruleId);
  return { verdict: judgeOwn(sent, at, live), rule: rule ?? undefined };
}
