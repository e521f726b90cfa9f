import type { Contract } from "../contract/schema.ts";
import { expand, presentsClient } from "../contract/template.ts";
import { MerchantRulesError } from "../errors.ts";
import { type Json, numberText, valueAt } from "../json/index.ts";
import { UnusableResponse } from "../unusable-response.ts";
import { Caller, type CallerOptions, type Presented, type TokenSource } from "./caller.ts";
import { basicOf, type Connection, parseBaseUrl } from "./connection.ts";
import { adviceOnCredentials } from "./failures.ts";
import { readToken } from "./read-token.ts";
import { headerValue, parametersOf, RequestTemplate } from "./request-template.ts";
import { jsonOf } from "./response.ts";
import { Transport } from "./transport.ts";

const nothing: Presented = { headers: [], token: undefined };

/**
 * Sets up the source of credentials for the requests of a connection.
 * @returns with the sockets of the token operation, when it is at another origin; to be closed with the client
 * @throws MerchantRulesError SETTINGS_INVALID: no token operation for client credentials, a token that no header can
 * carry
 */
export function tokenSetup(
  connection: Connection,
  shared: Omit<CallerOptions, "tokens" | "takesTurns">,
): { tokens: TokenSource; transports: Transport[] } {
  const { contract, credentials, name } = connection;
  const { redactor } = shared;
  const { present, token: operation } = contract.auth;
  if (credentials.kind === "none" || present === null) return { tokens: fixed(nothing), transports: [] };
  const parameters = parametersOf(connection);
  const presented = (token: string): Presented => {
    redactor.add(token);
    const value = headerValue(expand(present.format, { ...parameters, token, basic: token }), (reason) => {
      throw new MerchantRulesError("SETTINGS_INVALID", `the token cannot be presented in ${present.name}: ${reason}`, {
        advice: "give the token without line breaks or blanks around it",
      });
    });
    return { headers: [present.name, value], token };
  };
  if (presentsClient(contract.auth)) {
    if (credentials.kind === "client") {
      redactor.keep(credentials.clientSecret);
      return { tokens: fixed(presented(basicOf(credentials))), transports: [] };
    }
    const reason = `connection ${JSON.stringify(name)} has a token, but its contract presents client id and secret`;
    const advice =
      "give the client id and the client secret; or write {token} in place of {basic} in auth.present.format";
    throw new MerchantRulesError("SETTINGS_INVALID", reason, { advice });
  }
  if (credentials.kind === "token") return { tokens: fixed(presented(credentials.token)), transports: [] };
  if (credentials.kind !== "client") {
    const read = async (): Promise<ObtainedToken> => {
      const token = await readToken(credentials, connection.credentialsFrom);
      return { presented: presented(token), lifeMs: Number.POSITIVE_INFINITY };
    };
    return { tokens: new RenewedToken(read), transports: [] };
  }
  if (operation === null) {
    const reason = `connection ${JSON.stringify(name)} has client credentials, but its contract has no token operation`;
    const advice = "set auth.token in the contract, or give the connection a token";
    throw new MerchantRulesError("SETTINGS_INVALID", reason, { advice });
  }
  const { clientId, clientSecret } = credentials;
  redactor.keep(clientSecret);
  const setting = operation.baseUrl === null ? "baseUrl" : "auth.token.baseUrl of the contract";
  const base = parseBaseUrl(operation.baseUrl ?? connection.baseUrl, setting);
  const own = () => new Transport(base, contract.limits, { ...connection, connections: 1 });
  const transports = base.origin === shared.transport.origin ? [] : [own()];
  const [transport = shared.transport] = transports;
  const caller = new Caller({ ...shared, transport, tokens: fixed(nothing) });
  const basic = basicOf(credentials, { isForToken: true });
  redactor.add(basic);
  const values = { clientId, clientSecret, basic };
  const template = new RequestTemplate(connection, base.prefix, "auth.token", operation, values);
  const request = template.request({ body: template.body() });
  const obtain = async (): Promise<ObtainedToken> => {
    const { token, lifeMs } = await caller.call({
      request,
      attempted: () => "request an access token",
      parse: (response) => tokenIn(jsonOf(response), operation),
      failed: (error) => {
        // RFC 6749, 5.2: a token operation refuses client credentials with 400 as well.
        if (![400, 401, 403].includes(error.exchange?.status ?? 0)) throw error;
        const advice = "check the client id and the client secret of this connection";
        throw error.with({ code: "UNAUTHENTICATED", advice: adviceOnCredentials(advice, shared) });
      },
    });
    return { presented: presented(token), lifeMs };
  };
  return { tokens: new RenewedToken(obtain), transports };
}

/** Makes a source of credentials that do not change: a given token, or none. */
function fixed(presented: Presented): TokenSource {
  return { current: () => presented, renewed: () => undefined, accepted: () => undefined };
}

interface ObtainedToken {
  readonly presented: Presented;
  /** Its life, in milliseconds. Infinity: until the service refuses it. */
  readonly lifeMs: number;
}

interface HeldToken {
  readonly presented: Presented;
  readonly obtainedAt: number;
  readonly endsAt: number;
  renewAt: number;
  /** True where it replaced a refused token, and every response to it was 401 so far. */
  isDoubtful: boolean;
}

const mostEarlyMs = 30_000;
const earlyPart = 0.1;
const failureHoldsMs = 10_000;

/**
 * Tokens from the token operation, a file or a command. All calls that need one share one request. A token is renewed a tenth of its life
 * before its end, at most 30 s before. When that fails, the old one is used to its end. Lives are counted from before
 * the request, on a clock that nobody sets. Two rules keep many calls from locking the account or crowding a service
 * that is down: without a token to use, all calls of the next 10 s fail as the request did; and a new token that is
 * refused from the first is not replaced for 10 s.
 */
class RenewedToken implements TokenSource {
  readonly #fetch: () => Promise<ObtainedToken>;
  #held: HeldToken | undefined;
  #flight: Promise<Presented> | undefined;
  #isAfterRefusal = false;
  #failure: { readonly error: unknown; readonly until: number } | undefined;

  constructor(fetch: () => Promise<ObtainedToken>) {
    this.#fetch = fetch;
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
    // Another call had the same 401 and has renewed the token.
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
      const { presented, lifeMs } = await this.#fetch();
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

/** Reads the token and its life from a response of the token operation. @throws UnusableResponse, which never quotes the token */
function tokenIn(response: Json, { accessToken, expiresIn }: NonNullable<Contract["auth"]["token"]>) {
  const token = valueAt(response, accessToken);
  if (typeof token !== "string" || token === "")
    throw new UnusableResponse(`there is no token at ${accessToken || "the root"} (auth.token.accessToken)`);
  headerValue(token, () => {
    throw new UnusableResponse(`the token at ${accessToken} has characters that no header can carry`);
  });
  const told = (expiresIn === null ? undefined : valueAt(response, expiresIn)) ?? Number.POSITIVE_INFINITY;
  const seconds = Number(typeof told === "string" && /^\d+(\.\d+)?$/.test(told) ? told : numberText(told));
  if (seconds > 0) return { token, lifeMs: seconds * 1000 };
  const at = `${expiresIn} (auth.token.expiresIn)`;
  throw new UnusableResponse(`the token's life at ${at} is not a positive number of seconds`);
}
