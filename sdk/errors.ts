import { printable } from "./json/printable.ts";

/** Every code that an error of this package can have. docs/reference/errors.md explains each. */
export const errorCodes = [
  "CONTRACT_INVALID",
  "SETTINGS_INVALID",
  "UNSUPPORTED_BY_CONTRACT",
  "SEMANTICS_INVALID",
  "PAYMENTS_INVALID",
  "RULE_INVALID",
  "RULE_NOT_FOUND",
  "RULE_CONFLICT",
  "RULE_DIFFERS",
  "RULE_OUTCOME_UNKNOWN",
  "UNAUTHENTICATED",
  "FORBIDDEN",
  "REJECTED",
  "RATE_LIMITED",
  "SERVICE_FAILED",
  "RESPONSE_INVALID",
  "CONNECTION_FAILED",
  "TIMED_OUT",
  "NOT_TRIED",
  "INTERNAL",
] as const;

/** The kind of an error: one of {@link errorCodes}. Codes are stable. */
export type ErrorCode = (typeof errorCodes)[number];

/** The known facts of one failed exchange with the service. Never a body, a header or a credential. */
export interface Exchange {
  /** The HTTP method. */
  readonly method: string;
  /** The path as sent, without the query. */
  readonly path: string;
  /** The HTTP status; absent when no response arrived. */
  readonly status?: number;
  /** The service's own error code (contract `errors.code`; a gap in the seed, section 7, as are the next three). */
  readonly serviceCode?: string;
  /** The service's own message (contract `errors.message`), without what is secret. */
  readonly serviceMessage?: string;
  /** The service's own details, one string each, without what is secret (contract `errors.details`). */
  readonly serviceDetails?: readonly string[];
  /** The meaning of such a response by the contract (contract `errors.notFound`, `exists`, `inUse`). */
  readonly meaning?: Meaning;
  /** True where the response is a success and has no id at `rule.id` of the contract. */
  readonly isWithoutId?: true;
  /** True where the response is a success and about another rule than the request. */
  readonly isOfOther?: true;
  /** The id by which the service's operators find the request (contract `errors.requestId`). */
  readonly requestId?: string;
}

/** The meanings of a response beside its status. */
export type Meaning = "notFound" | "exists" | "inUse";

/** Parts of an error beside its code and its reason. */
export interface MerchantRulesErrorOptions {
  /** The attempted action, in words: "create rule \"limit-1\"". */
  readonly attempted?: string | undefined;
  /** The lines of a list, below the reason. Default: none. */
  readonly lines?: readonly string[];
  /** The exchange that failed, where there was one. */
  readonly exchange?: Exchange | undefined;
  /** Advice to the reader: one thing to do about it. */
  readonly advice?: string | undefined;
  /** True where the same call may succeed later, default: false; decided where the error is made, only read by the retry loop. */
  readonly retryable?: boolean;
  /** The wait that the service asked for, in milliseconds (Retry-After). */
  readonly retryAfterMs?: number | undefined;
  /** True where the request may have taken effect although no success was seen. Default: false. */
  readonly outcomeUnknown?: boolean;
  /** The error that led to this one. It is in no message. */
  readonly cause?: unknown;
}

/**
 * Every error of this package. The message says what was attempted, why it failed and what to do. `code` is stable and
 * documented. Test an error with {@link isMerchantRulesError}, not with `instanceof`: hooks run in another process and
 * may hold another copy of the class.
 */
export class MerchantRulesError extends Error implements MerchantRulesErrorOptions {
  /** Always `MerchantRulesError`. */
  override readonly name = "MerchantRulesError";
  /** The kind of the error. */
  readonly code: ErrorCode;
  /** The reason of the failure, without the attempted action and the advice. */
  readonly reason: string;
  readonly lines: readonly string[];
  readonly attempted: string | undefined;
  readonly exchange: Exchange | undefined;
  readonly advice: string | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly outcomeUnknown: boolean;

