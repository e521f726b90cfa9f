import { isMerchantRulesError, MerchantRulesError } from "../errors.ts";
import type { ErrorBudget } from "./error-budget.ts";
import { errorOfAnswer, errorOfFailure, errorOfUnusable, type FailedRequest, type FailureContext } from "./failures.ts";
import { UnusableAnswer } from "./response.ts";
import { type AttemptClock, noTurns, type RetriedCall, type Turns, withRetries } from "./retry.ts";
import type { Presented, TokenSource } from "./token.ts";
import { type Answer, AttemptFailure, type Transport } from "./transport.ts";

/** One call as an operation of the contract describes it. */
export interface Call<T> extends FailedRequest, Pick<RetriedCall<T>, "attempted" | "isRepeatable" | "failed"> {
  /** What the answer of a success means. @throws UnusableAnswer */
  readonly parse: (answer: Answer) => T;
}

export interface CallerOptions extends FailureContext {
  readonly transport: Transport;
  readonly tokens: TokenSource;
  /** Counts what fails on the wire. */
  readonly budget: ErrorBudget;
  /** Lets attempts start. By default they start at once. */
  readonly turns?: Turns;
  /** The bound of the first wait between attempts. */
  readonly backoffMs: number;
}

/** Sends calls to one origin: credentials, attempts, errors. */
export class Caller {
  readonly #options: CallerOptions;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  call<T>(call: Call<T>): Promise<T> {
    const { tokens, contract, backoffMs, turns = noTurns } = this.#options;
    let isRenewed = false;
    const attempt = async (clock: AttemptClock): Promise<T> => {
      const current = tokens.current();
      const presented = Array.isArray(current) ? current : await this.#token(current, call, clock);
      const answer = await this.#send(call, presented, clock);
      const renewal = answer.status === 401 && !isRenewed ? tokens.renewed(presented) : undefined;
      if (renewal === undefined) return this.#parse(call, answer);
      isRenewed = true;
      return this.#parse(call, await this.#send(call, await this.#token(renewal, call, clock), clock));
    };
    const { attempted, isRepeatable, failed } = call;
    return withRetries({ attempted, isRepeatable, attempt, failed }, contract.limits, turns, backoffMs);
  }

  async #send(call: Call<unknown>, presented: Presented, clock: AttemptClock): Promise<Answer> {
    const { tokens, transport } = this.#options;
    try {
      const answer = await transport.send(call.request, presented, clock.timeoutMs());
      if (answer.status !== 401) tokens.accepted(presented);
      return answer;
    } catch (error) {
      throw error instanceof AttemptFailure ? this.#counted(call, errorOfFailure(this.#options, call, error)) : error;
    }
  }

  #parse<T>(call: Call<T>, answer: Answer): T {
    if (!call.request.success.includes(answer.status))
      throw this.#counted(call, errorOfAnswer(this.#options, call, answer));
    try {
      const value = call.parse(answer);
      this.#options.budget.answered();
      return value;
    } catch (error) {
      if (!(error instanceof UnusableAnswer)) throw error;
      throw this.#counted(call, errorOfUnusable(this.#options, call, answer, error));
    }
  }

  #counted(call: Call<unknown>, error: MerchantRulesError): MerchantRulesError {
    this.#options.budget.failed(error, call.isAboutRule);
    return error;
  }

  /** Waits for a token as long as the call may last. The token operation has clocks of its own. */
  async #token(token: Presented | Promise<Presented>, call: Call<unknown>, clock: AttemptClock): Promise<Presented> {
    const waitMs = clock.leftMs();
    const { promise: timeUp, reject } = Promise.withResolvers<never>();
    const late = (): MerchantRulesError =>
      new MerchantRulesError("TIMED_OUT", `no access token within ${Math.round(waitMs)} ms`, {
        advice: "check the address of auth.token in the contract, or raise limits.totalTimeoutMs there",
      });
    const timer = setTimeout(() => reject(late()), waitMs);
    try {
      return await Promise.race([token, timeUp]);
    } catch (error) {
      if (!isMerchantRulesError(error)) throw error;
      // The call itself was not sent, and the token operation has had its own attempts.
      const attempted = `request an access token to ${call.attempted()}`;
      const failure = error.with({ attempted, retryable: false, outcomeUnknown: false });
      // Other failures of the token operation were counted when they came over the wire.
      throw failure.code === "UNAUTHENTICATED" ? this.#counted(call, failure) : failure;
    } finally {
      clearTimeout(timer);
    }
  }
}
