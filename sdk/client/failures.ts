import { headerIn } from "../contract/pagination/paging.ts";
import type { Contract } from "../contract/schema.ts";
import { saysNothingOfRules } from "../contract/schema-errors.ts";
import {
  adviceOnProxy,
  type ErrorCode,
  type Exchange,
  errorOfMeaning,
  errorOfStatus,
  type Meaning,
  MerchantRulesError,
  shortened,
} from "../errors.ts";
import {
  defined,
  isExactNumber,
  isJsonArray,
  isJsonObject,
  type Json,
  numberText,
  pathOf,
  valueAt,
  walk,
} from "../json/index.ts";
import type { UnusableResponse } from "../unusable-response.ts";
import type { Hidden, Redactor } from "./redact.ts";
import type { WireRequest } from "./request-template.ts";
import { jsonIfAny } from "./response.ts";
import type { NoResponse, Transport, WireResponse } from "./transport.ts";

const longestText = 300;
/** A reason that names the fields of a response. */
const longestReason = 1000;

/** A longer string is no message. It is left out rather than searched for secrets. */
const longestSearched = 8192;

/** The facts of the client that errors need. */
export interface FailureContext {
  readonly contract: Contract;
  readonly redactor: Redactor;
  readonly transport: Transport;
  /** Where the credentials come from; undefined: nobody has said it. */
  readonly credentialsFrom: string | undefined;
}

/** The facts of the call that errors need. */
export interface FailedRequest {
  readonly request: WireRequest;
  /** Meanings of a response by the contract's `errors`, default: none. Without `notFound` a 404 means a wrong path. */
  readonly mayMean?: readonly Meaning[];
  /** True where the request changes something at the service. Default: false. */
  readonly writes?: boolean;
  /** Advice for a response that refuses what was sent (400, 422 and the like). Default: none. */
  readonly ifRefused?: () => string | undefined;
  /** Values that are not printed; see {@link hiddenIn}. */
  readonly hidden?: () => readonly Hidden[];
}

/** Makes the error of a response whose status is no success. */
export function errorOfResponse(
  context: FailureContext,
  failed: FailedRequest,
  response: WireResponse,
): MerchantRulesError {
  const { status } = response;
  const { request, mayMean = [], writes = false, ifRefused } = failed;
  const exchange = exchangeOf(context, failed, response);
  const meaning = mayMean.find((each) => means(each, context.contract, response));
  if (meaning !== undefined) return errorOfMeaning(exchange, meaning);
  const isFailure = saysFailure(context.contract.errors.failure, response);
  if (status >= 200 && status < 300 && !isFailure) {
    const reason = `the service answered ${status}; expected ${request.success.join(" or ")}`;
    const exists = mayMean.includes("exists")
      ? "; if it means that another rule has what must be unique, name it in errors.exists"
      : "";
    const advice = `if this status means success here, add it to success of this operation in the contract${exists}`;
    return new MerchantRulesError("RESPONSE_INVALID", reason, { exchange, advice, outcomeUnknown: writes });
  }
  if ((status === 404 || status === 410) && !mayMean.includes("notFound")) {
    const advice = "nothing answers at this path; check baseUrl and the path of this operation in the contract";
    return new MerchantRulesError("REJECTED", `the service answered ${status}`, { exchange, advice });
  }
  const byStatus = errorOfStatus(exchange, retryAfterMsOf(response));
  const saidSo = `${byStatus.reason}, and its body says that it failed (errors.failure)`;
  const error = isFailure ? byStatus.with({ reason: saidSo }) : byStatus;
  const likely = error.code === "REJECTED" ? ifRefused?.() : undefined;
  if (likely !== undefined) return error.with({ advice: `${likely}; else ${error.advice}` });
  // An update is refused for what it sends, too.
  const mayBeAbsence = error.code === "REJECTED" && mayMean.includes("notFound") && !mayMean.includes("exists");
  // A delete that is refused for ever would count as done.
  if (mayBeAbsence && mayMean.includes("inUse"))
    return error.with({
      advice: `where the service deletes no rule in this state, such as an active one, say in rule.transitions of the contract what it must be before (beforeDelete); else ${error.advice}`,
    });
  if (mayBeAbsence && exchange.serviceCode !== undefined)
    return error.with({
      advice: `if this code means that there is no such rule, name it in errors.notFound of the contract; else ${error.advice}`,
    });
  if (error.code === "UNAUTHENTICATED") return error.with({ advice: adviceOnCredentials(error.advice ?? "", context) });
  return error.outcomeUnknown && !writes ? error.with({ outcomeUnknown: false }) : error;
}