  constructor(code: ErrorCode, reason: string, options: MerchantRulesErrorOptions = {}) {
    super(messageOf(code, reason, options), options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.reason = reason;
    this.lines = options.lines ?? [];
    this.attempted = options.attempted;
    this.exchange = options.exchange;
    this.advice = options.advice;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.outcomeUnknown = options.outcomeUnknown ?? false;
  }

  /** Returns the same error as a caller further out sees it: with what was attempted, advised or known there. */
  with(outer: MerchantRulesErrorContext): MerchantRulesError {
    const { code, reason, ...options } = { ...this, cause: this.cause, ...outer };
    return new MerchantRulesError(code, reason, options);
  }
}

/** Parts that a caller may add to an error from further in. */
export interface MerchantRulesErrorContext extends Omit<MerchantRulesErrorOptions, "exchange" | "retryAfterMs"> {
  /** Another code than the inner error has. */
  readonly code?: ErrorCode;
  /** Another reason than the inner error gives. */
  readonly reason?: string;
}

/** Decides whether a value is an error of this package, from whichever copy of it. */
export function isMerchantRulesError(value: unknown): value is MerchantRulesError {
  return value instanceof Error && value.name === "MerchantRulesError" && "code" in value;
}

/** Makes the error of a response whose meaning the contract states. Nothing was written. */
export function errorOfMeaning(exchange: Exchange & { status: number }, meaning: Meaning): MerchantRulesError {
  const reason = `the service answered ${exchange.status}`;
  const told = { ...exchange, meaning };
  switch (meaning) {
    case "notFound":
      return new MerchantRulesError("RULE_NOT_FOUND", reason, { exchange: told });
    case "exists":
      return new MerchantRulesError("RULE_CONFLICT", `${reason}: another rule has what must be unique`, {
        exchange: told,
        advice: "declare the rule with another value of what must be unique, or remove the other rule first",
      });
    case "inUse":
      return new MerchantRulesError("RULE_CONFLICT", `${reason}: something at the service still uses the rule`, {
        exchange: told,
        advice: "remove at the service what uses the rule, and run again",
      });
  }
}

/**
 * Maps a status to an error, as no other place does. Statuses and bodies of failures are a gap (seed, section 7); what is
 * assumed here is HTTP itself (RFC 9110, RFC 6585).
 */
export function errorOfStatus(exchange: Exchange & { status: number }, retryAfterMs?: number): MerchantRulesError {
  const { status, requestId, serviceCode, serviceMessage, serviceDetails } = exchange;
  const make = (code: ErrorCode, advice?: string, rest: MerchantRulesErrorOptions = {}): MerchantRulesError =>
    new MerchantRulesError(code, `the service answered ${status}`, { exchange, retryAfterMs, advice, ...rest });
  const operators = requestId === undefined ? "" : "; with the request id the service's operators can look into it";
  const later = `run it again later${operators}`;
  if (status >= 300 && status < 400) {
    const advice =
      "redirects are not followed, because they would carry credentials elsewhere; set baseUrl to the address that answers";
    // 307 and 308 ask for the same request elsewhere, so it was not carried out; 302 and 303 may follow a success.
    return make("RESPONSE_INVALID", advice, { outcomeUnknown: status !== 307 && status !== 308 });
  }
  switch (status) {
    case 401:
      return make("UNAUTHENTICATED", "check the token or the client credentials of this connection");
    case 403:
      // As services do that count what a client asks for.
      if (retryAfterMs !== undefined) return make("RATE_LIMITED", adviceOnRate, { retryable: true });
      return make(
        "FORBIDDEN",
        "these credentials may not do this: ask for the permission, or use another connection. If they may, correct the operation's headers and query, and the parameters, in the contract",
      );
    case 404:
    case 410:
      return make("RULE_NOT_FOUND");
    case 407:
      return make("CONNECTION_FAILED", adviceOnProxy).with({ reason: "the proxy answered 407" });
    case 408:
      return make("TIMED_OUT", later, { retryable: true, outcomeUnknown: true });
    case 409:
    case 412: {
      const saysWhat = [serviceCode, serviceMessage, serviceDetails].some((text) => text !== undefined);
      const advice = saysWhat
        ? "another rule may be in its way; the service's own message says what it conflicts with"
        : "the service does not say what it conflicts with: look there for what uses the rule, for a newer version of it, and for another rule like it; where its answers do say it, correct errors in the contract";
      return make("RULE_CONFLICT", advice);
    }
    case 429:
      return make("RATE_LIMITED", adviceOnRate, { retryable: true });
    case 501:
    case 505:
      return make("SERVICE_FAILED", "check baseUrl and this operation in the contract", { outcomeUnknown: true });
  }
  if (status >= 500) return make("SERVICE_FAILED", later, { retryable: true, outcomeUnknown: true });
  const more = (serviceMessage ?? serviceDetails) === undefined ? "" : "; its own message says more";
  return make("REJECTED", `compare the definition and the contract with what the service accepts${more}`);
}

const adviceOnRate = "lower limits.concurrency or set limits.requestsPerSecond in the contract";

/** What to do where a proxy refuses to pass a request on. */
export const adviceOnProxy =
  "check HTTP_PROXY and HTTPS_PROXY, with user and password in them where the proxy wants these (http://user:password@host:port), and name hosts that are reached without it in NO_PROXY";

const longestPath = 300;

/** Composes a message whose parts a service, a file or a program may have written. Only `lines` make line breaks. */
function messageOf(code: ErrorCode, reason: string, options: MerchantRulesErrorOptions): string {
  const { attempted, exchange, advice, lines = [] } = options;
  const { serviceCode, serviceMessage, serviceDetails, requestId } = exchange ?? {};
  // Some services say the same in both.
  const details = [...new Set(serviceDetails)].filter((each) => serviceMessage?.includes(each) !== true);
  const about = [
    serviceCode && `code ${serviceCode}`,
    serviceMessage,
    details.length > 0 && `details: ${details.join(" | ")}`,
    requestId && `request id ${requestId}`,
  ];
  const known = about.filter((text) => text).join("; ");
  const sent = exchange === undefined ? "" : ` [${exchange.method} ${shortened(exchange.path, longestPath)}]`;
  const what = attempted === undefined ? "" : `${attempted} failed: `;
  const said = known === "" ? "" : ` (${known})`;
  const list = lines.map((line) => `\n${printable(line)}`).join("");
  const next = advice === undefined ? "" : `${lines.length > 0 ? "\n" : ". "}What to do: ${printable(advice)}`;
  return `${printable(`${what}${reason}${said}${sent}`)}${list}${next} (${code})`;
}

/** Cuts a string to at most `most` characters, with `...` behind them. */
export function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}...` : text;
}

/** Returns the first names, at most `most`, and how many others there are: `a, b and 3 more`. */
export function fewOf(names: readonly string[], most: number): string {
  const left = names.length - most;
  return left > 0 ? `${names.slice(0, most).join(", ")} and ${left} more` : names.join(", ");
}
