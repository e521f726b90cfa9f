import { demandOwnFields } from "../../sdk/client/update-body.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { field, isEqual, type JsonObject, project, valueAt } from "../../sdk/rules/index.ts";
import { markedOwner, type Owner } from "./owner.ts";
import type { How, Place, Sight, Whereabouts } from "./place.ts";
import type { Known, KnownRule } from "./plan.ts";
import { isAsDeclared } from "./write.ts";

/** A resource of the stack, as the reconciler needs to know it. */
export interface Resource {
  readonly owner: Owner;
  /** The rules that its state knows, by key. */
  readonly known: Known;
  /** Where its state says that they are; undefined where an old state does not say. */
  readonly whereabouts: Whereabouts | undefined;
  /** What messages call a rule beside its id; a resource of one rule has no key to call it by. */
  readonly label: (key: string) => string | undefined;
  /** How a program says that a rule is to be taken over: `adopt: "<ruleId>"`. */
  readonly adopting: (key: string, ruleId: string) => string;
}

interface Seen {
  readonly key: string;
  readonly known: KnownRule;
  readonly sight: Sight;
}

/** How long hooks that the engine calls at once may take to arrive. */
const togetherMs = 10;

/** How long no look may be under way or begin before a verdict over all of them is given. */
const quietMs = 250;

const checkMerchant =
  "check that address, credentials and parameters are those of the merchant that this stack describes";

/**
 * Tells for one place whether a rule is present or gone, for every caller. "Gone" needs a witness that this is the right
 * place: a rule that the stack knows is there, with its mark, its natural key or a field as it is known. What this run
 * creates or changes is no witness. A resource that knows one rule alone believes the service's own word.
 */
export class Judge {
  readonly #place: Place;
  #hasWitness = false;
  /** Resources whose own rules were seen here; needed of those whose state says another place. */
  readonly #seenHere = new Set<Owner>();
  readonly #missing = new Set<string>();
  /** Rules that were seen to be there. */
  readonly #present = new Set<string>();
  #looksUnderWay = 0;
  #quiet: { readonly over: Promise<void>; readonly end: () => void; readonly timer: NodeJS.Timeout } | undefined;
  #isDoubtful = false;
  #search: Promise<unknown> = Promise.resolve();
  #firstDelete: Promise<void> | undefined;
  #stop: MerchantRulesError | undefined;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Whether a rule that the stack knows was seen here. */
  get hasWitness(): boolean {
    return this.#hasWitness;
  }

