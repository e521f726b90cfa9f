import type { Link } from "../merchant/site.ts";
import type { Place } from "./place.ts";

/**
 * A place of which it is proven that it is the merchant's whose rules a stack has, as `up` proves it before it makes a rule.
 * Only {@link ProvenPlace.of} makes one, so that what is read for a verdict cannot be another merchant's.
 */
export class ProvenPlace {
  readonly place: Place;
  readonly #at = new Date();

  private constructor(place: Place) {
    this.place = place;
  }

  /**
   * Proves a place: by the identity of the credentials, where the contract or the setting tells it, else by what the state
   * remembers and by its rules. The session has heard of the state's rows. Without a state the identity alone tells.
   * @param link what the stack's Connection remembers; undefined: there is none
   * @throws MerchantRulesError CONNECTION_FAILED: it is another merchant, or nothing tells
   */
  static async of(place: Place, link: Link | undefined): Promise<ProvenPlace> {
    await place.check.ofCreate({ link });
    return new ProvenPlace(place);
  }

  /** Says what was read, and when: `production, merchant m-b at payments.example.com, read 2026-11-25 14:03 UTC`. */
  readFor(name: string): string {
    const { identityNow, options } = this.place;
    const who = identityNow === undefined ? "" : `, merchant ${identityNow}`;
    const when = this.#at.toISOString().slice(0, 16).replace("T", " ");
    return `${name}${who} at ${options.address.replace(/^https?:\/\//, "")}, read ${when} UTC`;
  }
}
