import { setTimeout as sleep } from "node:timers/promises";
import { demandOwnFields } from "../../sdk/client/update-body.ts";
import type { Contract } from "../../sdk/contract/index.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { warn } from "../host/print.ts";
import type { Held, Holders } from "./holders.ts";
import { hashOfIdentity } from "./identity.ts";
import type { How, Live, Sight } from "./live.ts";
import { isAsSent } from "./live-rule.ts";
import { markIn } from "./mark.ts";
import type { Known, KnownRule } from "./plan.ts";
import { isOfState, type Resource } from "./resource.ts";
import { leftThere, sayGone, warnOf } from "./say.ts";
import { judgePlace, type PlaceFacts } from "./whose.ts";

/** A word of the user for one run. */
export interface Answer {
  readonly isGiven: boolean;
  /** The setting that says it: `MERCHANT_RULES_MOVED=true`. */
  readonly howTo: string;
}

/** A connection, as far as it takes part in the question of the place. */
export interface StandingOptions {
  /** The connection's name, for messages. */
  readonly name: string;
  /** The name of its resource in the stack: an explicit provider's, where the connection is one. */
  readonly resourceName: string;
  /** The service's address, for messages. */
  readonly address: string;
  /** The identity that the credentials must have, by the setting `identity`. */
  readonly identity: string | undefined;
  readonly acceptAllGone: Answer;
  readonly moved: Answer;
}

interface Seen extends Held {
  readonly key: string;
  readonly sight: Sight;
}

/** `elsewhere`: the rules that the resource knows are of another identity, and are to be here from now on. */
export type Standing = "here" | "elsewhere";

/** For how long no look may begin or end before the others of this run count as heard. */
const quietMs = 250;

/** The time that the creates of a run that knows no rule wait for resources that know some. It can only add a refusal. */
const siblingsMs = 50;

const checkMerchant =
  "check that address, credentials and parameters are those of the merchant that this stack describes";

/**
 * Tells for one place whether it is the right one, once a run, before the first write and before any read is believed.
 * An identity tells; else a rule that is seen as it is known, or a listed mark of ours.
 */
export class PlaceProof {
  readonly #options: StandingOptions;
  readonly #live: Live;
  readonly #holders: Holders;
  #hasWitness = false;
  #isProven = false;
  #isSaid = false;
  readonly #missing = new Set<string>();
  /** Owner ids of connections that were made in this run. */
  readonly newOwnerIds = new Set<string>();
  /** Names of identities, by their hashes, for messages. */
  readonly #names = new Map<string, string>();
  #looksUnderWay = 0;
  #quiet: { readonly over: Promise<void>; readonly end: () => void; readonly timer: NodeJS.Timeout } | undefined;
  #search: Promise<unknown> = Promise.resolve();
  /** The one wait of a run whose creates know no rule. */
  #siblings: Promise<unknown> | undefined;

  constructor(options: StandingOptions, live: Live, holders: Holders) {
    this.#options = options;
    this.#live = live;
    this.#holders = holders;
    if (options.identity !== undefined) this.nameIdentity(options.identity);
  }

  /** False while the place is taken on trust, by a word of the user. */
  get isProven(): boolean {
    return this.#isProven || this.#hasWitness;
  }

  nameIdentity(identity: string): void {
    this.#names.set(hashOfIdentity(identity), identity);
  }

