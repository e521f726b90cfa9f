import type { Contract } from "../contract/schema.ts";
import { MerchantRulesError } from "../errors.ts";
import { type Json, valueAt } from "../rules/index.ts";
import { headerValue } from "./encode.ts";
import type { Redactor } from "./redact.ts";
import { UnusableAnswer } from "./response.ts";

/** What a request carries to say who asks: header names and values by turns; none where the contract presents none. */
export type Presented = readonly string[];

/** What the token operation answered. */
export interface FetchedToken {
  readonly token: string;
  /** How long it lives, in milliseconds; undefined: until the service refuses it. */
  readonly lifeMs: number | undefined;
}

/** Gives requests their credentials. */
export interface TokenSource {
  /** What to present now. @throws MerchantRulesError of the token operation */
  current(): Presented | Promise<Presented>;
  /** What to present instead of what a 401 refused; undefined where there is nothing else. */
  renewed(refused: Presented): Promise<Presented> | undefined;
  /** Another answer than 401 came under these credentials. */
  accepted(presented: Presented): void;
}

/** Credentials that do not change: a token that was given, or none. */
export class FixedToken implements TokenSource {
  readonly #presented: Presented;

  constructor(presented: Presented) {
    this.#presented = presented;
  }

  current(): Presented {
    return this.#presented;
  }

  renewed(): undefined {
    return undefined;
  }

  accepted(): void {}
}

interface HeldToken {
  readonly presented: Presented;
  readonly obtainedAt: number;
  readonly endsAt: number;
  renewAt: number;
  /** It took the place of a token that was refused, and nothing but 401 has been answered under it so far. */
  isDoubtful: boolean;
}

const mostEarlyMs = 30_000;
const earlyPart = 0.1;
const failureHoldsMs = 10_000;

/**
 * Tokens from the token operation. One request for all who wait. A token is renewed before it ends: by a tenth of its
 * life, at most by 30 s; where that fails while it still lives, it is used to its end, and asked for anew then. Lives
 * are reckoned from before the request, on a clock that no one sets. Where there is no token to use, a request that
 * failed for good answers for all who ask in the next 10 s, lest many rules lock the account or crowd a service that is
 * down; nor is a token asked for again that long where the one that took the place of a refused one was refused from
 * the first.
 */
export class RenewedToken implements TokenSource {
  readonly #fetch: () => Promise<FetchedToken>;
  readonly #present: (token: string) => Presented;
  #held: HeldToken | undefined;
  #flight: Promise<Presented> | undefined;
  #isAfterRefusal = false;
  #failure: { readonly error: unknown; readonly until: number } | undefined;

  constructor(fetch: () => Promise<FetchedToken>, present: (token: string) => Presented) {
    this.#fetch = fetch;
    this.#present = present;
  }

  current(): Presented | Promise<Presented> {
    const held = this.#held;
    if (held === undefined) return this.#renew();
    const now = performance.now();
    if (now < held.renewAt) return held.presented;
    return this.#renew().catch((error: unknown) => {
      if (performance.now() >= held.endsAt || this.#held !== held) throw error;
      held.renewAt = held.endsAt;
      return held.presented;
    });
  }

  renewed(refused: Presented): Promise<Presented> | undefined {
    const held = this.#held;
    // Another call may have met the same 401 and be done with it.
    if (held !== undefined && held.presented !== refused) return Promise.resolve(held.presented);
    if (held?.isDoubtful === true && performance.now() - held.obtainedAt < failureHoldsMs) return undefined;
    this.#held = undefined;
    this.#isAfterRefusal = true;
    return this.#renew();
  }

  accepted(presented: Presented): void {
    if (this.#held?.presented === presented) this.#held.isDoubtful = false;
  }

  #renew(): Promise<Presented> {
    this.#flight ??= this.#obtain().finally(() => {
      this.#flight = undefined;
    });
    return this.#flight;
  }

  async #obtain(): Promise<Presented> {
    const askedAt = performance.now();
    if (this.#failure !== undefined && askedAt < this.#failure.until) throw this.#failure.error;
    try {
      const { token, lifeMs = Number.POSITIVE_INFINITY } = await this.#fetch();
      const presented = this.#present(token);
      const endsAt = askedAt + lifeMs;
      const renewAt = endsAt - Math.min(mostEarlyMs, lifeMs * earlyPart);
      this.#held = { presented, obtainedAt: performance.now(), endsAt, renewAt, isDoubtful: this.#isAfterRefusal };
      this.#isAfterRefusal = false;
      return presented;
    } catch (error) {
      const now = performance.now();
      if (this.#held === undefined || now >= this.#held.endsAt) this.#failure = { error, until: now + failureHoldsMs };
      throw error;
    }
  }
}

/** The token and its life in an answer of the token operation. @throws UnusableAnswer, which never quotes the token */
export function tokenIn(
  answer: Json,
  { accessToken, expiresIn }: NonNullable<Contract["auth"]["token"]>,
): FetchedToken {
  const token = valueAt(answer, accessToken);
  if (typeof token !== "string" || token === "")
    throw new UnusableAnswer(`there is no token at ${accessToken || "the root"} (auth.token.accessToken)`);
  headerValue(token, () => {
    throw new UnusableAnswer(`the token at ${accessToken} has characters that no header can carry`);
  });
  const life = expiresIn === null ? undefined : (valueAt(answer, expiresIn) ?? undefined);
  if (life === undefined) return { token, lifeMs: undefined };
  if (typeof life !== "number" || !(life > 0)) {
    throw new UnusableAnswer(
      `the token's life at ${expiresIn} (auth.token.expiresIn) is not a positive number of seconds`,
    );
  }
  return { token, lifeMs: life * 1000 };
}

/** How a token is presented; the redactor learns it. @throws MerchantRulesError SETTINGS_INVALID, without the token */
export function presenter(
  auth: Contract["auth"],
  format: (template: string, token: string) => string,
  redactor: Redactor,
): (token: string) => Presented {
  const { present } = auth;
  if (present === null) return () => [];
  return (token) => {
    redactor.add(token);
    const value = headerValue(format(present.format, token), (reason) => {
      throw new MerchantRulesError("SETTINGS_INVALID", `the token cannot be presented in ${present.name}: ${reason}`, {
        advice: "give the token without line breaks or blanks around it",
      });
    });
    return [present.name, value];
  };
}
