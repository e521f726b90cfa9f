import { setTimeout as sleep } from "node:timers/promises";
import type { Contract } from "../contract/schema.ts";
import { isMerchantRulesError, MerchantRulesError, type MerchantRulesErrorContext } from "../errors.ts";
import { UnusableResponse } from "../unusable-response.ts";
import type { ErrorBudget } from "./error-budget.ts";
import {
  errorOfNoResponse,
  errorOfResponse,
  errorOfUnusable,
  type FailedRequest,
  type FailureContext,
  saysFailure,
} from "./failures.ts";
import { longestTimerMs, WaitedTooLong } from "./limiter.ts";
import type { WireResponse } from "./transport.ts";

/** Credentials as requests carry them. */
export interface Presented {
  /** Names and values by turns; none where the contract presents none. */
  readonly headers: readonly string[];
  /** The token in them; undefined where the contract presents none. */
  readonly token: string | undefined;
}

/** Gives requests their credentials. */
export interface TokenSource {
  /** Returns the credentials to present now. @throws MerchantRulesError of the token operation */
  current(): Presented | Promise<Presented>;
  /** Returns the credentials to present after `refused` brought a 401; undefined when there are no others. */
  renewed(refused: Presented): Promise<Presented> | undefined;
  /** Notes that credentials got another status than 401. */
  accepted(presented: Presented): void;
}

/** One call as an operation of the contract describes it. It may take several attempts. */
export interface Call<T> extends FailedRequest {
  /** In words, for messages: `create rule "limit-1"`. */
  readonly attempted: () => string;
  /** True where it is harmless to send a write again after an attempt that may have taken effect. Default: false. */
  readonly isRepeatable?: boolean;
  /** Reads the response of a success. `unknown` is the call's first failure that may have taken effect. @throws UnusableResponse */
  readonly parse: (response: WireResponse, unknown: MerchantRulesError | undefined) => T;
  /** Ends a failed call by a value or an error. `unknown`: as for `parse`. */
  readonly failed?: (error: MerchantRulesError, unknown: MerchantRulesError | undefined) => T;
}

export interface CallerOptions extends FailureContext {
  readonly tokens: TokenSource;
  /** Counts what fails on the wire. */
  readonly budget: ErrorBudget;
  /** Makes attempts wait until the budget lets them start. Default: they start at once. */
  readonly takesTurns?: boolean;
  /** The bound of the first wait between attempts. */
  readonly backoffMs: number;
  /** Hears of every whole response, whatever its status. */
  readonly onAnswer?: (response: Pick<WireResponse, "status" | "headers">) => void;
}

const mostBackoffMs = 10_000;

/** Sends calls to one origin: credentials, attempts, errors. */
export class Caller {
  readonly #options: CallerOptions;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  /**
   * Sends a call until it ends, in the one retry loop. The wait between attempts is Retry-After plus a random time below a
   * bound that doubles (full jitter, at most 10 s), so that refused requests do not return at the same moment. The total
   * clock starts with the first attempt, not while the call waits for its turn.
   * @throws MerchantRulesError: the last failure, with what was attempted
   */
  async call<T>(call: Call<T>): Promise<T> {
    const { budget, takesTurns = false, backoffMs } = this.#options;
    const { limits } = this.#options.contract;
    const turns = takesTurns ? budget : undefined;
    const progress: Progress = { deadline: Number.POSITIVE_INFINITY, isRenewed: false };
    const leftMs = (): number => progress.deadline - performance.now();
    let attempts = 0;
    let postponed = 0;
    let waitMs = 0;
    let last: MerchantRulesError | undefined;
    const attempt = async (): Promise<T> => {
      const startedAt = performance.now();
      if (attempts === 0) progress.deadline = startedAt + limits.totalTimeoutMs;
      else if (startedAt >= progress.deadline) throw new WaitedTooLong();
      attempts += 1;
      try {
        const value = await this.#attempt(call, progress);
        budget.answered();
        turns?.succeeded();
        return value;
      } catch (thrown) {
        if (!isMerchantRulesError(thrown)) throw thrown;
        // The token operation has counted its own failures.
        if (thrown.attempted === undefined || thrown.code === "UNAUTHENTICATED")
          budget.failed(thrown, call.mayMean?.includes("notFound"));
        const backoff = Math.random() * Math.min(mostBackoffMs, backoffMs * 2 ** (attempts - 1));
        waitMs = (thrown.retryAfterMs ?? 0) + backoff;
        // Before the turn ends, because then the next request starts.
        if (thrown.code === "RATE_LIMITED")
          turns?.slowDown(asksTooMuch(thrown, limits) ? 0 : timerMs(waitMs), startedAt);
        throw thrown;
      }
    };
    for (;;) {
      try {
        if (turns === undefined) return await attempt();
        return await turns.run(attempt, last === undefined ? undefined : { maxWaitMs: timerMs(leftMs()) });
      } catch (thrown) {
        const isStopped = isMerchantRulesError(thrown) && thrown.code === "NOT_TRIED";
        // A retry that was not sent ends with the failure before it, where that says more.
        const isUnsent =
          thrown instanceof WaitedTooLong || (isStopped && (progress.unknown !== undefined || thrown.cause === last));
        const error = isUnsent ? last : thrown;
        if (!isMerchantRulesError(error)) throw thrown;
        if (error.outcomeUnknown) progress.unknown ??= error;
        const { unknown } = progress;
        // A service with many clients may send one away several times. Only the total clock ends that.
        if (!isUnsent && error.code === "RATE_LIMITED" && error.retryAfterMs !== undefined) postponed += 1;
        const end = isStopped ? {} : endOf(error, call, limits, { attempts, postponed, isInTime: waitMs < leftMs() });
        if (end !== undefined) {
          const attempted = error.attempted ?? call.attempted();
          const final = error.with({ attempted, outcomeUnknown: unknown !== undefined, ...end });
          if (call.failed !== undefined) return call.failed(final, unknown);
          throw final;
        }
        last = error;
        await (turns?.pause(timerMs(waitMs)) ?? sleep(timerMs(waitMs)));
      }
    }
  }

