import type { ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";
import { defined } from "../../sdk/json/index.ts";
import { controlApp, controlPath, type FaultKind, type Faults, type Reply, type Visit } from "./faults/index.ts";
import { Refusal, refusalResponse } from "./refusal.ts";
import { type IncomingRequest, readRequest, strangerBy } from "./request.ts";
import type { ServedOperation, ServedRequest } from "./request-log.ts";
import { type Match, type Route, routeOf } from "./routes.ts";
import { send } from "./send.ts";
import { refusalOf, type Service, serveRequest, type Twist } from "./serve-request.ts";

export interface AppOptions {
  readonly service: Service;
  readonly routes: readonly Route[];
  readonly faults: Faults;
  /** The live page, where there is one. */
  readonly live: LocalApp | undefined;
  /** Called with every request once its response is known, before it is sent. */
  readonly served: (request: ServedRequest) => void;
}

export type LocalApp = Hono<{ Bindings: HttpBindings }>;

/**
 * Makes the service a Hono application. Everything that the contract does not have is under paths of its own, added before
 * the contract's; the contract has all the others.
 */
export function localApp(options: AppOptions): LocalApp {
  const { contract } = options.service;
  const app: LocalApp = new Hono();
  app.route(controlPath, controlApp(options.faults));
  if (options.live !== undefined) app.route("/", options.live);
  app.all("*", async (context) => {
    const { incoming, outgoing } = context.env;
    const request = await readRequest(incoming, contract.limits.maxBodyBytes).catch(() => undefined);
    if (request === undefined) {
      outgoing.destroy(); // The client went away; nobody is left to answer.
      return RESPONSE_ALREADY_SENT;
    }
    const replied = await replyTo(options, request, outgoing);
    options.served(servedRequest(request, replied, contract.idempotency?.header));
    send(replied.reply, contract.errors.requestId.header, outgoing);
    return RESPONSE_ALREADY_SENT;
  });
  return app;
}

interface Replied {
  readonly operation: ServedOperation;
  readonly reply: Reply;
  readonly fault?: FaultKind;
}

/** Makes the reply to a request. Not async: without a fault the reply is there at once. */
function replyTo(options: AppOptions, request: IncomingRequest, outgoing: ServerResponse): Replied | Promise<Replied> {
  const { routes, faults, service } = options;
  const stranger = strangerBy(request.header);
  if (stranger !== undefined) return refused(options, new Refusal(403, "FORBIDDEN", stranger));
  const found = routeOf(routes, request);
  if ("allow" in found) return refused(options, noRoute(request, found.allow));
  const { match } = found;
  const { operation } = match.route;
  if (faults.isEmpty) return { operation, reply: { send: "whole", response: responseTo(options, match, request) } };
  const visit: Visit = {
    operation,
    request,
    ruleId: match.names.ruleId,
    get merchant() {
      return service.merchants.of(service.gate.guess(request.header));
    },
    clientLeft: () =>
      new Promise((resolve) => {
        if (outgoing.destroyed) resolve();
        else outgoing.once("close", resolve);
      }),
    serve: (twist) => responseTo(options, match, request, twist),
  };
  return faults.replyTo(visit).then(({ reply, fault }) => defined({ operation, reply, fault: fault?.kind }));
}

function refused({ service }: AppOptions, refusal: Refusal): Replied {
  const response = refusalResponse(refusal, service.contract.errors);
  return { operation: "unknown", reply: { send: "whole", response } };
}

/** Serves a request, and returns its response, or the one to its failure. */
function responseTo({ service }: AppOptions, match: Match, request: IncomingRequest, twist?: Twist) {
  try {
    return serveRequest(service, match, request, twist);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal.code === "INTERNAL") console.error("local rules service:", error);
    return refusalResponse(refusal, service.contract.errors);
  }
}

function noRoute({ method, path }: IncomingRequest, allow: readonly string[]): Refusal {
  if (allow.length === 0) return new Refusal(404, "NOT_FOUND", `no operation of the contract has the path ${path}`);
  return new Refusal(405, "METHOD_NOT_ALLOWED", `found ${method}; allowed: ${allow.join(", ")}`, {
    headers: { allow: allow.join(", ") },
  });
}

function servedRequest(
  { method, path, query, header }: IncomingRequest,
  { operation, reply, fault }: Replied,
  keyHeader: string | undefined,
): ServedRequest {
  const response = reply.send === "nothing" ? undefined : reply.response;
  return defined({
    operation,
    method,
    path,
    query: query.size === 0 ? noQuery : Object.fromEntries(query),
    status: response?.status ?? 0,
    idempotencyKey: keyHeader === undefined ? undefined : header(keyHeader),
    replayed: response?.replayed === true ? true : undefined,
    fault,
  });
}

const noQuery = {};