/** Returns advice about refused credentials, with where they come from. */
export function adviceOnCredentials(
  advice: string,
  { credentialsFrom }: Pick<FailureContext, "credentialsFrom">,
): string {
  return credentialsFrom === undefined ? advice : `${advice}, from ${credentialsFrom}`;
}

/** Decides whether the body of a success says that nothing was done, as the contract's `errors.failure` has it. */
export function saysFailure(failure: Contract["errors"]["failure"], response: WireResponse): boolean {
  if (failure.length === 0 || response.status < 200 || response.status >= 300) return false;
  const body = jsonIfAny(response);
  return failure.some(({ at, is }) => {
    const found = valueAt(body, at);
    if (is === null) return isJsonArray(found) ? found.length > 0 : Boolean(found);
    return is.some((value) => value === found);
  });
}

/** Decides whether a response has this meaning by the contract. */
function means(meaning: Meaning, { errors }: Contract, response: WireResponse): boolean {
  const answers = errors[meaning];
  if (answers.length === 0) return false;
  const told = textsOf(valueAt(jsonIfAny(response), errors.code));
  const saysNothing = meaning === "notFound" && saysNothingOfRules(response.status);
  return answers.some(
    ({ status, code }) =>
      (status === null ? !saysNothing : status === response.status) && (code === null || told.includes(String(code))),
  );
}

/** Makes the error of a success whose response is not as the contract says. */
export function errorOfUnusable(
  context: FailureContext,
  failed: FailedRequest,
  response: WireResponse,
  { message, isCut, advice, isWithoutId, isOfOther }: UnusableResponse,
): MerchantRulesError {
  const exchange = exchangeOf(context, failed, response);
  return new MerchantRulesError("RESPONSE_INVALID", clean(context, message, failed, longestReason), {
    exchange: { ...exchange, ...(isWithoutId ? { isWithoutId } : {}), ...(isOfOther ? { isOfOther } : {}) },
    advice:
      advice ??
      (isCut ? "try again; the answer was not whole" : "compare the answer with operations and rule in the contract"),
    retryable: isCut,
    outcomeUnknown: failed.writes === true,
  });
}

