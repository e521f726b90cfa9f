import PQueue from "p-queue";
import { type Turns, WaitedTooLong } from "./retry.ts";

export interface LimiterOptions {
  readonly concurrency: number;
  /** Starts per second, in a sliding window; null: any. */
  readonly requestsPerSecond: number | null;
}

/**
 * Lets the requests of one client start: so many at once, so many a second. When the service says that it is too fast
 * (429) everything pauses for as long as it asks and half as many run at once; each full round of successes lets one
 * more run again. A pause costs no attempt, and no time of calls that have not begun.
 */
export class Limiter implements Turns {
  readonly #queue: PQueue;
  readonly #most: number;
  #successes = 0;
  #slowedAt = Number.NEGATIVE_INFINITY;
  #resumeAt = Number.NEGATIVE_INFINITY;
  #resumeTimer: NodeJS.Timeout | undefined;

  constructor({ concurrency, requestsPerSecond }: LimiterOptions) {
    this.#most = concurrency;
    this.#queue = new QuietQueue({ concurrency, ...(requestsPerSecond === null ? {} : windowOf(requestsPerSecond)) });
  }

  /** How many may run at once now. */
  get concurrency(): number {
    return this.#queue.concurrency;
  }

  run<T>(task: () => Promise<T>, retry?: { maxWaitMs: number }): Promise<T> {
    if (this.#queue.isPaused) this.#resumeTimer?.ref();
    return retry === undefined ? this.#queue.add(task) : this.#runAgain(task, retry.maxWaitMs);
  }

  slowDown(waitMs: number, startedAt: number): void {
    // Requests that were under way together are refused together; that is one refusal, not sixteen.
    if (startedAt > this.#slowedAt) {
      this.#slowedAt = performance.now();
      this.#successes = 0;
      this.#queue.concurrency = Math.max(1, Math.floor(this.#queue.concurrency / 2));
    }
    const resumeAt = performance.now() + waitMs;
    if (resumeAt <= this.#resumeAt) return;
    this.#resumeAt = resumeAt;
    this.#queue.pause();
    clearTimeout(this.#resumeTimer);
    this.#resumeTimer = setTimeout(() => this.#queue.start(), waitMs);
    // A pause that nobody waits for must not keep the process; `run` takes hold of it again.
    if (this.#queue.size === 0) this.#resumeTimer.unref();
  }

  async #runAgain<T>(task: () => Promise<T>, maxWaitMs: number): Promise<T> {
    const waiting = new AbortController();
    const timer = setTimeout(() => waiting.abort(new WaitedTooLong()), maxWaitMs);
    const begin = (): Promise<T> => {
      clearTimeout(timer);
      return task();
    };
    return await this.#queue.add(begin, { priority: 1, signal: waiting.signal });
  }

  succeeded(): void {
    if (this.#queue.concurrency === this.#most) return;
    this.#successes += 1;
    if (this.#successes < this.#queue.concurrency) return;
    this.#successes = 0;
    this.#queue.concurrency += 1;
  }
}

/** Nobody listens to the half dozen events of every task, and they would cost more than the rest of the queue. */
class QuietQueue extends PQueue {
  override dispatchEvent(): boolean {
    return true;
  }
}

const longestTimerMs = 2_147_483_647;

/** As whole starts in a window: 2.5 a second are 2 in 800 ms, 0.5 a second 1 in 2 s. */
function windowOf(requestsPerSecond: number): { intervalCap: number; interval: number; strict: true } {
  const intervalCap = Math.max(1, Math.floor(requestsPerSecond));
  const windowMs = Math.ceil((intervalCap / requestsPerSecond) * 1000);
  return { intervalCap, interval: Math.min(windowMs, longestTimerMs), strict: true };
}
