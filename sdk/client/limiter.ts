import PQueue from "p-queue";
import type { Contract } from "../contract/schema.ts";

/** The turn of a retry did not come in time. */
export class WaitedTooLong extends Error {}

type Waiter = PromiseWithResolvers<void>;

/**
 * Bounds how many requests of one client run at once and how many start in a second. After a 429 everything pauses as
 * long as the service asks, and half as many requests run at once; each full round of successes adds one again. A pause
 * costs no attempt, and no time of calls that have not begun.
 */
export class Limiter {
  readonly #most: number;
  readonly #window: PQueue | undefined;
  readonly #retries: Waiter[] = [];
  readonly #others: Waiter[] = [];
  #concurrency: number;
  #bound = Number.POSITIVE_INFINITY;
  #running = 0;
  #successes = 0;
  #slowedAt = Number.NEGATIVE_INFINITY;
  #resumeAt = Number.NEGATIVE_INFINITY;
  #pause: NodeJS.Timeout | undefined;
  #released = new AbortController();

  // Only the sliding window is p-queue's. As the queue of all requests it would cost 20 % more per request, because it
  // makes half a dozen events of each.
  constructor({ concurrency, requestsPerSecond }: Pick<Contract["limits"], "concurrency" | "requestsPerSecond">) {
    this.#most = concurrency;
    this.#concurrency = concurrency;
    this.#window = requestsPerSecond === null ? undefined : new PQueue(windowOf(requestsPerSecond));
  }

  /** The most calls that may run at once now. */
  get concurrency(): number {
    return Math.min(this.#concurrency, this.#bound);
  }

  /** Aborted by the next `release`. */
  protected get released(): AbortSignal {
    return this.#released.signal;
  }

  /** Runs a task in its turn: retries first, which wait for `maxWaitMs` at most. @throws WaitedTooLong, by rejection */
  async run<T>(task: () => Promise<T>, retry?: { maxWaitMs: number }): Promise<T> {
    if (this.#waiting > 0 || !this.#hasRoom) await this.#turn(retry);
    else this.#running += 1;
    try {
      // The window holds only the start: `release` must not end a task that runs.
      if (this.#window !== undefined) await this.#window.add(() => undefined, { signal: this.#released.signal });
      return await task();
    } finally {
      this.#running -= 1;
      this.#admit();
    }
  }

  /** Notes that the service refused a request that began at `startedAt` (performance.now) for coming too fast. */
  slowDown(waitMs: number, startedAt: number): void {
    // Requests that ran together are refused together: that is one refusal, not sixteen.
    if (startedAt > this.#slowedAt) {
      this.#slowedAt = performance.now();
      this.#successes = 0;
      this.#concurrency = Math.max(1, Math.floor(this.#concurrency / 2));
    }
    const resumeAt = performance.now() + waitMs;
    if (resumeAt <= this.#resumeAt) return;
    this.#resumeAt = resumeAt;
    this.#window?.pause();
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.#window?.start();
      this.#admit();
    }, waitMs);
    // A pause without waiters must not keep the process alive. A new waiter holds it again.
    if (this.#waiting + (this.#window?.size ?? 0) === 0) this.#pause.unref();
  }

  succeeded(): void {
    if (this.#concurrency === this.#most) return;
    this.#successes += 1;
    if (this.#successes < this.#concurrency) return;
    this.#successes = 0;
    this.#concurrency += 1;
    this.#admit();
  }

  /** Lets at most so many run at once, whatever the service allows. */
  bound(most: number): void {
    this.#bound = most;
    this.#admit();
  }

  /** Ends all waits with an error. */
  release(reason: Error): void {
    for (const { reject } of [...this.#retries.splice(0), ...this.#others.splice(0)]) reject(reason);
    this.#released.abort(reason);
    this.#released = new AbortController();
    this.#pause?.unref();
  }

  get #waiting(): number {
    return this.#retries.length + this.#others.length;
  }

  get #hasRoom(): boolean {
    return this.#pause === undefined && this.#running < this.concurrency;
  }

  #admit(): void {
    while (this.#waiting > 0 && this.#hasRoom) {
      this.#running += 1;
      (this.#retries.shift() ?? this.#others.shift())?.resolve();
    }
  }

  #turn(retry: { maxWaitMs: number } | undefined): Promise<void> {
    this.#pause?.ref();
    const waiter: Waiter = Promise.withResolvers();
    if (retry === undefined) {
      this.#others.push(waiter);
      return waiter.promise;
    }
    this.#retries.push(waiter);
    const timer = setTimeout(() => {
      this.#retries.splice(this.#retries.indexOf(waiter), 1);
      waiter.reject(new WaitedTooLong());
    }, retry.maxWaitMs);
    return waiter.promise.finally(() => clearTimeout(timer));
  }
}

export const longestTimerMs = 2_147_483_647;

/** Converts a rate to whole starts in a window: 2.5 a second to 2 in 800 ms, 0.5 a second to 1 in 2 s. */
function windowOf(requestsPerSecond: number): { intervalCap: number; interval: number; strict: true } {
  const intervalCap = Math.max(1, Math.floor(requestsPerSecond));
  const windowMs = Math.ceil((intervalCap / requestsPerSecond) * 1000);
  return { intervalCap, interval: Math.min(windowMs, longestTimerMs), strict: true };
}