  /** The identity of the credentials (a hash); undefined where the contract cannot tell. */
  async identity(): Promise<string | undefined> {
    if (this.#live.contract.auth.identity === null) return undefined;
    const identity = await (await this.#live.client()).identity();
    if (identity === undefined) return undefined;
    this.nameIdentity(identity);
    return hashOfIdentity(identity);
  }

  /**
   * Observes rules that a resource knows, all or some, by key.
   * @returns those that are present; the others are gone
   * @throws MerchantRulesError where it cannot be told, saying what to check
   */
  async observe(of: Resource, rules: Known = of.known, how: How = "list"): Promise<Map<string, JsonObject>> {
    const seen = await this.#look(of, rules, how);
    demandRules(seen, this.#live.contract);
    const standing = await this.#judge(of, seen);
    const present = new Map<string, JsonObject>();
    for (const { key, known, sight } of seen) {
      if (standing === "elsewhere") warnOf(leftThere, known.ruleId, { key, of });
      else if (sight.is === "present") present.set(key, sight.rule);
      else {
        this.#live.remember(known.ruleId, null);
        // A look after a write is said by the write.
        if (how !== "fresh") sayGone(known.ruleId, this.#options, { key, of });
      }
    }
    return present;
  }

  /**
   * Demands, before the first write of a run, that this is the place of the resource's rules.
   * @param touched the rules that are to be changed or deleted, first looked at
   * @throws MerchantRulesError when it is not, or nobody can tell; then nothing may be written
   */
  demand(of: Resource, touched: readonly KnownRule[]): Promise<Standing> {
    // One search at a time: the first witness serves all who wait.
    const found = this.#search.then(() => this.#find(of, touched));
    this.#search = found.catch(() => undefined);
    return found;
  }

  async #find(of: Resource, touched: readonly KnownRule[]): Promise<Standing> {
    const early = judgePlace({ ...(await this.#facts(of)), knowsRules: true, acceptAllGone: false, moved: true });
    const { moved, acceptAllGone } = this.#options;
    if (early !== "taken on trust" || moved.isGiven || acceptAllGone.isGiven) return await this.#judge(of, []);
    if (this.#known().next().done) {
      this.#siblings ??= sleep(siblingsMs);
      await this.#siblings;
    }
    // The rules to be changed or deleted come first: their steps say what this run makes of them, too.
    const own = [...touched, ...of.known.values()].map((known) => ({ known, of }));
    const byId = Map.groupBy([...own, ...this.#known()], ({ known }) => known.ruleId);
    const candidates = [...byId.values()].flatMap(([first]) => first ?? []);
    const seen: Seen[] = [];
    for (let at = 0, size = 1; at < candidates.length && !this.#hasWitness; at += size, size *= 4) {
      const batch = candidates.slice(at, at + size).map((held): [string, Held] => [held.known.ruleId, held]);
      seen.push(...(await this.#lookAt(new Map(batch), of, "cheap")));
    }
    demandRules(
      seen.filter((each) => each.of === of),
      this.#live.contract,
    );
    return await this.#judge(of, seen);
  }

  /** Rules that states know and that are not gone by now. */
  #known(): IteratorObject<Held> {
    return this.#holders.known().filter(({ known }) => !this.#live.isGone(known.ruleId));
  }

  async #facts(of: Resource): Promise<PlaceFacts> {
    const { identity, moved, acceptAllGone } = this.#options;
    return {
      now: await this.identity(),
      wanted: identity === undefined ? undefined : hashOfIdentity(identity),
      ofConnection: of.connection?.identity,
      ofResource: of.identity,
      hasWitness: this.#hasWitness,
      knowsRules: !this.#known().next().done,
      moved: moved.isGiven,
      acceptAllGone: acceptAllGone.isGiven,
    };
  }

  /** The verdict after a look. @throws MerchantRulesError where it is a refusal */
  async #judge(of: Resource, seen: readonly Seen[]): Promise<Standing> {
    for (const { known, sight } of seen) if (sight.is === "absent") this.#missing.add(known.ruleId);
    let facts = await this.#facts(of);
    let verdict = judgePlace(facts);
    if (verdict === "unknown" || verdict === "refused: nothing is seen as it is known") {
      await this.#seekMark(of);
      // Looks of other resources that are under way may still bring a witness, and save a refusal.
      if (!this.#hasWitness && verdict.startsWith("refused")) await this.#untilQuiet();
      facts = { ...facts, hasWitness: this.#hasWitness };
      verdict = judgePlace(facts);
    }
    switch (verdict) {
      case "proven":
        this.#isProven = true;
        return "here";
      case "taken on trust":
        return "here";
      case "elsewhere":
        return "elsewhere";
      case "unknown":
        this.#sayUnknown(of);
        return "here";
      case "refused: not the identity that is set":
        throw this.#otherIdentity(facts.now, facts.wanted, "the setting identity says");
      case "refused: not the connection's identity":
        throw this.#otherIdentity(facts.now, facts.ofConnection, "the stack's connection was made with those of");
      case "refused: not the identity of the rules":
        throw this.#otherIdentity(facts.now, facts.ofResource, "these rules were made with those of", true);
      case "refused: nothing is seen as it is known":
        throw seen.some(({ sight }) => sight.is === "present") ? this.#otherRules(seen) : this.#noneSeen();
    }
  }

  #look(of: Resource, rules: Known, how: How): Promise<Seen[]> {
    return this.#lookAt(new Map([...rules].map(([key, known]) => [key, { known, of }])), of, how);
  }

  async #lookAt(rules: ReadonlyMap<string, Held>, asks: Resource, how: How): Promise<Seen[]> {
    this.#looksUnderWay += 1;
    this.#quiet?.timer.refresh();
    try {
      return await Promise.all(
        [...rules].map(async ([key, { known, of }]) => {
          const sight = await this.#live.look(known, of === asks ? of.label(key) : undefined, how);
          if (sight.is === "present" && this.#isAsKnown(of, known, sight.rule)) this.#witness();
          return { key, known, of, sight };
        }),
      );
    } finally {
      this.#looksUnderWay -= 1;
      this.#quiet?.timer.refresh();
    }
  }

  /** A rule with a mark is known by the mark alone; else the whole of it, as it is known or as this run makes it. */
  #isAsKnown(of: Resource, { definition, wanted, mark: lastMark }: KnownRule, rule: JsonObject): boolean {
    const { contract } = this.#live;
    if (contract.rule.owner !== null && typeof lastMark === "string") return isOfState(markIn(rule, contract), of);
    const isSeen = (known: JsonObject): boolean => Object.keys(known).length > 0 && isAsSent(rule, known, this.#live);
    return isSeen(definition) || (wanted !== undefined && isSeen(wanted));
  }

  /** Looks for any mark of ours in the list, where there is one. */
  async #seekMark(of: Resource): Promise<void> {
    const { contract } = this.#live;
    if (this.#hasWitness || contract.rule.owner === null || contract.operations.list === null) return;
    const isOurs = ({ rule }: { rule: JsonObject }): boolean => isOfState(markIn(rule, contract), of);
    if ((await this.#live.listed()).byId.values().some(isOurs)) this.#witness();
  }

  #witness(): void {
    this.#hasWitness = true;
    this.#quiet?.end();
  }

  /** Until a witness was seen, or no look has been under way for a while. One timer serves all who wait. */
  #untilQuiet(): Promise<void> {
    if (this.#quiet === undefined) {
      const { promise: over, resolve } = Promise.withResolvers<void>();
      const end = (): void => {
        clearTimeout(timer);
        this.#quiet = undefined;
        resolve();
      };
      const timer = setTimeout(() => {
        if (this.#looksUnderWay > 0) return void timer.refresh();
        end();
      }, quietMs);
      this.#quiet = { over, end, timer };
    }
    return this.#quiet.over;
  }

  /** A run that only adds, where nothing can tell whose the place is. */
  #sayUnknown({ connection }: Resource): void {
    if (this.#isSaid || connection === undefined || this.newOwnerIds.has(connection.ownerId)) return;
    this.#isSaid = true;
    warn(
      `connection "${this.#options.name}": could not check that its credentials are those of the right merchant, because this stack knows no rule there yet. To have that checked, set auth.identity in the contract`,
    );
  }

  #otherIdentity(now = "", wanted = "", who: string, mayMove = false): MerchantRulesError {
    const { name, moved } = this.#options;
    const nameOf = (hash: string): string => {
      const known = this.#names.get(hash);
      return known === undefined ? `another identity (hash ${hash})` : JSON.stringify(known);
    };
    const reason = `the credentials of connection "${name}" are those of ${nameOf(now)}, and ${who} ${nameOf(wanted)}; nothing was written`;
    const ways = mayMove
      ? `. If the rules are to be at this merchant from now on, set ${moved.howTo} for one run of \`pulumi up --refresh\`, which makes them anew here`
      : `. If the stack is to be this merchant's from now on, correct the setting identity where there is one, and run \`${replacing(this.#options)}\``;
    return new MerchantRulesError("CONNECTION_FAILED", reason, {
      attempted: "compare who the credentials are",
      advice: `give the credentials of ${nameOf(wanted)}${ways}`,
    });
  }

  #otherRules(seen: readonly Seen[]): MerchantRulesError {
    const { name, moved, acceptAllGone, address } = this.#options;
    const strangers = seen.filter(({ sight }) => sight.is === "present");
    const ids = strangers.slice(0, 5).map(({ known }) => known.ruleId);
    const hasMarks = this.#live.contract.rule.owner !== null;
    const isMarked = hasMarks && strangers.some(({ known }) => typeof known.mark === "string");
    const why = isMarked ? "has no mark of this stack" : "differs from what the state knows";
    const what =
      strangers.length === 1
        ? `rule ${ids.join()} over connection "${name}" (${address}) ${why}`
        : `each of the rules ${ids.join(", ")} over connection "${name}" (${address}) ${why}`;
    return new MerchantRulesError(
      "CONNECTION_FAILED",
      `${what}, so nothing shows that this is the right merchant; nothing was written`,
      {
        attempted: "recognise the rules that the state knows",
        advice: `${checkMerchant}. If they are, and somebody changed these rules by hand${isMarked ? " (an update without the mark erases it)" : ""}, ${makingAnew(moved)}, which writes what the program declares; a preview and \`merchant-rules drift\` show before what that is, with the same setting. If they were all deleted at the service, ${makingAnew(acceptAllGone)}. With auth.identity in the contract the run can check this itself`,
      },
    );
  }

  #noneSeen(): MerchantRulesError {
    const { name, moved, acceptAllGone, address } = this.#options;
    const rules =
      this.#missing.size === 1
        ? "the one rule that was looked for cannot"
        : `none of the ${this.#missing.size} rules that were looked for can`;
    const what = `${rules} be seen over connection "${name}" (${address})`;
    return new MerchantRulesError(
      "CONNECTION_FAILED",
      `${what}, so nothing shows that this is the right merchant; nothing was written`,
      {
        attempted: "find the rules that the state knows",
        advice: `${checkMerchant}. If they are, and the rules were really deleted at the service, ${makingAnew(acceptAllGone)}; if the rules are to be made anew at this place, ${makingAnew(moved)}`,
      },
    );
  }
}

/** Only after a refresh does the state know of no rule that is gone: without one, a run might end half done. */
function makingAnew({ howTo }: Answer): string {
  return `set ${howTo} for one run of \`pulumi up --refresh\``;
}

/** The command that makes a new connection: with it, whose the stack's rules are begins anew. */
export function replacing({ resourceName }: Pick<StandingOptions, "resourceName">): string {
  return `pulumi up --replace '**merchant-rules:Connection::${resourceName}'`;
}

/** @throws MerchantRulesError RESPONSE_INVALID: an answer has no field of its rule, so it is not that rule */
function demandRules(seen: readonly Seen[], { rule }: Contract): void {
  for (const { key, known, of, sight } of seen)
    if (sight.is === "present")
      demandOwnFields(sight.rule, known.definition, rule, { ruleId: known.ruleId, label: of.label(key) });
}
