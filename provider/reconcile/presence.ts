import { MerchantRulesError } from "../../sdk/errors.ts";

/** How long no read may be under way or begin before a verdict over all of them is given. */
const quietMs = 250;

/**
 * Tells rules that are gone from a connection that shows the wrong place. One rule that is missing may be gone; when
 * nothing of what the stack declares can be seen, the address or the credentials are far more likely wrong, and
 * taking that for deletions would create every rule a second time.
 */
export class Presence {
  #anySeen = false;
  #anyHeard = false;
  #underWay = 0;
  readonly #missing = new Set<string>();
  #wake: () => void = () => {};
  #changed: Promise<void> = Promise.resolve();

  readonly connectionName: string;
  readonly acceptAllGone: boolean;
  /** How a user sets `acceptAllGone` for this connection. */
  readonly howToAccept: string;

  constructor(connectionName: string, options: { acceptAllGone: boolean; howToAccept: string }) {
    this.connectionName = connectionName;
    this.acceptAllGone = options.acceptAllGone;
    this.howToAccept = options.howToAccept;
    this.#renew();
  }

  /** Runs a read, and gives the verdict over it: the rule, or undefined for gone. */
  async judge<T>(ruleId: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    this.#underWay++;
    let found: T | undefined;
    try {
      found = await read();
    } finally {
      this.#underWay--;
      this.#renew();
    }
    if (found !== undefined) {
      this.seen();
      return found;
    }
    this.#missing.add(ruleId);
    await this.#untilSettled();
    if (this.#anySeen || this.acceptAllGone || (this.#missing.size === 1 && this.#anyHeard)) return undefined;
    throw new MerchantRulesError(
      "CONNECTION_FAILED",
      `none of the ${this.#missing.size} rules that were looked for can be seen over connection "${this.connectionName}"`,
      {
        attempted: `read rule ${ruleId}`,
        advice:
          "check that baseUrl, credentials and parameters are those of the merchant that this stack describes. " +
          `If all of its rules were really deleted at the service, set ${this.howToAccept} to true for one run`,
      },
    );
  }

  /** A rule of the stack was seen or written over this connection, so it is the right place. */
  seen(): void {
    this.#anySeen = true;
    this.#renew();
  }

  /** The service itself said that a rule is not there: in its own words, or by a list of others. */
  heard(): void {
    this.#anyHeard = true;
  }

  async #untilSettled(): Promise<void> {
    while (!this.#anySeen && !this.acceptAllGone) {
      const changed = this.#changed.then(() => "changed" as const);
      if ((await Promise.race([changed, after(quietMs)])) === "quiet" && this.#underWay === 0) return;
    }
  }

  #renew(): void {
    this.#wake();
    this.#changed = new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

function after(ms: number): Promise<"quiet"> {
  return new Promise((resolve) => setTimeout(resolve, ms, "quiet"));
}
