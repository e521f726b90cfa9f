import type { ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";
import type { Json } from "../../sdk/json/index.ts";
import { printable } from "../../sdk/json/printable.ts";
import type { Merchant, StoredByHand } from "./merchants.ts";
import { strangerBy } from "./request.ts";
import type { ServedRequest } from "./request-log.ts";

/** A page on which a person sees the rules come and go. */
export interface LivePage {
  readonly html: string;
  /** The header Content-Security-Policy with which the page is sent. */
  readonly policy: string;
  /** Returns what the page shows of a rule. */
  row(rule: StoredByHand): Json;
}

/** The path of the page's events. */
export const eventsPath = "/_local/events";

const keptRequests = 50;
const rulesAtOnce = 200;
/** Changes within this time are sent together. */
const gatherMs = 100;
const heartbeatMs = 15_000;
const mostWatchers = 16;
/** A browser that has not taken so much is let go; it comes back by itself, and is sent everything anew. */
const mostUnsentBytes = 8_388_608;

interface Watcher {
  readonly outgoing: ServerResponse;
  /** Bytes that the connection had taken at the last heartbeat. */
  taken: number;
}

/** Sends the rules of one merchant, and the last requests, to everybody who looks at the page. Nothing can be changed by it. */
export class Live {
  readonly #page: LivePage;
  readonly #merchant: Merchant;
  readonly #now: () => number;
  readonly #watchers = new Set<Watcher>();
  readonly #changed = new Set<string>();
  #requests: Json[] = [];
  #unsentRequests = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(page: LivePage, merchant: Merchant, now: () => number) {
    this.#page = page;
    this.#merchant = merchant;
    this.#now = now;
    merchant.store.watch((ruleId) => {
      if (this.#watchers.size > 0) this.#later(() => this.#changed.add(ruleId));
    });
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs).unref();
  }

  /** Serves GET `/` and the page's events, to programs of this machine alone; `isTaken`: the contract has a `/` of its own. */
  app(isTaken: boolean): Hono<{ Bindings: HttpBindings }> {
    const app = new Hono<{ Bindings: HttpBindings }>();
    const { html, policy } = this.#page;
    if (!isTaken)
      app.get("/", ({ req }) => {
        const stranger = strangerBy((name) => req.header(name));
        if (stranger !== undefined) return plain(403, stranger);
        return new Response(html, { headers: { ...pageHeaders, "content-security-policy": policy } });
      });
    app.get(eventsPath, ({ req, env: { outgoing } }) => {
      const stranger = strangerBy((name) => req.header(name));
      if (stranger !== undefined) return plain(403, stranger);
      if (this.#watchers.size >= mostWatchers) return plain(503, `at most ${mostWatchers} pages at a time`);
      outgoing.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
      void this.#watch({ outgoing, taken: 0 });
      return RESPONSE_ALREADY_SENT;
    });
    return app;
  }

  /** Shows a request that was served. */
  served({ method, path, query, operation, status, replayed, fault }: ServedRequest): void {
    const search = new URLSearchParams(query).toString();
    const remarks = [...(replayed === true ? ["replayed"] : []), ...(fault === undefined ? [] : [`fault: ${fault}`])];
    const request = {
      at: new Date(this.#now()).toISOString(),
      method,
      path: printable(search === "" ? path : `${path}?${search}`, 200),
      operation,
      status: status === 0 ? "none" : String(status),
      remark: remarks.join(", "),
    };
    this.#requests = [...this.#requests.slice(1 - keptRequests), request];
    if (this.#watchers.size > 0) this.#later(() => this.#unsentRequests++);
  }

  /** Ends all connections. */
  close(): void {
    clearInterval(this.#heartbeat);
    clearTimeout(this.#timer);
    for (const { outgoing } of this.#watchers) outgoing.destroy();
  }

  /** Sends all rules, a piece at a time as the browser takes it; what changes meanwhile is sent besides. */
  async #watch(watcher: Watcher): Promise<void> {
    const { outgoing } = watcher;
    this.#watchers.add(watcher);
    outgoing.on("close", () => this.#watchers.delete(watcher));
    this.#send(watcher, "requests", this.#requests);
    let before = Number.MAX_SAFE_INTEGER;
    for (let isFirst = true; !outgoing.destroyed; isFirst = false) {
      const rules = this.#merchant.store.before(before, rulesAtOnce);
      if (rules.length === 0 && !isFirst) return;
      before = rules.at(-1)?.sequence ?? 0;
      const rows = rules
        .filter((rule) => !this.#merchant.isGone(rule))
        .map(({ ruleId, definition: rule }) => this.#page.row({ ruleId, rule }));
      if (!this.#send(watcher, "rules", { isFirst, rules: rows })) await drained(outgoing);
    }
  }

  #later(note: () => void): void {
    note();
    this.#timer ??= setTimeout(() => this.#flush(), gatherMs).unref();
  }

  #flush(): void {
    this.#timer = undefined;
    const changes = [...this.#changed].map((ruleId): Json => {
      const stored = this.#merchant.store.find(ruleId);
      const isGone = stored === undefined || this.#merchant.isGone(stored);
      return { id: ruleId, rule: isGone ? null : this.#page.row({ ruleId, rule: stored.definition }) };
    });
    const requests = this.#unsentRequests === 0 ? [] : this.#requests.slice(-this.#unsentRequests);
    this.#changed.clear();
    this.#unsentRequests = 0;
    for (const watcher of this.#watchers) {
      if (changes.length > 0) this.#send(watcher, "changed", changes);
      if (requests.length > 0) this.#send(watcher, "requests", requests);
    }
  }

  /** Sends an event. Returns false where the browser has not taken it yet. */
  #send({ outgoing }: Watcher, event: string, data: Json): boolean {
    if (outgoing.destroyed) return true;
    const isTaken = outgoing.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    if (outgoing.writableLength > mostUnsentBytes) outgoing.destroy();
    return isTaken;
  }

  /** Ends the connections that have something to take, and took nothing since the last time; to others it sends a comment. */
  #beat(): void {
    for (const watcher of this.#watchers) {
      const { outgoing } = watcher;
      const taken = (outgoing.socket?.bytesWritten ?? 0) - outgoing.writableLength;
      if (outgoing.writableLength > 0 && taken === watcher.taken) outgoing.destroy();
      else outgoing.write(": still here\n\n");
      watcher.taken = taken;
    }
  }
}

const pageHeaders = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

function plain(status: number, text: string): Response {
  return new Response(`${text}\n`, { status, headers: { "content-type": "text/plain; charset=utf-8" } });
}

/** Resolves once the connection takes more, or is closed. */
function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off("drain", done).off("close", done);
      resolve();
    };
    outgoing.on("drain", done).on("close", done);
  });
}
