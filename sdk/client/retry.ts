import { setTimeout as sleep } from "node:timers/promises";
import type { Contract } from "../contract/schema.ts";
import { isMerchantRulesError, type MerchantRulesError, type Outer } from "../errors.ts";

export type RetryLimits = Pick<
  Contract["limits"],
  "maxAttempts" | "totalTimeoutMs" | "attemptTimeoutMs" | "maxRetryAfterMs"
>;

/** One call of the client, which may take several attempts. */
export interface RetriedCall<T> {
  /** In words, for messages: `create rule "limit-1"`. */
  readonly attempted: () => string;
  /** Whether sending again is harmless even where an earlier attempt may have taken effect. */
  readonly isRepeatable: boolean;
  /** One attempt. @throws MerchantRulesError, which says whether it is worth another */
  readonly attempt: (clock: AttemptClock) => Promise<T>;
  /** The end of a call that failed; `unknown` is its first failure that may have taken effect. Returns or throws. */
  readonly failed?: ((error: MerchantRulesError, unknown: MerchantRulesError | undefined) => T) | undefined;
}

export interface AttemptClock {
  /** How long what is left of both clocks allows a request now, in milliseconds. */
  readonly timeoutMs: () => number;
  /** What is left of the total clock alone, in milliseconds. */
  readonly leftMs: () => number;
}

/** Who lets attempts start: the limiter, or nobody. */
export interface Turns {
  /**
   * Runs `task` when its turn comes. A retry goes before what has not begun.
   * @throws WaitedTooLong, by rejection, where the turn of a retry does not come within `maxWaitMs`
   */
  run<T>(task: () => Promise<T>, retry?: { maxWaitMs: number }): Promise<T>;
  /** The service refused a request that began at `startedAt` (performance.now) for coming too fast. */
  slowDown(waitMs: number, startedAt: number): void;
  /** A request went well. */
  succeeded(): void;
}

export class WaitedTooLong extends Error {}

export const noTurns: Turns = { run: (task) => task(), slowDown: () => undefined, succeeded: () => undefined };

const mostBackoffMs = 10_000;

/**
 * The one retry loop. Waits between attempts are random below a bound that doubles (full jitter, at most 10 s), on top
 * of what Retry-After asks for, lest all who were refused together come back together. Two clocks: one per attempt, one
 * in total; the latter starts when the first attempt does, not while a call waits for its first turn, and from then on
 * counts everything.
 * @throws MerchantRulesError: the last failure, with what was attempted
 */
export async function withRetries<T>(
  call: RetriedCall<T>,
  limits: RetryLimits,
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
      // Still within the turn: when it is over, the next request starts.
      if (thrown.code === "RATE_LIMITED") turns.slowDown(asksTooMuch(thrown, limits) ? 0 : timerMs(waitMs), startedAt);
      throw thrown;
    }
  };
  for (;;) {
    try {
      return await turns.run(attempt, last === undefined ? undefined : { maxWaitMs: timerMs(left()) });
    } catch (thrown) {
      // Time may run out while a retry waits for its turn; then what is known is the failure before.
      const error = thrown instanceof WaitedTooLong ? last : thrown;
      if (!isMerchantRulesError(error)) throw thrown;
      if (error.outcomeUnknown) unknown ??= error;
      // Told to come later, many clients of one service may have to several times: the total clock alone ends that.
      if (thrown === error && error.code === "RATE_LIMITED" && error.retryAfterMs !== undefined) postponed += 1;
      const end = endOf(error, call, limits, { attempts, postponed, waitMs, leftMs: left() });
      if (end !== undefined) {
        const final = error.with({
          attempted: error.attempted ?? call.attempted(),
          outcomeUnknown: unknown !== undefined,
          ...end,
        });
        if (call.failed !== undefined) return call.failed(final, unknown);
        throw final;
      }
      last = error;
      await sleep(timerMs(waitMs));
    }
  }
}

/** Why a failure is the last one, as what to add to it; undefined where another attempt is due. */
function endOf(
  error: MerchantRulesError,
  call: RetriedCall<unknown>,
  limits: RetryLimits,
  { attempts, postponed, waitMs, leftMs }: { attempts: number; postponed: number; waitMs: number; leftMs: number },
): Outer | undefined {
  if (!error.retryable || (error.outcomeUnknown && !call.isRepeatable)) return {};
  if (asksTooMuch(error, limits)) {
    const asked = `${error.reason} and asks to wait ${Math.ceil((error.retryAfterMs ?? 0) / 1000)} s, longer than limits.maxRetryAfterMs (${limits.maxRetryAfterMs} ms)`;
    return { reason: asked, advice: "run it again later, or raise limits.maxRetryAfterMs in the contract" };
  }
  if (attempts - postponed >= limits.maxAttempts)
    return attempts === 1 ? {} : { reason: `${error.reason}, at the last of ${attempts} attempts` };
  if (waitMs >= leftMs) {
    const reason = `${error.reason}, and no time is left for attempt ${attempts + 1} within limits.totalTimeoutMs (${limits.totalTimeoutMs} ms)`;
    return { reason };
  }
  return undefined;
}

/** Whether the service asks for a longer wait than the contract allows; the jitter on top of it does not count. */
function asksTooMuch({ retryAfterMs = 0 }: MerchantRulesError, limits: RetryLimits): boolean {
  return retryAfterMs > limits.maxRetryAfterMs;
}

/** Within what a timer takes. */
function timerMs(ms: number): number {
  return Math.min(2_147_483_647, Math.max(0, Math.ceil(ms)));
}
