import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorCode, MerchantRulesError } from "../errors.ts";
import { Limiter } from "./limiter.ts";

/** A blip may fail as many requests as run at once: it counts only when it lasts, or when there are more than that. */
const fewestFailures = 20;
const mostFailures = 45;
const blipMs = 1_000;
const closedMs = 60_000;

/**
 * A limiter that stops sending when the connection is dead. Refused credentials close the budget at once; so do 20
 * failed attempts in a row that take longer than a second, and 45 however fast they fail. While it is closed, every
 * call and every retry fails with NOT_TRIED. After 60 s one call is sent: its success opens the budget, its failure
 * closes it for another 60 s.
 */
export class ErrorBudget extends Limiter {
  #failures = 0;
  #failingSince = 0;
  #closed: MerchantRulesError | undefined;
  #isTrying = false;
  #tryAt = 0;

  /** Runs a task as {@link Limiter.run}; rejects with NOT_TRIED while the budget is closed. */
  override run<T>(task: () => Promise<T>, retry?: { maxWaitMs: number }): Promise<T> {
    if (this.#closed !== undefined && !this.#letsThrough(retry !== undefined)) return Promise.reject(this.#closed);
    return super.run(task, retry);
  }

  /** Waits before a retry. The wait ends early when the budget closes. */
  async pause(ms: number): Promise<void> {
    if (!this.#isClosed) await sleep(ms, undefined, { signal: this.released }).catch(() => undefined);
  }

  /** Notes that an attempt succeeded, or that its error is about this one call. */
  answered(): void {
    if (this.#failures === 0 || this.#isClosed) return;
    this.#failures = 0;
    this.#closed = undefined;
    this.#isTrying = false;
    this.bound(Number.POSITIVE_INFINITY);
  }

  /** Notes that an attempt failed. `isAboutRule`: a 404 may be the absence of its rule. */
  failed(error: MerchantRulesError, isAboutRule = false): void {
    if (error.code === "RATE_LIMITED" || this.#isClosed) return;
    if (!isOfConnection(error, isAboutRule)) {
      this.answered();
      return;
    }
    const now = performance.now();
    if (this.#failures === 0) this.#failingSince = now;
    this.#failures = error.code === "UNAUTHENTICATED" ? mostFailures : this.#failures + 1;
    const left = (now - this.#failingSince < blipMs ? mostFailures : fewestFailures) - this.#failures;
    // Never more requests at once than failures are left. Else more would start while the last of them fail.
    this.bound(Math.max(1, Math.min(left, fewestFailures - this.#failures)));
    if (left <= 0) this.#close(error);
  }

  /** While it is true, responses to requests from before the budget closed change nothing. */
  get #isClosed(): boolean {
    return this.#closed !== undefined && !this.#isTrying;
  }

  #close(cause: MerchantRulesError): void {
    const reason = `not sent, because the connection fails: ${cause.reason}`;
    this.#closed = new MerchantRulesError("NOT_TRIED", reason, { advice: cause.advice, cause });
    this.#isTrying = false;
    this.#tryAt = performance.now() + closedMs;
    this.release(this.#closed);
  }

  /** Lets one call through every 60 s, and its retries: closing woke all others, so that a retry now is of that call. */
  #letsThrough(isRetry: boolean): boolean {
    if (this.#isTrying && isRetry) return true;
    const now = performance.now();
    if (now < this.#tryAt) return false;
    // Another call in 60 s, if this one ends without a response.
    this.#tryAt = now + closedMs;
    this.#isTrying = true;
    return true;
  }
}

const codesOfOneCall: readonly ErrorCode[] = ["RULE_NOT_FOUND", "RULE_CONFLICT", "REJECTED"];

/** Decides whether an error may be about the connection: all may, but for those that are about one rule. */
function isOfConnection({ code, exchange }: MerchantRulesError, isAboutRule: boolean): boolean {
  return !codesOfOneCall.includes(code) || (!isAboutRule && [404, 405, 410].includes(exchange?.status ?? 0));
}
