import type { Contract } from "../../sdk/contract/index.ts";
import { placeKey } from "../merchant/fingerprint.ts";
import { hashOfIdentity } from "../merchant/identity.ts";
import type { PlaceOptions } from "../merchant/place-options.ts";
import { isSamePlace, type Site, sameIdentity } from "../merchant/site.ts";
import { pairWord, type StackWords } from "../merchant/words.ts";
import { notTheIdentity } from "../refusals/place.ts";
import type { Audits } from "./audits.ts";
import type { Claims } from "./claims.ts";
import type { Live } from "./live.ts";
import type { Paper } from "./paper.ts";
import { PlaceCheck } from "./place-check.ts";

/** What connections with the same address, parameters and credentials share: two merchants may both have a rule 1. */
export interface Reached {
  readonly live: Live;
  readonly paper: Paper;
  readonly audits: Audits;
}

/** What the hooks of a process share over all connections. */
export interface OfProcess {
  readonly claims: Claims;
  readonly words: StackWords;
  /** True of a connection that was made in this run: nothing is remembered of it. */
  readonly isMade: (connection: string) => boolean;
}

/** One connection of a run: where it leads, who reads there, and whether it is the right place. */
export class Place {
  readonly options: PlaceOptions;
  readonly contract: Contract;
  readonly live: Live;
  readonly paper: Paper;
  readonly audits: Audits;
  readonly claims: Claims;
  readonly words: StackWords;
  readonly check: PlaceCheck;
  /** What was said of this connection in this run, and is not said again. */
  readonly reported = new Set<string>();
  readonly #ofProcess: OfProcess;
  readonly #keys = new Map<string, string | null>();
  #identityNow: string | undefined;

  constructor(options: PlaceOptions, { live, paper, audits }: Reached, ofProcess: OfProcess) {
    this.options = options;
    this.contract = options.contract;
    this.live = live;
    this.paper = paper;
    this.audits = audits;
    this.claims = ofProcess.claims;
    this.words = ofProcess.words;
    this.#ofProcess = ofProcess;
    this.check = new PlaceCheck(this);
  }

  /** True where the Connection was made in this run. */
  get isMade(): boolean {
    return this.#ofProcess.isMade(this.options.name);
  }

  /** The identity that was last told, for people; undefined: none was. */
  get identityNow(): string | undefined {
    return this.#identityNow;
  }

  /** The place now, without a request and without an identity. @param ownerId undefined: nobody has said whose the stack is */
  site(ownerId: string | undefined): Site {
    const { name, address } = this.options;
    const key = ownerId === undefined ? null : this.#key(ownerId);
    return { connection: name, address, key, identity: null };
  }

  /** The place now, and who the service says that the credentials are. Asked once where the contract tells how. */
  async here(ownerId: string | undefined): Promise<Site> {
    return { ...this.site(ownerId), identity: await this.told() };
  }

  /**
   * The hash of the merchant's identity; null where nothing tells it.
   * @throws MerchantRulesError CONNECTION_FAILED: it is not the one that the setting `identity` names
   */
  async told(): Promise<string | null> {
    const { identity: wanted } = this.options;
    const canAsk = this.contract.auth.identity !== null;
    const now = canAsk ? await (await this.live.client()).identity() : wanted;
    this.#identityNow = now;
    if (wanted !== undefined && now !== wanted) throw notTheIdentity(this.options, now, wanted);
    return now === undefined ? null : hashOfIdentity(now);
  }

  /** How a note of a state stands to the place now. */
  facts(ownerId: string | undefined, site: Site | undefined, now: Site) {
    return {
      isSamePlace: isSamePlace(site, now),
      isSameIdentity: sameIdentity(site, now),
      word: pairWord(this.words, ownerId, site, now),
    };
  }

  #key(ownerId: string): string | null {
    const known = this.#keys.get(ownerId);
    if (known !== undefined) return known;
    const key = placeKey(ownerId, this.options);
    this.#keys.set(ownerId, key);
    return key;
  }
}
