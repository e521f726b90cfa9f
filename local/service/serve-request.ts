import { type Contract, type IdentifyBy, identityOperation } from "../../sdk/contract/index.ts";
import { field, type JsonObject, pointerOf, valueAt, walk, withValueAt } from "../../sdk/json/index.ts";
import { bodyOf, demandKnownFields, demandNoBody, typed, withoutFixed } from "./body.ts";
import type { Gate } from "./credentials.ts";
import { fingerprintOf, idempotencyKey } from "./idempotency.ts";
import type { Merchant, Merchants } from "./merchants.ts";
import { pageParameters } from "./pagination.ts";
import type { Rate } from "./rate.ts";
import { badRequest, Refusal, type ServedResponse } from "./refusal.ts";
import type { IncomingRequest } from "./request.ts";
import { demandFixedParts, type Match } from "./routes.ts";
import type { Amend, JsonResponse } from "./rule-operations.ts";
import type { RuleList } from "./store.ts";

/** The parts of the service that a request needs. */
export interface Service {
  readonly contract: Contract;
  readonly merchants: Merchants;
  readonly gate: Gate;
  readonly rate: Rate | undefined;
}

/** A fault's change to the way in which a request is carried out. */
export interface Twist {
  /** The rules that a list shows; default: the stored rules. */
  readonly listed?: RuleList;
  /** Changes the definition that a create or update has sent. */
  readonly amend?: Amend;
  /** A delete takes every rule of the merchant, whichever it names. */
  readonly deleteAll?: boolean;
  /** How a write ends; default: "commit". With "rollback" its response is all that comes of it. */
  readonly ending?: "commit" | "rollback";
}

/** Carries out a request in this order: limit, credentials, fixed parts, body, operation. @throws Refusal */
export function serveRequest(
  service: Service,
  match: Match,
  request: IncomingRequest,
  twist: Twist = {},
): ServedResponse {
  const { operation } = match.route;
  service.rate?.take();
  if (operation === "token") {
    demandFixedParts(match, request);
    return serveToken(service, match, request);
  }
  const merchant = service.merchants.of(service.gate.admit(request.header));
  if (operation === "delete" && twist.deleteAll === true)
    return merchant.store.transaction(() => responseOf(merchant.operations.deleteAll()));
  demandFixedParts(match, request);
  const call = { ...service, merchant, match, request, twist };
  switch (operation) {
    case "create":
    case "update": {
      const body = bodyOf(request, match.route.body, service.contract.limits.maxBodyBytes);
      return written(call, () => responseOf(perform(call, body)));
    }
    case "delete":
      return serveDelete(call);
    case "transition":
      return serveTransition(call);
    case "list":
    case "get":
    case "identity":
      if (operation === "list" && match.route.method === "POST") return serveListByPost(call);
      demandNoBody(request);
      return responseOf(serveRead(call));
  }
}

/** A request on one merchant's rules. */
interface Call {
  readonly contract: Contract;
  readonly merchant: Merchant;
  readonly match: Match;
  readonly request: IncomingRequest;
  readonly twist: Twist;
}

function serveToken({ contract, gate }: Service, { route }: Match, request: IncomingRequest): ServedResponse {
  const { token } = contract.auth;
  const body = gate.mint(bodyOf(request, route.body, contract.limits.maxBodyBytes), request.header);
  return responseOf({ status: token?.success[0] ?? 200, body });
}

/** Serves a request that gives one field of a rule one value. */
function serveTransition(call: Call): ServedResponse {
  const { match, merchant } = call;
  const { route, names } = match;
  const body = bodyIfAny(call, Object.keys(route.body.fields).length > 0);
  const ruleId = names.ruleId ?? ruleIdIn(body, route.body.fields);
  const { transition } = route;
  if (transition === undefined || ruleId === undefined) throw badRequest("the request must name the rule");
  demandKnownFields(withoutFixed(body, route.body, { ruleId }), []);
  return written(call, () => responseOf(merchant.operations.transition(ruleId, transition)));
}

/** Finds the id in a body whose fixed fields say where it stands. */
function ruleIdIn(body: JsonObject, fields: JsonObject): string | undefined {
  return walk(fields, (value, { path }) => {
    const found = value === "{ruleId}" ? valueAt(body, pointerOf(path)) : undefined;
    return typeof found === "string" ? found : undefined;
  });
}

/** Writes, and keeps the response under its idempotency key, in one transaction; or returns the response kept before. */
function written({ contract, request, merchant, twist }: Call, write: () => ServedResponse): ServedResponse {
  const { store, replays } = merchant;
  const key = contract.idempotency === null ? undefined : idempotencyKey(request, contract.idempotency.header);
  if (key === undefined) return store.transaction(write, twist.ending);
  const fingerprint = fingerprintOf(request);
  return store.transaction(() => {
    const kept = replays.find(key, fingerprint);
    if (kept !== undefined) return { ...kept, headers: { "idempotency-replayed": "true" }, replayed: true };
    const response = write();
    replays.keep(key, { ...response, fingerprint });
    return response;
  }, twist.ending);
}

