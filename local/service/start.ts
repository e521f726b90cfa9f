import { createServer, type Server } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { Contract } from "../../sdk/contract/index.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { findNotJson, type JsonObject } from "../../sdk/rules/index.ts";
import { localApp } from "./app.ts";
import { Gate, type LocalCredentials, localCredentials } from "./credentials.ts";
import { controlPath, Faults, type LocalFaults } from "./faults/index.ts";
import { Replays } from "./idempotency.ts";
import { Rate } from "./rate.ts";
import { RequestLog, type ServedOperation, type ServedRequest } from "./request-log.ts";
import { routesOf } from "./routes.ts";
import { ruleIdMaker } from "./rule-id.ts";
import { RuleOperations } from "./rule-operations.ts";
import { ruleShape } from "./rule-shape.ts";
import { RuleStore } from "./store.ts";

export interface LocalServiceOptions {
  readonly contract: Contract;
  /** The TCP port on 127.0.0.1; 0, the default, takes any free one. */
  readonly port?: number;
  /** The SQLite file that keeps the rules; `:memory:`, the default, keeps nothing. */
  readonly dataFile?: string;
  /** Default: {@link localCredentials}. */
  readonly credentials?: LocalCredentials;
  /** Values of the contract's parameters. A given one must be sent exactly; one that is not given may be anything. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** How long a minted token is accepted, in seconds; default 3600. */
  readonly tokenLifeSeconds?: number;
  /** Requests beyond it are answered 429 with Retry-After; default: no limit. */
  readonly requestsPerSecond?: number;
  /** Milliseconds since 1970; default: the clock. */
  readonly now?: () => number;
  /** Called with every request that was served. */
  readonly onRequest?: (request: ServedRequest) => void;
}

/** A service that is running. */
export interface LocalService {
  /** Its address, without a slash at the end. */
  readonly url: string;
  /** The last 100,000 requests, oldest first. */
  readonly requests: readonly ServedRequest[];
  /** How many requests there were since the start or the last reset, forgotten ones included. */
  requestCount(operation?: ServedOperation): number;
  resetRequests(): void;
  /** Every rule as declared, oldest first, without what the service adds. */
  rules(): { ruleId: string; rule: JsonObject }[];
  /**
   * Somebody edits a rule by hand, or adds one: past schema, natural key and immutable fields. Gives its id.
   * @throws TypeError when `rule` is not JSON.
   */
  put(ruleId: string | undefined, rule: JsonObject): string;
  /** Somebody removes a rule by hand. Gives whether there was one. */
  remove(ruleId: string): boolean;
  /** The faults on demand; none is set at the start. */
  readonly faults: LocalFaults;
  /** Where a program sets faults over HTTP, not part of the contract: GET, PUT, POST, DELETE. */
  readonly faultsUrl: string;
  /** Stops at once; a second call does nothing. */
  close(): Promise<void>;
}

/** How long a request that is being received may take to end when the service closes. */
const closeGraceMs = 250;
/** Longer than clients keep idle connections, so that they close first and never send on a closing one. */
const keepAliveTimeoutMs = 65_000;

/**
 * Starts a service that speaks `contract`, on 127.0.0.1 only.
 * @throws MerchantRulesError SETTINGS_INVALID: the port cannot be had, or the data file cannot be used.
 */
export async function startLocalService(options: LocalServiceOptions): Promise<LocalService> {
  const {
    contract,
    port = 0,
    dataFile = ":memory:",
    parameters = {},
    tokenLifeSeconds = 3600,
    now = Date.now,
  } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw portRefused(port, "a port is a whole number from 0 to 65535");
  const store = new RuleStore(dataFile);
  const shape = ruleShape(contract);
  const newRuleId = ruleIdMaker(now);
  const operations = new RuleOperations({ contract, store, shape, newRuleId, now });
  const log = new RequestLog();
  const faults = new Faults({ contract, store, now });
  const app = localApp({
    service: {
      contract,
      store,
      operations,
      replays: new Replays(store, now),
      gate: new Gate({
        contract,
        credentials: options.credentials ?? localCredentials,
        parameters,
        tokenLifeSeconds,
        now,
      }),
      rate: options.requestsPerSecond === undefined ? undefined : new Rate(options.requestsPerSecond, now),
    },
    routes: routesOf(contract, parameters),
    faults,
    served: (request) => {
      log.add(request);
      options.onRequest?.(request);
    },
    failed: (error) => console.error("local rules service:", error),
  });
  const server = createServer(
    { keepAliveTimeout: keepAliveTimeoutMs },
    getRequestListener(app.fetch, { overrideGlobalObjects: false }),
  );
  const url = await listen(server, port).catch((error: unknown) => {
    store.close();
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
    rules: () => store.after(0, -1).map(({ ruleId, definition }) => ({ ruleId, rule: definition })),
    put: (ruleId = newRuleId(), rule) => {
      const fault = findNotJson(rule);
      if (fault !== undefined)
        throw new TypeError(`${fault.path === "" ? "the rule" : fault.path} is not JSON: ${fault.found}`);
      const entry = operations.entry(ruleId, shape.withoutManaged(rule));
      store.transaction(() => {
        if (!store.replace(entry)) store.insert(entry);
      });
      faults.wrote();
      return ruleId;
    },
    remove: (ruleId) => {
      const wasThere = store.remove(ruleId);
      if (wasThere) faults.wrote();
      return wasThere;
    },
    faults,
    faultsUrl: url + controlPath,
    close: () => {
      faults.close();
      closed ??= stop(server).finally(() => store.close());
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
