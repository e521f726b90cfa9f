import { isMerchantRulesError, MerchantRulesError } from "../errors.ts";
import { type Answer, AttemptFailure } from "./attempt.ts";
import { errorOfAnswer, errorOfFailure, errorOfUnusable, type FailedRequest, type FailureContext } from "./failures.ts";
import { UnusableAnswer } from "./response.ts";
import { type AttemptClock, noTurns, type RetriedCall, type Turns, withRetries } from "./retry.ts";
import type { Presented, TokenSource } from "./token.ts";
import type { Transport } from "./transport.ts";

/** One call as an operation of the contract describes it. */
export interface Call<T> extends FailedRequest, Pick<RetriedCall<T>, "attempted" | "isRepeatable" | "failed"> {
  /** What the answer of a success means. @throws UnusableAnswer */
  readonly parse: (answer: Answer) => T;
}

export interface CallerOptions extends FailureContext {
  readonly transport: Transport;
  readonly tokens: TokenSource;
  /** Who lets requests start; nobody by default. */
  readonly turns?: Turns;
  /** The bound of the first wait between attempts. */
  readonly backoffMs: number;
}

/** Sends calls to one origin: credentials, attempts, errors. */
export class Caller {
  readonly #options: CallerOptions;
  readonly #turns: Turns;

  constructor(options: CallerOptions) {
    this.#options = options;
    this.#turns = options.turns ?? noTurns;
  }

  call<T>(call: Call<T>): Promise<T> {
    const { tokens, contract, backoffMs } = this.#options;
    let isRenewed = false;
    const attempt = async (clock: AttemptClock): Promise<T> => {
      try {
        const current = tokens.current();
        const presented = Array.isArray(current) ? current : await this.#token(current, call, clock);
        const answer = await this.#send(call, presented, clock);
        if (answer.status !== 401 || isRenewed) return this.#parse(call, answer);
        const renewal = tokens.renewed(presented);
        if (renewal === undefined) return this.#parse(call, answer);
        isRenewed = true;
        const renewed = await this.#token(renewal, call, clock);
        return this.#parse(call, await this.#send(call, renewed, clock));
      } catch (error) {
        throw error instanceof AttemptFailure ? errorOfFailure(this.#options, call, error) : error;
      }
    };
    const { attempted, isRepeatable, failed } = call;
    return withRetries({ attempted, isRepeatable, attempt, failed }, contract.limits, this.#turns, backoffMs);
  }

  async #send(call: Call<unknown>, presented: Presented, clock: AttemptClock): Promise<Answer> {
    const { tokens, transport } = this.#options;
    const answer = await transport.send(call.request, presented, clock.timeoutMs());
    if (answer.status !== 401) tokens.accepted(presented);
    return answer;
  }

  #parse<T>(call: Call<T>, answer: Answer): T {
    if (!call.request.success.includes(answer.status)) throw errorOfAnswer(this.#options, call, answer);
    try {
      return call.parse(answer);
    } catch (error) {
      throw error instanceof UnusableAnswer ? errorOfUnusable(this.#options, call, answer, error) : error;
    }
  }

  /** Waits for a token as long as the call may last; the token operation has clocks of its own. */
  async #token(token: Presented | Promise<Presented>, call: Call<unknown>, clock: AttemptClock): Promise<Presented> {
    const waitMs = clock.leftMs();
    let timer: NodeJS.Timeout | undefined;
    const timeUp = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () =>
          reject(
            new MerchantRulesError("TIMED_OUT", `no access token within ${Math.round(waitMs)} ms`, {
              advice: "check the address of auth.token in the contract, or raise limits.totalTimeoutMs there",
            }),
          ),
        waitMs,
      );
    });
    try {
      return await Promise.race([token, timeUp]);
    } catch (error) {
      // Nothing of the call itself was sent, and the token operation has had its attempts.
      const attempted = `request an access token to ${call.attempted()}`;
      throw isMerchantRulesError(error) ? error.with({ attempted, retryable: false, outcomeUnknown: false }) : error;
    } finally {
      clearTimeout(timer);
    }
  }
}