/** Makes the error of an exchange that brought no whole response. */
export function errorOfNoResponse(
  context: FailureContext,
  failed: FailedRequest,
  { fault, wasSent, status, timeoutMs, cause }: NoResponse,
): MerchantRulesError {
  const { method, path } = failed.request;
  const make = (code: ErrorCode, reason: string, advice: string, retryable = true): MerchantRulesError =>
    new MerchantRulesError(code, reason, {
      exchange: defined({ method, path, status }),
      advice,
      retryable,
      outcomeUnknown: wasSent && failed.writes === true,
      cause: cause && harmless(context, cause, failed),
    });
  if (fault === "timed out") {
    const reason = `${wasSent ? "no whole answer" : "no connection"} within ${Math.round(timeoutMs)} ms`;
    const advice = "try again later, or raise limits.attemptTimeoutMs and limits.totalTimeoutMs in the contract";
    return make("TIMED_OUT", reason, advice);
  }
  if (fault === "body too large") {
    const { bound } = failed.request;
    const reason = `the body of the answer is larger than ${context.contract.limits[bound]} bytes`;
    const paged = bound === "maxListBytes" ? ", or lower limits.pageSize there where the list comes in pages" : "";
    const advice = `raise limits.${bound} in the contract${paged}`;
    return make("RESPONSE_INVALID", reason, advice, false);
  }
  const { origin } = context.transport;
  const code = codeOf(cause) ?? "";
  if (/^ERR_SSL_.*ALERT/.test(code)) {
    const advice =
      "if it wants a client certificate, name one that it accepts in clientCertificate and clientKey; else look at its TLS versions";
    return make("CONNECTION_FAILED", `${origin} refused the TLS connection (${code})`, advice, false);
  }
  if (!wasSent && isCertificateFault(code)) {
    const advice =
      "for a private certificate authority set NODE_EXTRA_CA_CERTS to its file; certificates are checked, whatever NODE_TLS_REJECT_UNAUTHORIZED says, but for a host that the setting insecureTls names";
    return make("CONNECTION_FAILED", `the certificate of ${origin} is not trusted (${code})`, advice, false);
  }
  const [, refused] = /^Proxy response \((\d+)\)/.exec(cause?.message ?? "") ?? [];
  if (!wasSent && refused !== undefined)
    return make(
      "CONNECTION_FAILED",
      `the proxy answered ${refused} to a connection to ${origin}`,
      adviceOnProxy,
      false,
    );
  const ended = `the connection ended ${status === undefined ? "before an answer" : "in the middle of the answer"}`;
  const reason = (wasSent ? ended : `cannot connect to ${origin}`) + (code && ` (${code})`);
  if (code === "UND_ERR_CLOSED" || code === "UND_ERR_DESTROYED")
    return make("CONNECTION_FAILED", reason, "this client was closed; make another", false);
  const advice = "check baseUrl, the network and the proxy variables of the environment";
  return make("CONNECTION_FAILED", reason, advice);
}

function exchangeOf(
  context: FailureContext,
  failed: FailedRequest,
  response: WireResponse,
): Exchange & { status: number } {
  const { errors } = context.contract;
  const body = jsonIfAny(response);
  const said = [errors.message].flat().flatMap((pointer) => textsOf(valueAt(body, pointer)));
  const texts = {
    serviceCode: valueAt(body, errors.code),
    serviceMessage: [...new Set(said)].join("; "),
    requestId: [response.headers[errors.requestId.header.toLowerCase()]].flat()[0],
  };
  const found = Object.entries(texts)
    .flatMap(([name, value]) => textsOf(value).map((text) => [name, clean(context, text, failed)] as const))
    .filter(([, text]) => text !== "");
  const details = detailsIn(valueAt(body, errors.details), said).map((text) =>
    clean(context, text, failed, longestDetail),
  );
  const { method, path } = failed.request;
  return {
    method,
    path,
    status: response.status,
    ...Object.fromEntries(found),
    ...(details.length === 0 ? {} : { serviceDetails: details }),
  };
}

const mostDetails = 5;
const longestDetail = 200;

/** Returns the first five details of a failure, one string each, without those that the message repeats; and how many more there are. */
function detailsIn(details: Json | undefined, said: readonly string[]): string[] {
  const each = isJsonObject(details) ? Object.entries(details).map(([name, inner]) => ({ [name]: inner })) : [details];
  const all = (isJsonArray(details) ? details : each).flatMap((detail) => {
    const leaves = leavesOf(detail);
    const isSaid = leaves.every(({ text }) => said.some((message) => message.includes(text)));
    return isSaid ? [] : [leaves.map(({ path, text }) => (path === "" ? text : `${path}: ${text}`)).join(", ")];
  });
  const left = all.length - mostDetails;
  return left > 0 ? [...all.slice(0, mostDetails), `and ${left} more`] : all;
}

/** Returns the strings, numbers and booleans in a detail, with their paths. */
function leavesOf(detail: Json | undefined): { path: string; text: string }[] {
  const leaves: { path: string; text: string }[] = [];
  walk(detail, (value, { path }) => {
    if (["string", "number", "boolean"].includes(typeof value) || isExactNumber(value))
      leaves.push({ path: path.length === 0 ? "" : pathOf(path), text: String(value) });
  });
  return leaves;
}