function perform(
  { contract, merchant, match: { route, names }, request, twist }: Call,
  body: JsonObject,
): JsonResponse {
  const { operations } = merchant;
  const { create, update } = contract.operations;
  const { body: sent } = route;
  const amend: Amend = (definition) => {
    const read = sent.encoding === "form" ? typed(definition, contract.rule.schema) : definition;
    return twist.amend?.(read) ?? read;
  };
  const ruleId = route.place === null ? undefined : ruleIdOf(route.place, request, names, body);
  if (route.operation === "create" || ruleId === undefined) {
    const own = withoutFixed(body, sent, { ruleId, bodyAt: create.bodyAt });
    return operations.create(own, { ruleId, mustBeNew: request.header("if-none-match") === "*", amend });
  }
  const own = withoutFixed(body, sent, { ruleId, bodyAt: update?.bodyAt ?? "" });
  return operations.update(ruleId, own, { ifMatch: request.header("if-match"), amend });
}

/** Returns the id by which a request names its rule. @throws Refusal 400 when it names none. Nothing is ever chosen for it */
function ruleIdOf(
  { in: part, name }: IdentifyBy,
  request: IncomingRequest,
  names: Match["names"],
  body: JsonObject,
): string {
  const places = {
    path: () => names.ruleId,
    query: () => request.query.get(name),
    header: () => request.header(name),
    body: () => field(body, name),
  };
  const found = places[part]();
  if (typeof found === "string" && found !== "") return found;
  throw badRequest(`the ${part === "body" ? "body field" : part} ${name} must name the rule`);
}

/** Reads the body of a request whose operation has one. @throws Refusal 400 for any other body */
function bodyIfAny({ contract, match: { route }, request }: Call, hasBody: boolean): JsonObject {
  if (hasBody) return bodyOf(request, route.body, contract.limits.maxBodyBytes);
  demandNoBody(request);
  return {};
}

function serveDelete(call: Call): ServedResponse {
  const { merchant, match, request, twist } = call;
  const { route, names } = match;
  const { place } = route;
  const inBody = place?.in === "body";
  const hasBody = inBody || Object.keys(route.body.fields).length > 0;
  const body = bodyIfAny(call, hasBody);
  if (place === null)
    throw badRequest(
      "the contract does not say how a delete names its rule (operations.delete.identifyBy is null), so nothing was deleted",
    );
  const ruleId = ruleIdOf(place, request, names, body);
  if (hasBody) demandKnownFields(withoutFixed(body, route.body, { ruleId }), inBody ? [place.name] : []);
  return merchant.store.transaction(() => responseOf(merchant.operations.delete(ruleId)), twist.ending);
}

/** Serves a list by POST: what asks for a page stands in the body. */
function serveListByPost({ contract, merchant, match, request, twist }: Call): ServedResponse {
  const { list } = contract.operations;
  const body = withoutFixed(bodyOf(request, match.route.body, contract.limits.maxBodyBytes), match.route.body, {});
  demandKnownFields(body, list === null ? [] : pageParameters(list.pagination));
  const asked = Object.entries(body).map(([name, value]): [string, string] => [name, String(value)]);
  return responseOf(merchant.operations.list({ ...request, query: new URLSearchParams(asked) }, twist.listed));
}

function serveRead({ contract, merchant, match: { route, names }, request, twist }: Call): JsonResponse {
  const identity = identityOperation(contract.auth);
  if (route.operation === "list") return merchant.operations.list(request, twist.listed);
  if (route.operation === "identity" && identity !== null)
    return { status: identity.success[0] ?? 200, body: withValueAt({}, identity.at, merchant.name) };
  return merchant.operations.get(ruleIdOf({ in: "path", name: "ruleId" }, request, names, {}));
}

/** Writes the body as text. 204 and 205 have none (RFC 9110). */
function responseOf({ status, body, headers }: JsonResponse): ServedResponse {
  const text = status === 204 || status === 205 || body === undefined ? "" : JSON.stringify(body);
  return headers === undefined ? { status, body: text } : { status, body: text, headers };
}

/** Returns the refusal that answers a failure. An error that is no Refusal is this service's own fault. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const isBusy = error instanceof Error && "errcode" in error && error.errcode === sqliteBusy;
  if (isBusy)
    return new Refusal(503, "BUSY", "another program is writing to the data file", { headers: { "retry-after": "1" } });
  return new Refusal(500, "INTERNAL", "the local rules service failed; its own output says why");
}

const sqliteBusy = 5;
