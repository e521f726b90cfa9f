import { type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import type { Contract } from "../contract/schema.ts";
import { MerchantRulesError } from "../errors.ts";
import type { BaseUrl } from "./connection.ts";
import type { WireRequest } from "./request-template.ts";

export interface TransportOptions extends Pick<Contract["limits"], "attemptTimeoutMs" | "maxBodyBytes"> {
  /** Connections to the origin at once. */
  readonly connections: number;
}

const longestConnectMs = 10_000;

/**
 * The sockets to one origin: HTTP/1.1, kept alive, bounded in number. Redirects are never followed. Proxies come from
 * the environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY, or in lower case); loopback needs none.
 */
export class Transport {
  readonly origin: string;
  readonly #dispatcher: Dispatcher;
  readonly #maxBodyBytes: number;

  /** @throws MerchantRulesError SETTINGS_INVALID where a proxy variable of the environment is no URL */
  constructor({ origin, isLoopback }: BaseUrl, { connections, attemptTimeoutMs, maxBodyBytes }: TransportOptions) {
    this.origin = origin;
    this.#maxBodyBytes = maxBodyBytes;
    // An attempt has its own clock, from connect to last byte. undici's clocks for parts of it are off.
    const options: Pool.Options = {
      connections,
      pipelining: 1,
      allowH2: false,
      connectTimeout: Math.min(attemptTimeoutMs, longestConnectMs),
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    this.#dispatcher = isLoopback || !hasProxy() ? new Pool(origin, options) : proxied(options);
  }

  /** Sends once. @throws AttemptFailure, by rejection */
  send(request: WireRequest, credentials: readonly string[], timeoutMs: number): Promise<Answer> {
    const { method, target, body, success } = request;
    const headers = credentials.length === 0 ? [...request.headers] : [...request.headers, ...credentials];
    const options = { origin: this.origin, method, path: target, headers, body };
    return attempt(this.#dispatcher, options, { timeoutMs, maxBodyBytes: this.#maxBodyBytes, success });
  }

  close(): Promise<void> {
    return this.#dispatcher.close();
  }
}

const proxyVariables = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"];

function hasProxy(): boolean {
  return proxyVariables.some((name) => (process.env[name] ?? "") !== "");
}

function proxied(options: Pool.Options): Dispatcher {
  try {
    return new EnvHttpProxyAgent(options);
  } catch {
    // Without the cause, which would print the variable and perhaps a password in it.
    throw new MerchantRulesError("SETTINGS_INVALID", "a proxy variable of the environment cannot be used", {
      advice: "write HTTP_PROXY and HTTPS_PROXY as http://host:port",
    });
  }
}

type Controller = Dispatcher.DispatchController;
type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseStart"]>>[2];

/** An answer as it came over the wire. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

type AttemptFault = "timed out" | "no connection" | "body too large";

/** An exchange that brought no whole answer. */
export class AttemptFailure extends Error {
  /** Whether any of the request may have left this machine. */
  readonly wasSent: boolean;
  /** The status, where the answer had begun. */
  readonly status: number | undefined;
  readonly timeoutMs: number;
  readonly fault: AttemptFault;

  constructor(fault: AttemptFault, known: Pick<AttemptFailure, "wasSent" | "status" | "timeoutMs">, cause?: Error) {
    super(fault, { cause });
    this.fault = fault;
    this.wasSent = known.wasSent;
    this.status = known.status;
    this.timeoutMs = known.timeoutMs;
  }
}

interface AttemptBounds {
  readonly timeoutMs: number;
  /** Of a success. The body of a failure is cut at 64 KiB. */
  readonly maxBodyBytes: number;
  readonly success: readonly number[];
}

const maxFailureBodyBytes = 65_536;

/**
 * One request and its answer. It uses undici's `dispatch` instead of `request`, because only `dispatch` tells for
 * certain whether sending had begun: a create that never left may be sent again, any other may not.
 * @throws AttemptFailure, by rejection
 */
function attempt(dispatcher: Dispatcher, options: Dispatcher.DispatchOptions, bounds: AttemptBounds): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const handler = new AttemptHandler(bounds, resolve, reject);
    try {
      dispatcher.dispatch(options, handler);
    } catch (error) {
      handler.onResponseError(undefined, error instanceof Error ? error : new Error(String(error)));
    }
  });
}

class AttemptHandler implements Dispatcher.DispatchHandler {
  readonly #bounds: AttemptBounds;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (failure: AttemptFailure) => void;
  readonly #timer: NodeJS.Timeout;
  #controller: Controller | undefined;
  #status: number | undefined;
  #headers: Headers = {};
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isSuccess = false;
  #isSettled = false;

  constructor(bounds: AttemptBounds, resolve: (answer: Answer) => void, reject: (failure: AttemptFailure) => void) {
    this.#bounds = bounds;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(() => this.#fail("timed out"), bounds.timeoutMs);
  }

  /** Called when a connection is there, right before the request is written. */
  onRequestStart(controller: Controller): void {
    if (this.#isSettled) controller.abort(new Error("the attempt is over"));
    else this.#controller = controller;
  }

  onResponseStart(controller: Controller, status: number, headers: Headers): void {
    if (status < 200) return;
    this.#controller = controller;
    this.#status = status;
    this.#headers = headers;
    this.#isSuccess = this.#bounds.success.includes(status);
    const announced = headers["content-length"];
    if (this.#isSuccess && typeof announced === "string" && Number(announced) > this.#bounds.maxBodyBytes)
      this.#fail("body too large");
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#isSettled) return;
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    const most = this.#isSuccess ? this.#bounds.maxBodyBytes : Math.min(this.#bounds.maxBodyBytes, maxFailureBodyBytes);
    if (this.#bytes > most) this.#fail("body too large");
  }

  onResponseEnd(): void {
    if (this.#status === undefined) this.#fail("no connection");
    else this.#end(this.#status);
  }

  onResponseError(_controller: Controller | undefined, error: Error): void {
    this.#fail("no connection", error);
  }

  #fail(fault: AttemptFault, cause?: Error): void {
    if (this.#isSettled) return;
    // The status of a failure is enough, even when its body is not whole.
    if (this.#status !== undefined && !this.#isSuccess) this.#end(this.#status);
    else {
      this.#settle();
      const known = {
        wasSent: this.#controller !== undefined,
        status: this.#status,
        timeoutMs: this.#bounds.timeoutMs,
      };
      this.#reject(new AttemptFailure(fault, known, cause));
    }
    this.#controller?.abort(new Error(fault));
  }

  #end(status: number): void {
    if (this.#isSettled) return;
    this.#settle();
    const [first] = this.#chunks;
    const body = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks);
    this.#resolve({ status, headers: this.#headers, body });
  }

  #settle(): void {
    this.#isSettled = true;
    clearTimeout(this.#timer);
  }
}
