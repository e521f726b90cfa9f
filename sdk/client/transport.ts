import { type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import { MerchantRulesError } from "../errors.ts";
import { type Answer, attempt } from "./attempt.ts";
import type { BaseUrl } from "./base-url.ts";
import type { WireRequest } from "./request-template.ts";

export interface TransportOptions {
  /** Connections to the origin at once. */
  readonly connections: number;
  readonly attemptTimeoutMs: number;
  readonly maxBodyBytes: number;
}

const longestConnectMs = 10_000;

/**
 * The sockets to one origin: HTTP/1.1, kept alive, bounded in number. Redirects are never followed. Proxies come from
 * the environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY, or in lower case); loopback is reached without one.
 */
export class Transport {
  readonly origin: string;
  readonly #dispatcher: Dispatcher;
  readonly #maxBodyBytes: number;

  /** @throws MerchantRulesError SETTINGS_INVALID where a proxy variable of the environment is no URL */
  constructor({ origin, isLoopback }: BaseUrl, { connections, attemptTimeoutMs, maxBodyBytes }: TransportOptions) {
    this.origin = origin;
    this.#maxBodyBytes = maxBodyBytes;
    // An attempt has a clock of its own, from connect to last byte, so undici's clocks for parts of it are off.
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
    // Without the cause: it would print the variable, in which a password may stand.
    throw new MerchantRulesError("SETTINGS_INVALID", "a proxy variable of the environment cannot be used", {
      advice: "write HTTP_PROXY and HTTPS_PROXY as http://host:port",
    });
  }
}
