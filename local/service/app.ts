import { randomUUID } from "node:crypto";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";
import type { Answer } from "./answer.ts";
import { Refusal, refusalBody } from "./refusal.ts";
import { type IncomingRequest, readRequest } from "./request.ts";
import type { ServedOperation, ServedRequest } from "./request-log.ts";
import { type Route, routeOf } from "./routes.ts";
import { refusalOf, type Service, serveRequest } from "./serve-request.ts";

export interface AppOptions {
  readonly service: Service;
  readonly routes: readonly Route[];
  /** Called with every request once its answer is known, before it is sent. */
  readonly served: (request: ServedRequest) => void;
  /** Called with what went wrong within the service itself. */
  readonly failed: (error: unknown) => void;
}

export type LocalApp = Hono<{ Bindings: HttpBindings }>;

/**
 * The service as a Hono application. Everything that the contract does not have is under paths of its own, added before
 * the contract's; the contract has all the others.
 */
export function localApp(options: AppOptions): LocalApp {
  const { contract } = options.service;
  const app: LocalApp = new Hono();
  app.all("*", async (context) => {
    const { incoming, outgoing } = context.env;
    const request = await readRequest(incoming, contract.limits.maxBodyBytes).catch(() => undefined);
    if (request === undefined) {
      outgoing.destroy(); // The client went away; nobody is left to answer.
      return RESPONSE_ALREADY_SENT;
    }
    const { operation, answer } = answerTo(options, request);
    options.served(servedRequest(request, operation, answer, contract.idempotency?.header));
    send(answer, contract.errors.requestId.header, outgoing);
    return RESPONSE_ALREADY_SENT;
  });
  return app;
}

/** Written to the connection itself: as a web Response an answer takes twice as long. */
function send({ status, body, headers }: Answer, requestIdHeader: string, outgoing: HttpBindings["outgoing"]): void {
  const type = body === "" ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  outgoing.writeHead(status, { ...type, ...headers, [requestIdHeader]: randomUUID() });
  outgoing.end(body);
}

function answerTo(
  { service, routes, failed }: AppOptions,
  request: IncomingRequest,
): { operation: ServedOperation; answer: Answer } {
  let operation: ServedOperation = "unknown";
  try {
    const found = routeOf(routes, request);
    if ("allow" in found) throw noRoute(request, found.allow);
    operation = found.match.route.operation;
    return { operation, answer: serveRequest(service, found.match, request) };
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal.code === "INTERNAL") failed(error);
    const body = JSON.stringify(refusalBody(refusal, service.contract.errors));
    return { operation, answer: { status: refusal.status, body, headers: refusal.headers } };
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
  operation: ServedOperation,
  answer: Answer,
  keyHeader: string | undefined,
): ServedRequest {
  const key = keyHeader === undefined ? undefined : header(keyHeader);
  return {
    operation,
    method,
    path,
    query: query.size === 0 ? noQuery : Object.fromEntries(query),
    status: answer.status,
    ...(key === undefined ? {} : { idempotencyKey: key }),
    ...(answer.replayed === true ? { replayed: true } : {}),
  };
}

const noQuery = {};
