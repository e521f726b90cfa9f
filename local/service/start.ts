import { createServer, type Server } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { Contract } from "../../sdk/contract/index.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { localApp } from "./app.ts";
import { Gate, type LocalCredentials, localCredentials } from "./credentials.ts";
import { controlPath, Faults, type LocalFaults } from "./faults/index.ts";
import { Live, type LivePage } from "./live.ts";
import { type LocalMerchant, Merchants, type RulesByHand } from "./merchants.ts";
import { Rate } from "./rate.ts";
import { RequestLog, type ServedOperation, type ServedRequest } from "./request-log.ts";
import { routesOf } from "./routes.ts";
import type { Etags } from "./rule-operations.ts";

export interface LocalServiceOptions {
  readonly contract: Contract;
  /** The TCP port on 127.0.0.1; 0, the default, takes any free one. */
  readonly port?: number;
  /**
   * The SQLite file that keeps the rules; `:memory:`, the default, keeps nothing. Every merchant but the first has a file
   * of its own beside it: `rules.db` → `rules.globex.db`.
   */
  readonly dataFile?: string;
  /** Default: {@link localCredentials}. With `merchants`, its token is not used. */
  readonly credentials?: LocalCredentials;
  /**
   * The merchants. Each has rules, ids and idempotency keys of its own, and the token that a request
   * presents says which merchant it is for. Tokens of the token operation are the first merchant's.
   * Default: one merchant named "merchant", with the token of `credentials`.
   */
  readonly merchants?: readonly LocalMerchant[];
  /** `ordered`, the default: 12 letters and digits that sort by age. `sequential`: "1", "2", "3", per merchant. */
  readonly ruleIds?: "ordered" | "sequential";
  /** The response to a create and an update: the `rule`, the default, or its `id` alone. */
  readonly answers?: "id" | "rule";
  /**
   * The ETags of a contract with versions by ETag: `strong`, the default; `weak`, and taken in If-Match all the same; or weak
   * and refused there (RFC 9110, 13.1.1), so that only updates without If-Match are carried out.
   */
  readonly etags?: Etags;
  /** Lets two rules of a merchant have one natural key; default: false, a second one is refused with 409. */
  readonly allowDuplicates?: boolean;
  /** Values of the contract's parameters. A given one must be sent exactly; one that is not given may be anything. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Life of a minted token, in seconds; default 3600. */
  readonly tokenLifeSeconds?: number;
  /** Requests beyond it are answered 429 with Retry-After; default: no limit. */
  readonly requestsPerSecond?: number;
  /** Milliseconds since 1970; default: the clock. */
  readonly now?: () => number;
  /** Called with every request that was served. */
  readonly onRequest?: (request: ServedRequest) => void;
  /**
   * The page at `/`, on which a person sees the first merchant's rules come and go, and the last requests. Default: none.
   * Where the contract has a GET of `/` itself there is none either.
   */
  readonly page?: LivePage;
}

/** A service that is running. What is done with rules by hand is done with the first merchant's. */
export interface LocalService extends RulesByHand {
  /** Its address, without a slash at the end. */
  readonly url: string;
  /** The last 100,000 requests, oldest first. */
  readonly requests: readonly ServedRequest[];
  /** Counts the requests since the start or the last reset, forgotten ones included. */
  requestCount(operation?: ServedOperation): number;
  resetRequests(): void;
  /** Returns what changes the rules of one merchant by hand. @throws TypeError for a name that no merchant has. */
  of(merchant: string): RulesByHand;
  /** The faults on demand; none is set at the start. */
  readonly faults: LocalFaults;
  /** The address at which a program sets faults over HTTP, not part of the contract: GET, PUT, POST, DELETE. */
  readonly faultsUrl: string;
  /** The address of the page; undefined where there is none. */
  readonly pageUrl: string | undefined;
  /** Stops at once; a second call does nothing. */
  close(): Promise<void>;
}

/** Time for a request that is being received to end when the service closes. */
const closeGraceMs = 250;
/** Longer than clients keep idle connections, so that they close first and never send on a closing one. */
const keepAliveTimeoutMs = 65_000;

/**
 * Starts a service that speaks `contract`, on 127.0.0.1 only.
 * @throws MerchantRulesError SETTINGS_INVALID: the port cannot be had, a data file cannot be used, or two merchants have
 * one name or token. CONTRACT_INVALID: a delete cannot mark a rule as the contract's `rule.gone` says.
 */
export async function startLocalService(options: LocalServiceOptions): Promise<LocalService> {
  const {
    contract,
    port = 0,
    dataFile = ":memory:",
    parameters = {},
    tokenLifeSeconds = 3600,
    credentials = localCredentials,
    merchants: given = [{ name: "merchant", token: credentials.token }],
    ruleIds = "ordered",
    answers = "rule",
    etags = "strong",
    allowDuplicates = false,
    now = Date.now,
  } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw portRefused(port, "a port is a whole number from 0 to 65535");
  const merchants = new Merchants({
    contract,
    merchants: given,
    dataFile,
    ruleIds,
    answers,
    etags,
    allowDuplicates,
    now,
  });
  const log = new RequestLog();
  const faults = new Faults({ contract, stores: merchants.stores, now });
  const live = options.page === undefined ? undefined : new Live(options.page, merchants.first, now);
  const routes = routesOf(contract, parameters);
  const isTaken = routes.some(({ method, path }) => method === "GET" && path.match("/") !== undefined);
  const app = localApp({
    live: live?.app(isTaken),
    service: {
      contract,
      merchants,
      gate: new Gate({ contract, credentials, merchants: given, parameters, tokenLifeSeconds, now }),
      rate: options.requestsPerSecond === undefined ? undefined : new Rate(options.requestsPerSecond, now),
    },
    routes,
    faults,
    served: (request) => {
      log.add(request);
      live?.served(request);
      options.onRequest?.(request);
    },
  });
  const server = createServer(
    { keepAliveTimeout: keepAliveTimeoutMs },
    getRequestListener(app.fetch, { overrideGlobalObjects: false }),
  );
  const url = await listen(server, port).catch((error: unknown) => {
    merchants.close();
    throw error;
  });
  let closed: Promise<void> | undefined;
  return {
    url,
    get requests() {
      return log.requests;
    },
    requestCount: (operation) => log.count(operation),
    resetRequests: () => log.reset(),
    ...merchants.first.byHand,
    of: (name) => merchants.of(name).byHand,
    faults,
    faultsUrl: url + controlPath,
    pageUrl: live === undefined || isTaken ? undefined : `${url}/`,
    close: () => {
      faults.close();
      live?.close();
      closed ??= stop(server).finally(() => merchants.close());
      return closed;
    },
  };
}

function listen(server: Server, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(portRefused(port, reasonOf(error), error)));
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      resolve(`http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : port}`);
    });
  });
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const grace = setTimeout(() => server.closeAllConnections(), closeGraceMs);
    server.close(() => {
      clearTimeout(grace);
      resolve();
    });
    server.closeIdleConnections();
  });
}

function reasonOf(error: NodeJS.ErrnoException): string {
  if (error.code === "EADDRINUSE") return "the port is in use by another program";
  if (error.code === "EACCES") return "this user may not use the port";
  return error.message;
}

function portRefused(port: number, reason: string, cause?: unknown): MerchantRulesError {
  return new MerchantRulesError("SETTINGS_INVALID", reason, {
    attempted: `listen on 127.0.0.1 port ${port}`,
    advice: "choose another port, or 0 for any free one",
    cause,
  });
}
