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
  readonly #most: number;
  readonly #window: PQueue | undefined;
  readonly #retries: (() => void)[] = [];
  readonly #others: (() => void)[] = [];
  #concurrency: number;
  #running = 0;
  #successes = 0;
  #slowedAt = Number.NEGATIVE_INFINITY;
  #resumeAt = Number.NEGATIVE_INFINITY;
  #pause: NodeJS.Timeout | undefined;

  // p-queue keeps the sliding window. Who runs and who waits is kept here: measured, p-queue would make every
  // request a fifth dearer, since it makes half a dozen events of each.
  constructor({ concurrency, requestsPerSecond }: LimiterOptions) {
    this.#most = concurrency;
    this.#concurrency = concurrency;
    this.#window = requestsPerSecond === null ? undefined : new PQueue(windowOf(requestsPerSecond));
  }

  /** How many may run at once now. */
  get concurrency(): number {
    return this.#concurrency;
  }

  async run<T>(task: () => Promise<T>, retry?: { maxWaitMs: number }): Promise<T> {
    if (this.#waiting > 0 || !this.#hasRoom) await this.#turn(retry);
    else this.#running += 1;
    try {
      return await (this.#window === undefined ? task() : this.#window.add(task));
    } finally {
      this.#running -= 1;
      this.#admit();
    }
  }

  slowDown(waitMs: number, startedAt: number): void {
    // Requests that were under way together are refused together; that is one refusal, not sixteen.
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
    // A pause that nobody waits for must not keep the process; who comes to wait takes hold of it again.
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

  get #waiting(): number {
    return this.#retries.length + this.#others.length;
  }

  get #hasRoom(): boolean {
    return this.#pause === undefined && this.#running < this.#concurrency;
  }

  #admit(): void {
    while (this.#waiting > 0 && this.#hasRoom) {
      this.#running += 1;
      (this.#retries.shift() ?? this.#others.shift())?.();
    }
  }

  #turn(retry: { maxWaitMs: number } | undefined): Promise<void> {
    this.#pause?.ref();
    return new Promise((resolve, reject) => {
      if (retry === undefined) {
        this.#others.push(resolve);
        return;
      }
      const begin = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#retries.splice(this.#retries.indexOf(begin), 1);
        reject(new WaitedTooLong());
      }, retry.maxWaitMs);
      this.#retries.push(begin);
    });
  }
}

const longestTimerMs = 2_147_483_647;

/** As whole starts in a window: 2.5 a second are 2 in 800 ms, 0.5 a second 1 in 2 s. */
function windowOf(requestsPerSecond: number): { intervalCap: number; interval: number; strict: true } {
  const intervalCap = Math.max(1, Math.floor(requestsPerSecond));
  const windowMs = Math.ceil((intervalCap / requestsPerSecond) * 1000);
  return { intervalCap, interval: Math.min(windowMs, longestTimerMs), strict: true };
}