/** Returns a string or a number as the one string of an array; an empty array for any other value. */
function textsOf(value: Json | undefined): string[] {
  const text = typeof value === "string" ? value : numberText(value);
  return text === undefined ? [] : [text];
}

/** Headers that say when a limit ends, where Retry-After does not: in seconds from now, or as a time. */
const resetHeaders = ["ratelimit-reset", "x-ratelimit-reset", "x-rate-limit-reset"];
const remainingHeaders = ["ratelimit-remaining", "x-ratelimit-remaining", "x-rate-limit-remaining"];

/**
 * Returns the wait that a response asks for, in milliseconds: `Retry-After` in seconds or as an HTTP date (RFC 9110, 10.2.3);
 * of a 429 else the end of the limit, from `RateLimit` (`reset=30`, `t=30`) or {@link resetHeaders}. A time counts from the
 * response's own `Date`, because the clocks may differ. Undefined when it says nothing usable.
 */
function retryAfterMsOf({ status, headers }: Pick<WireResponse, "status" | "headers">): number | undefined {
  const told = waitMsIn(headers["retry-after"], headers);
  if (told !== undefined || status !== 429) return told;
  const limits = headerIn(headers, "ratelimit") ?? "";
  const [, reset] = /(?:^|[;,\s])reset=(\d+)/.exec(limits) ?? [];
  // Of several limits those that have nothing left.
  const spent = limits.split(",").flatMap((limit) => {
    const [, ends] = /;\s*t=(\d+)/.exec(limit) ?? [];
    return ends === undefined || /;\s*r=0*[1-9]/.test(limit) ? [] : [ends];
  });
  const isLeft = remainingHeaders.some((name) => Number(headers[name]) > 0);
  const ends = [reset, ...spent, ...(isLeft ? [] : resetHeaders.map((name) => headers[name]))];
  return ends.map((each) => waitMsIn(each, headers)).find((ms) => ms !== undefined);
}

/** Numbers from here on are seconds since 1970, and from there on milliseconds: no wait is as long. */
const [leastEpoch, leastEpochMs] = [1e9, 1e11];

function waitMsIn(text: string | string[] | undefined, headers: WireResponse["headers"]): number | undefined {
  if (typeof text !== "string") return undefined;
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
  if (number !== undefined && number < leastEpoch) return Math.ceil(number * 1000);
  const at = number === undefined ? Date.parse(text) : number < leastEpochMs ? number * 1000 : number;
  if (Number.isNaN(at)) return undefined;
  const sent = typeof headers.date === "string" ? Date.parse(headers.date) : Number.NaN;
  return Math.max(0, at - (Number.isNaN(sent) ? Date.now() : sent));
}

/** Makes a string of the service fit to be printed: without secrets, on one line, short. */
function clean({ redactor }: FailureContext, text: string, { hidden }: FailedRequest, most = longestText): string {
  if (text.length > longestSearched) return `[a text of ${text.length} characters]`;
  const more = hidden?.() ?? [];
  // Twice, because a secret may hold characters that are taken out in between.
  const plain = redactor.redact(text, more).replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ");
  return shortened(redactor.redact(plain, more).trim(), most);
}

/** Copies the message and the code of an error of undici, which may hold raw bytes of a response. */
function harmless(context: FailureContext, cause: Error, failed: FailedRequest): Error {
  const code = codeOf(cause);
  const error = new Error(clean(context, cause.message || (code ?? cause.name), failed));
  return code === undefined ? error : Object.assign(error, { code });
}

function codeOf(error: Error | undefined): string | undefined {
  return error !== undefined && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Decides whether a code is of Node's TLS or OpenSSL's verification (https://nodejs.org/api/tls.html#x509-certificate-error-codes). */
function isCertificateFault(code: string): boolean {
  return (
    /^(ERR_TLS_|CERT_|UNABLE_TO_|CRL_|ERROR_IN_C)/.test(code) ||
    /(SELF_SIGNED_CERT|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)/.test(code)
  );
}