  /**
   * Observes rules that a resource knows, all or some, by key.
   * @returns those that are present; the others are gone
   * @throws MerchantRulesError where it cannot be told, saying what to check
   */
  async observe(of: Resource, rules: Known = of.known, how: How = "list"): Promise<Map<string, JsonObject>> {
    const seen = await this.#look(of, rules, how);
    demandRules(of, seen);
    if (!this.#recognise(of, seen)) await this.#demandPlace(of, seen);
    const present = new Map<string, JsonObject>();
    for (const { key, known, sight } of seen) {
      if (sight.is === "present") present.set(key, sight.rule);
      else this.#place.remember(known.ruleId, null);
    }
    return present;
  }

  /**
   * Demands, once before the first write of a run, that a rule which the state knows is here: one of those that the run
   * touches if it can be, else another. A resource that knows no rule needs none.
   * @throws MerchantRulesError when none of them is here; then nothing may be written
   */
  demandWitness(of: Resource, touched: readonly KnownRule[], firstDelete?: KnownRule): Promise<void> {
    if (of.known.size === 0) return Promise.resolve();
    // One search at a time: the first witness serves all who wait.
    const found = this.#search.then(() => this.#findWitness(of, touched, firstDelete));
    this.#search = found.catch(() => undefined);
    return found;
  }

  /**
   * Runs a delete. The first of a run goes alone; after it another rule that was seen before is looked at.
   * @throws MerchantRulesError when that one is gone, too: from then on nothing is written
   */
  async deleting(ruleId: string, run: () => Promise<void>): Promise<void> {
    while (this.#firstDelete !== undefined) {
      const first = this.#firstDelete;
      await first.catch(() => undefined);
      this.demandGoingOn();
      // A first delete that failed proves nothing: the next one is the first.
      if (first === this.#firstDelete) return run();
    }
    this.#firstDelete = run().then(
      () => this.#demandOthers(ruleId),
      (error) => {
        this.#firstDelete = undefined;
        throw error;
      },
    );
    return this.#firstDelete;
  }

  /** @throws MerchantRulesError when a delete took other rules along */
  demandGoingOn(): void {
    if (this.#stop !== undefined) throw this.#stop;
  }

  async #findWitness(of: Resource, touched: readonly KnownRule[], firstDelete?: KnownRule): Promise<void> {
    if (this.#place.options.moved.isGiven) return;
    const isElsewhere = (await this.#whereIs(of)) === "elsewhere";
    if (isElsewhere ? this.#seenHere.has(of.owner) : this.#hasWitness) return;
    // Hooks of other resources that are called at the same moment say what they know.
    if (of.known.size === 1 && firstDelete !== undefined) await new Promise((done) => setTimeout(done, togetherMs));
    // The rule that is deleted first comes last: after the delete the witness is looked at again.
    const others = isElsewhere ? [] : this.#place.known();
    const ordered = [...touched, ...of.known.values(), ...others].filter(
      ({ ruleId }) => ruleId !== firstDelete?.ruleId,
    );
    const last = firstDelete === undefined ? [] : [firstDelete];
    // Touched rules once more: what is to be made of them stands there alone.
    const candidates = [...new Map([...ordered, ...last, ...touched].map((known) => [known.ruleId, known]))];
    const seen: Seen[] = [];
    for (let at = 0, size = 1; at < candidates.length; at += size, size *= 4) {
      const batch = await this.#look(of, new Map(candidates.slice(at, at + size)), "cheap");
      if (this.#recognise(of, batch)) return;
      seen.push(...batch);
    }
    await this.#demandPlace(of, seen);
  }

  async #look(of: Resource, rules: Known, how: How): Promise<Seen[]> {
    this.#looksUnderWay += 1;
    this.#quiet?.timer.refresh();
    try {
      return await Promise.all(
        [...rules].map(async ([key, known]) => {
          const sight = await this.#place.look(known, of.label(key), how);
          if (sight.is === "present") this.#present.add(known.ruleId);
          return { key, known, sight };
        }),
      );
    } finally {
      this.#looksUnderWay -= 1;
      this.#quiet?.timer.refresh();
    }
  }

  /** Whether any of what was seen is a rule as it is known: a witness. */
  #recognise(of: Resource, seen: readonly Seen[]): boolean {
    const { as } = this.#place.here;
    const isOther = as !== undefined && (of.whereabouts?.as ?? as) !== as;
    if (!seen.some(({ known, sight }) => sight.is === "present" && this.#isKnown(of, known, sight.rule, isOther)))
      return false;
    this.#hasWitness = true;
    this.#seenHere.add(of.owner);
    this.#quiet?.end();
    return true;
  }

  /** Whether a live rule is the one that the state knows. Of another merchant's rules only the mark can tell. */
  #isKnown(of: Resource, { definition, markedAs, wanted }: KnownRule, rule: JsonObject, isOther: boolean): boolean {
    const { contract } = this.#place;
    const mark = markedOwner(rule, contract);
    if (mark !== undefined && (mark === of.owner || mark === markedAs)) return true;
    if (isOther) return false;
    if (wanted !== undefined && isAsDeclared(rule, wanted, this.#place)) return true;
    const { naturalKey } = contract.rule;
    const name = naturalKey === null ? undefined : valueAt(definition, naturalKey);
    if (naturalKey !== null && name !== undefined) return isEqual(valueAt(rule, naturalKey) ?? null, name);
    const fields = Object.entries(definition);
    const same = fields.filter(([key, value]) => {
      const found = field(rule, key);
      return found !== undefined && isEqual(project(found, value, contract.rule, [key]), value, contract.rule);
    });
    // Many rules have a field or two in common.
    return same.length > 0 && same.length >= fields.length / 2;
  }

  /** What was seen holds no witness. @throws MerchantRulesError unless this is the right place all the same */
  async #demandPlace(of: Resource, seen: readonly Seen[]): Promise<void> {
    demandRules(of, seen);
    const absent = seen.filter(({ sight }) => sight.is === "absent");
    for (const { known } of absent) this.#missing.add(known.ruleId);
    if (this.#place.options.moved.isGiven) return;
    const where = await this.#whereIs(of);
    const isElsewhere = where === "elsewhere";
    // A rule of which the state knows no field is neither a witness nor a stranger.
    const isTold = seen.some(({ known, sight }) => sight.is === "absent" || Object.keys(known.definition).length > 0);
    if (where === "surely here" || (!isElsewhere && !isTold)) return;
    if (!isElsewhere) await this.#untilQuiet();
    if (isElsewhere ? this.#seenHere.has(of.owner) : this.#hasWitness) return;
    if (absent.length < seen.length) throw this.#otherRules(of, seen);
    const [{ sight } = {}] = absent;
    const isOwnWord = of.known.size === 1 && this.#missing.size === 1 && sight?.is === "absent" && sight.inOwnWords;
    if (this.#place.options.acceptAllGone.isGiven || (isOwnWord && !isElsewhere)) return;
    throw this.#noneSeen(of, isElsewhere);
  }

  /** Where the state says that the rules are, compared with this place. */
  async #whereIs({ whereabouts: before }: Resource): Promise<"here" | "surely here" | "elsewhere"> {
    if (before === undefined) return "here";
    const now = await this.#place.whereabouts();
    const isSame = before.at === now.at && isEqual(before.with ?? {}, now.with ?? {});
    if (before.as === undefined || now.as === undefined) return isSame ? "here" : "elsewhere";
    return isSame && before.as === now.as ? "surely here" : "elsewhere";
  }

  /** Until a witness was seen, or no look has been under way for a while. One timer serves all who wait. */
  #untilQuiet(): Promise<void> {
    if (this.#hasWitness || this.#isDoubtful || this.#place.options.acceptAllGone.isGiven) return Promise.resolve();
    if (this.#quiet === undefined) {
      const { promise: over, resolve } = Promise.withResolvers<void>();
      const end = (): void => {
        clearTimeout(timer);
        this.#quiet = undefined;
        resolve();
      };
      const timer = setTimeout(() => {
        if (this.#looksUnderWay > 0) return void timer.refresh();
        this.#isDoubtful = true;
        end();
      }, quietMs);
      this.#quiet = { over, end, timer };
    }
    return this.#quiet.over;
  }

  /** After the first delete. @throws MerchantRulesError when another rule that was there is gone with it */
  async #demandOthers(deleted: string): Promise<void> {
    const isThere = ({ ruleId }: KnownRule): boolean =>
      ruleId !== deleted && this.#present.has(ruleId) && this.#place.record(ruleId).busy === undefined;
    const other = this.#place.known().find(isThere);
    if (other === undefined || (await this.#place.look(other, undefined, "fresh")).is === "present") return;
    const reason = `rule ${other.ruleId} is gone with it, so the service seems to delete more than it is asked to`;
    this.#stop = new MerchantRulesError("SERVICE_FAILED", reason, {
      attempted: `delete rule ${deleted}`,
      advice:
        "look at the service which rules are left, and correct operations.delete.identifyBy in the contract before anything else is deleted. Then run `pulumi up --refresh`, which makes again what is missing",
    });
    throw this.#stop;
  }

  #otherRules(of: Resource, seen: readonly Seen[]): MerchantRulesError {
    const { name, moved, contract } = this.#place.options;
    const { naturalKey } = contract.rule;
    const strangers = seen.filter(({ sight }) => sight.is === "present");
    const ids = strangers.slice(0, 5).map(({ known }) => known.ruleId);
    const by = naturalKey === null ? "every field of it is another" : `its natural key (${naturalKey}) is another`;
    const what =
      strangers.length === 1
        ? `rule ${ids.join()} over connection "${name}" is not the rule that the state knows: ${by}`
        : `the rules ${ids.join(", ")} over connection "${name}" are not those that the state knows`;
    const advice = `${checkMerchant}. If they are, and somebody changed these rules by hand, set ${moved.howTo} for one run`;
    return this.#wrongPlace(of, "recognise the rules that the state knows", what, advice);
  }

  #noneSeen(of: Resource, isElsewhere: boolean): MerchantRulesError {
    const { name, moved, acceptAllGone } = this.#place.options;
    const what = `none of the ${this.#missing.size} rules that were looked for can be seen over connection "${name}"`;
    const advice = isElsewhere
      ? `set the connection back to where the rules are. If they are to be at the new place from now on, set ${moved.howTo} for one run`
      : `${checkMerchant}. If all of its rules were really deleted at the service, set ${acceptAllGone.howTo} for one run`;
    return this.#wrongPlace(of, "find the rules that the state knows", what, advice);
  }

  #wrongPlace({ whereabouts }: Resource, attempted: string, what: string, advice: string): MerchantRulesError {
    const [before, now] = [whereabouts ?? this.#place.here, this.#place.here].map(inWords);
    const places = before === now ? "" : ` (the state says they are at ${before}; the connection now is ${now})`;
    const reason = `${what}${places}; nothing was written`;
    return new MerchantRulesError("CONNECTION_FAILED", reason, { attempted, advice });
  }
}

/** @throws MerchantRulesError RESPONSE_INVALID: an answer has no field of its rule, so it is not that rule */
function demandRules(of: Resource, seen: readonly Seen[]): void {
  for (const { key, known, sight } of seen)
    if (sight.is === "present") demandOwnFields(sight.rule, known.definition, known.ruleId, of.label(key));
}

function inWords({ at, with: parameters = {}, as }: Whereabouts): string {
  const named = Object.entries(parameters).map(([name, value]) => ` ${name}=${value}`);
  return `${at}${named.join("")}${as === undefined ? "" : ` as ${as}`}`;
}
