import { Refusal } from "./refusal.ts";

/** Lets so many requests a second through; a second's worth may come at once. */
export class Rate {
  readonly #perSecond: number;
  readonly #now: () => number;
  #left: number;
  #at: number;

  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond;
    this.#now = now;
    this.#left = Math.max(1, perSecond);
    this.#at = now();
  }

  /** Counts a request. @throws Refusal 429 with Retry-After, in whole seconds, when it is one too many */
  take(): void {
    const now = this.#now();
    this.#left = Math.min(Math.max(1, this.#perSecond), this.#left + ((now - this.#at) / 1000) * this.#perSecond);
    this.#at = now;
    if (this.#left >= 1) {
      this.#left -= 1;
      return;
    }
    const seconds = Math.max(1, Math.ceil((1 - this.#left) / this.#perSecond));
    throw new Refusal(429, "RATE_LIMITED", `more than ${this.#perSecond} requests a second`, {
      headers: { "retry-after": String(seconds) },
    });
  }
}