  /** Returns the credentials' token, obtained where there is none yet. @throws MerchantRulesError of the token operation */
  async token(attempted: () => string): Promise<string | undefined> {
    const deadline = performance.now() + this.#options.contract.limits.totalTimeoutMs;
    const current = this.#options.tokens.current();
    const presented =
      current instanceof Promise ? await this.#token(current, { attempted }, { deadline, isRenewed: false }) : current;
    return presented.token;
  }

  /** Makes one attempt: one request, or a second one when the first is refused and another token is found. */
  async #attempt<T>(call: Call<T>, progress: Progress): Promise<T> {
    const { tokens } = this.#options;
    const current = tokens.current();
    const presented = current instanceof Promise ? await this.#token(current, call, progress) : current;
    let response = await this.#send(call, presented, progress);
    const renewal = response.status === 401 && !progress.isRenewed ? tokens.renewed(presented) : undefined;
    if (renewal !== undefined) {
      progress.isRenewed = true;
      const next = await this.#token(renewal, call, progress);
      if (next.token !== presented.token) response = await this.#send(call, next, progress);
    }
    const { failure } = this.#options.contract.errors;
    if (!call.request.success.includes(response.status) || saysFailure(failure, response))
      throw errorOfResponse(this.#options, call, response);
    try {
      return call.parse(response, progress.unknown);
    } catch (error) {
      throw error instanceof UnusableResponse ? errorOfUnusable(this.#options, call, response, error) : error;
    }
  }

  async #send(call: Call<unknown>, presented: Presented, { deadline }: Progress): Promise<WireResponse> {
    const { tokens, transport, contract, onAnswer } = this.#options;
    const mostMs = Math.min(contract.limits.attemptTimeoutMs, deadline - performance.now());
    const response = await transport.send(call.request, presented.headers, timerMs(Math.max(1, mostMs)));
    if ("fault" in response) throw errorOfNoResponse(this.#options, call, response);
    onAnswer?.(response);
    if (response.status !== 401) tokens.accepted(presented);
    return response;
  }

  /** Waits for a token as long as the call may last. The token operation has clocks of its own. */
  async #token(
    token: Promise<Presented>,
    call: Pick<Call<unknown>, "attempted">,
    { deadline }: Progress,
  ): Promise<Presented> {
    const waitMs = timerMs(deadline - performance.now());
    const { promise: timeUp, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const advice =
        "check the address of auth.token in the contract, or raise limits.totalTimeoutMs there; of a tokenCommand, find out why it takes so long";
      reject(new MerchantRulesError("TIMED_OUT", `no access token within ${waitMs} ms`, { advice }));
    }, waitMs);
    try {
      return await Promise.race([token, timeUp]);
    } catch (error) {
      if (!isMerchantRulesError(error)) throw error;
      // The call itself was not sent, and the token operation has had its own attempts.
      const attempted = `${error.attempted ?? "request an access token"} to ${call.attempted()}`;
      throw error.with({ attempted, retryable: false, outcomeUnknown: false });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The state that the attempts of one call share. */
interface Progress {
  /** The time at which the total clock ends (performance.now). */
  deadline: number;
  /** True where a refused token was replaced; that happens once. */
  isRenewed: boolean;
  /** The first failure that may have taken effect. */
  unknown?: MerchantRulesError;
}

/** Returns what to add to the last failure of a call; undefined when another attempt is due. */
function endOf(
  error: MerchantRulesError,
  { isRepeatable }: Call<unknown>,
  limits: Contract["limits"],
  { attempts, postponed, isInTime }: { attempts: number; postponed: number; isInTime: boolean },
): MerchantRulesErrorContext | undefined {
  if (!error.retryable || (error.outcomeUnknown && !isRepeatable)) return {};
  if (asksTooMuch(error, limits)) {
    const asked = `asks to wait ${Math.ceil((error.retryAfterMs ?? 0) / 1000)} s`;
    const reason = `${error.reason} and ${asked}, longer than limits.maxRetryAfterMs (${limits.maxRetryAfterMs} ms)`;
    return { reason, advice: "run it again later, or raise limits.maxRetryAfterMs in the contract" };
  }
  if (attempts - postponed >= limits.maxAttempts)
    return attempts === 1 ? {} : { reason: `${error.reason}, at the last of ${attempts} attempts` };
  if (isInTime) return undefined;
  const within = `within limits.totalTimeoutMs (${limits.totalTimeoutMs} ms)`;
  return { reason: `${error.reason}, and no time is left for attempt ${attempts + 1} ${within}` };
}

/** Decides whether the service asks for a longer wait than the contract allows; jitter does not count. */
function asksTooMuch({ retryAfterMs = 0 }: MerchantRulesError, limits: Contract["limits"]): boolean {
  return retryAfterMs > limits.maxRetryAfterMs;
}

/** Rounds and bounds milliseconds to what a timer takes. */
function timerMs(ms: number): number {
  return Math.min(longestTimerMs, Math.max(0, Math.ceil(ms)));
}
