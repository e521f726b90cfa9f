import { type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import type { Contract } from "../contract/schema.ts";
import { MerchantRulesError } from "../errors.ts";
import { isError } from "../json/json.ts";
import type { BaseUrl, Connection } from "./connection.ts";
import type { WireRequest } from "./request-template.ts";
import { type Tls, tlsOf } from "./tls.ts";

const longestConnectMs = 10_000;

interface TransportOptions extends Pick<Connection, "insecureTls" | "clientCertificate"> {
  readonly connections?: number;
}

/**
 * The sockets to one origin: HTTP/1.1, kept alive, bounded in number. Redirects are never followed. Proxies come from
 * the environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY, or in lower case); loopback needs none.
 */
export class Transport {
  readonly origin: string;
  readonly #dispatcher: Dispatcher;
  readonly #limits: Contract["limits"];

  /**
   * Opens up to `connections` sockets at once; default: `limits.concurrency`.
   * @throws MerchantRulesError SETTINGS_INVALID: a proxy variable is no URL; as tlsOf
   */
  constructor(base: BaseUrl, limits: Contract["limits"], options: TransportOptions) {
    const { origin, isLoopback } = base;
    const { connections = limits.concurrency } = options;
    this.origin = origin;
    this.#limits = limits;
    // An attempt has its own clock, from connect to last byte. undici's clocks for parts of it are off.
    const pool: Pool.Options = {
      connections,
      pipelining: 1,
      allowH2: false,
      connectTimeout: Math.min(limits.attemptTimeoutMs, longestConnectMs),
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    const tls = tlsOf(base, options);
    const mayNeedProxy = !isLoopback && proxyVariables.some((name) => (process.env[name] ?? "") !== "");
    this.#dispatcher = mayNeedProxy ? proxied(pool, tls) : new Pool(origin, { ...pool, connect: tls });
  }

  /**
   * Sends once; never rejects. It uses undici's `dispatch` instead of `request`, because only `dispatch` tells for
   * certain whether sending had begun: a create that never left may be sent again, any other may not.
   */
  send(request: WireRequest, credentials: readonly string[], timeoutMs: number): Promise<WireResponse | NoResponse> {
    const { method, target, body, success, bound } = request;
    const headers = credentials.length === 0 ? [...request.headers] : [...request.headers, ...credentials];
    const exchange = new ExchangeHandler(success, this.#limits[bound], timeoutMs);
    try {
      this.#dispatcher.dispatch({ origin: this.origin, method, path: target, headers, body }, exchange);
    } catch (error) {
      exchange.onResponseError(undefined, isError(error) ? error : new Error(String(error)));
    }
    return exchange.outcome.promise;
  }

  close(): Promise<void> {
    return this.#dispatcher.close();
  }
}

const proxyVariables = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"];

function proxied(options: Pool.Options, tls: Tls): Dispatcher {
  try {
    return new EnvHttpProxyAgent({ ...options, connect: tls, requestTls: tls, proxyTls: { rejectUnauthorized: true } });
  } catch {
    // Without the cause, which would print the variable and perhaps a password in it.
    throw new MerchantRulesError("SETTINGS_INVALID", "a proxy variable of the environment cannot be used", {
      advice: "write HTTP_PROXY and HTTPS_PROXY as http://host:port",
    });
  }
}

type Controller = Dispatcher.DispatchController;
type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseStart"]>>[2];

/** A response as it came over the wire. */
export interface WireResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** An exchange that brought no whole response. */
export interface NoResponse {
  readonly fault: "timed out" | "no connection" | "body too large";
  /** True where any of the request may have left this machine. */
  readonly wasSent: boolean;
  /** The status, where the response had begun. */
  readonly status: number | undefined;
  readonly timeoutMs: number;
  readonly cause: Error | undefined;
}

const maxFailureBodyBytes = 65_536;

/** Gathers the response to one request. The body of a failure is cut at 64 KiB. */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly outcome = Promise.withResolvers<WireResponse | NoResponse>();
  readonly #success: readonly number[];
  readonly #mostBytes: number;
  readonly #timeoutMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #controller: Controller | undefined;
  #status: number | undefined;
  #isSuccess = false;
  #headers: Headers = {};
  #bytes = 0;
  #isSettled = false;

  constructor(success: readonly number[], mostBytes: number, timeoutMs: number) {
    this.#success = success;
    this.#mostBytes = mostBytes;
    this.#timeoutMs = timeoutMs;
    this.#timer = setTimeout(() => this.#fail("timed out"), timeoutMs);
  }

  /** Keeps the controller. undici calls it when a connection is there, right before the request is written. */
  onRequestStart(controller: Controller): void {
    if (this.#isSettled) controller.abort(new Error("the attempt is over"));
    else this.#controller = controller;
  }

  onResponseStart(controller: Controller, status: number, headers: Headers): void {
    if (status < 200) return;
    this.#controller = controller;
    this.#status = status;
    this.#isSuccess = this.#success.includes(status);
    this.#headers = headers;
    const announced = headers["content-length"];
    if (this.#isSuccess && typeof announced === "string" && Number(announced) > this.#mostBytes)
      this.#fail("body too large");
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#isSettled) return;
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    const most = this.#isSuccess ? this.#mostBytes : Math.min(this.#mostBytes, maxFailureBodyBytes);
    if (this.#bytes > most) this.#fail("body too large");
  }

  onResponseEnd(): void {
    if (this.#status === undefined) this.#fail("no connection");
    else this.#respond(this.#status);
  }

  onResponseError(_controller: Controller | undefined, error: Error): void {
    this.#fail("no connection", error);
  }

  #fail(fault: NoResponse["fault"], cause?: Error): void {
    if (this.#isSettled) return;
    const status = this.#status;
    // The status of a failure is enough, even when its body is not whole.
    if (status !== undefined && !this.#isSuccess) this.#respond(status);
    else this.#settle({ fault, wasSent: this.#controller !== undefined, status, timeoutMs: this.#timeoutMs, cause });
    this.#controller?.abort(new Error(fault));
  }

  #respond(status: number): void {
    const [first] = this.#chunks;
    const body = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks);
    this.#settle({ status, headers: this.#headers, body });
  }

  #settle(outcome: WireResponse | NoResponse): void {
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.outcome.resolve(outcome);
  }
}
