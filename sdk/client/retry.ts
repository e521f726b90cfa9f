import { setTimeout as sleep } from "node:timers/promises";
import type { Contract } from "../contract/schema.ts";
import { isMerchantRulesError, type MerchantRulesError, type Outer } from "../errors.ts";

type Limits = Contract["limits"];

/** One call of the client, which may take several attempts. */
export interface RetriedCall<T> {
  /** In words, for messages: `create rule "limit-1"`. */
  readonly attempted: () => string;
  /** Whether it is harmless to send again after an attempt that may have taken effect. */
  readonly isRepeatable: boolean;
  /** One attempt. @throws MerchantRulesError, which says whether it is worth another */
  readonly attempt: (clock: AttemptClock) => Promise<T>;
  /** Ends a failed call by a value or an error. `unknown` is its first failure that may have taken effect. */
  readonly failed?: ((error: MerchantRulesError, unknown: MerchantRulesError | undefined) => T) | undefined;
}

export interface AttemptClock {
  /** How long a request may take now, by both clocks, in milliseconds. */
  readonly timeoutMs: () => number;
  /** What is left of the total clock, in milliseconds. */
  readonly leftMs: () => number;
}

/** Lets attempts start: the error budget with the limiter, or {@link noTurns}. */
export interface Turns {
  /**
   * Runs `task` when its turn comes. Retries go before calls that have not begun.
   * @throws WaitedTooLong, by rejection, when the turn of a retry does not come within `maxWaitMs`
   * @throws MerchantRulesError NOT_TRIED, by rejection, when nothing is sent any more
   */
  run<T>(task: () => Promise<T>, retry?: { maxWaitMs: number }): Promise<T>;
  /** The wait before a retry. It ends early when nothing is sent any more. */
  pause(ms: number): Promise<void>;
  /** The service refused a request that began at `startedAt` (performance.now) for coming too fast. */
  slowDown(waitMs: number, startedAt: number): void;
  /** A request went well. */
  succeeded(): void;
}

export class WaitedTooLong extends Error {}

export const noTurns: Turns = {
  run: (task) => task(),
  pause: (ms) => sleep(ms),
  slowDown: () => undefined,
  succeeded: () => undefined,
};

const mostBackoffMs = 10_000;

/**
 * The one retry loop. The wait between attempts is Retry-After plus a random time below a bound that doubles (full
 * jitter, at most 10 s), so that refused requests do not return at the same moment. There are two clocks: one for each
 * attempt and one for the whole call. The second starts with the first attempt, not while the call waits for its turn.
 * @throws MerchantRulesError: the last failure, with what was attempted
 */
export async function withRetries<T>(
  call: RetriedCall<T>,
  limits: Limits,
  turns: Turns,
  backoffMs: number,
): Promise<T> {
  let attempts = 0;
  let postponed = 0;
  let deadline = Number.POSITIVE_INFINITY;
  let waitMs = 0;
  let unknown: MerchantRulesError | undefined;
  let last: MerchantRulesError | undefined;
  const left = (): number => deadline - performance.now();
  const clock: AttemptClock = {
    timeoutMs: () => timerMs(Math.max(1, Math.min(limits.attemptTimeoutMs, left()))),
    leftMs: () => timerMs(left()),
  };
  const attempt = async (): Promise<T> => {
    const startedAt = performance.now();
    if (attempts === 0) deadline = startedAt + limits.totalTimeoutMs;
    else if (startedAt >= deadline) throw new WaitedTooLong();
    attempts += 1;
    try {
      const value = await call.attempt(clock);
      turns.succeeded();
      return value;
    } catch (thrown) {
      if (!isMerchantRulesError(thrown)) throw thrown;
      const backoff = Math.random() * Math.min(mostBackoffMs, backoffMs * 2 ** (attempts - 1));
      waitMs = (thrown.retryAfterMs ?? 0) + backoff;
      // Before the turn ends, because then the next request starts.
      if (thrown.code === "RATE_LIMITED") turns.slowDown(asksTooMuch(thrown, limits) ? 0 : timerMs(waitMs), startedAt);
      throw thrown;
    }
  };
  for (;;) {
    try {
      return await turns.run(attempt, last === undefined ? undefined : { maxWaitMs: timerMs(left()) });
    } catch (thrown) {
      const isStopped = isNotTried(thrown);
      // A retry that was not sent ends with the failure before it, where that says more.
      const isUnsent =
        thrown instanceof WaitedTooLong || (isStopped && (unknown !== undefined || thrown.cause === last));
      const error = isUnsent ? last : thrown;
      if (!isMerchantRulesError(error)) throw thrown;
      if (error.outcomeUnknown) unknown ??= error;
      // A service with many clients may send one away several times. Only the total clock ends that.
      if (!isUnsent && error.code === "RATE_LIMITED" && error.retryAfterMs !== undefined) postponed += 1;
      const end = isStopped ? {} : endOf(error, call, limits, { attempts, postponed, waitMs, leftMs: left() });
      if (end !== undefined) {
        const attempted = error.attempted ?? call.attempted();
        const final = error.with({ attempted, outcomeUnknown: unknown !== undefined, ...end });
        if (call.failed !== undefined) return call.failed(final, unknown);
        throw final;
      }
      last = error;
      await turns.pause(timerMs(waitMs));
    }
  }
}

function isNotTried(thrown: unknown): thrown is MerchantRulesError {
  return isMerchantRulesError(thrown) && thrown.code === "NOT_TRIED";
}

/** What to add to the last failure of a call; undefined when another attempt is due. */
function endOf(
  error: MerchantRulesError,
  call: RetriedCall<unknown>,
  limits: Limits,
  { attempts, postponed, waitMs, leftMs }: { attempts: number; postponed: number; waitMs: number; leftMs: number },
): Outer | undefined {
  if (!error.retryable || (error.outcomeUnknown && !call.isRepeatable)) return {};
  if (asksTooMuch(error, limits)) {
    const asked = `asks to wait ${Math.ceil((error.retryAfterMs ?? 0) / 1000)} s`;
    const reason = `${error.reason} and ${asked}, longer than limits.maxRetryAfterMs (${limits.maxRetryAfterMs} ms)`;
    return { reason, advice: "run it again later, or raise limits.maxRetryAfterMs in the contract" };
  }
  if (attempts - postponed >= limits.maxAttempts)
    return attempts === 1 ? {} : { reason: `${error.reason}, at the last of ${attempts} attempts` };
  if (waitMs < leftMs) return undefined;
  const within = `within limits.totalTimeoutMs (${limits.totalTimeoutMs} ms)`;
  return { reason: `${error.reason}, and no time is left for attempt ${attempts + 1} ${within}` };
}

/** Whether the service asks for a longer wait than the contract allows; jitter does not count. */
function asksTooMuch({ retryAfterMs = 0 }: MerchantRulesError, limits: Limits): boolean {
  return retryAfterMs > limits.maxRetryAfterMs;
}

/** A number of milliseconds that a timer takes. */
function timerMs(ms: number): number {
  return Math.min(2_147_483_647, Math.max(0, Math.ceil(ms)));
}
