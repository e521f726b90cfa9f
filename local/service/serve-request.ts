import type { Contract } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/rules/index.ts";
import type { Answer } from "./answer.ts";
import { demandNoBody, formBody, jsonBody } from "./body.ts";
import type { Gate } from "./credentials.ts";
import { fingerprintOf, idempotencyKey, type Replays } from "./idempotency.ts";
import type { Rate } from "./rate.ts";
import { badRequest, Refusal } from "./refusal.ts";
import type { IncomingRequest } from "./request.ts";
import { demandFixedParts, type Match } from "./routes.ts";
import { demandKnownFields, type Outcome, type RuleOperations, ruleIdOf } from "./rule-operations.ts";
import type { RuleList, RuleStore } from "./store.ts";

/** What serving takes part in. */
export interface Service {
  readonly contract: Contract;
  readonly store: RuleStore;
  readonly operations: RuleOperations;
  readonly replays: Replays;
  readonly gate: Gate;
  readonly rate: Rate | undefined;
}

/**
 * Carries out one request whose route is known: limit, credentials, fixed parts, body, operation, in this order. A list
 * shows `listed`, by default the stored rules.
 * @throws Refusal for whatever the contract does not allow.
 */
export function serveRequest(
  service: Service,
  match: Match,
  request: IncomingRequest,
  listed: RuleList = service.store,
): Answer {
  const { operation } = match.route;
  service.rate?.take();
  if (operation !== "token") service.gate.admit(request.header);
  demandFixedParts(match, request);
  if (operation === "token") return serveToken(service, request);
  if (operation === "create" || operation === "update") return serveWrite(service, match, request);
  return answerOf(serveOther(service, match, request, listed));
}

function serveToken({ contract, gate }: Service, request: IncomingRequest): Answer {
  const { token } = contract.auth;
  const parse = token?.encoding === "form" ? formBody : jsonBody;
  const body = gate.mint(parse(request, contract.limits.maxBodyBytes));
  return answerOf({ status: token?.success[0] ?? 200, body });
}

/** A create or update: what is written, and the answer that its idempotency key stands for, are one transaction. */
function serveWrite(service: Service, match: Match, request: IncomingRequest): Answer {
  const { contract, store, replays } = service;
  const key = contract.idempotency === null ? undefined : idempotencyKey(request, contract.idempotency.header);
  const body = jsonBody(request, contract.limits.maxBodyBytes);
  const write = (): Answer => answerOf(perform(service, match, request, body));
  if (key === undefined) return store.transaction(write);
  const fingerprint = fingerprintOf(request);
  return store.transaction(() => {
    const kept = replays.find(key, fingerprint);
    if (kept !== undefined) return { ...kept, headers: { "idempotency-replayed": "true" }, replayed: true };
    const answer = write();
    replays.keep(key, { ...answer, fingerprint });
    return answer;
  });
}

function perform(
  { operations }: Service,
  { route, names }: Match,
  request: IncomingRequest,
  body: JsonObject,
): Outcome {
  if (route.operation === "create" || route.place === null) return operations.create(body);
  return operations.update(ruleIdOf(route.place, request, names, body), body);
}

function serveOther(
  { contract, operations }: Service,
  { route, names }: Match,
  request: IncomingRequest,
  listed: RuleList,
): Outcome {
  const { place } = route;
  if (route.operation === "delete" && place?.in === "body") {
    const body = jsonBody(request, contract.limits.maxBodyBytes);
    demandKnownFields(body, [place.name]);
    return operations.delete(ruleIdOf(place, request, names, body));
  }
  demandNoBody(request);
  if (route.operation === "list") return operations.list(request.query, listed);
  if (place === null) {
    throw badRequest(
      "the contract does not say how a delete names its rule (operations.delete.identifyBy is null), so nothing was deleted",
    );
  }
  const ruleId = ruleIdOf(place, request, names, {});
  return route.operation === "delete" ? operations.delete(ruleId) : operations.get(ruleId);
}

/** 204 and 205 have no body (RFC 9110); every other answer is JSON. */
function answerOf({ status, body }: Outcome): Answer {
  return { status, body: status === 204 || status === 205 ? "" : JSON.stringify(body) };
}

/** The refusal that any failure is answered with; what is not a Refusal is this service's own fault. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const isBusy = error instanceof Error && "errcode" in error && error.errcode === sqliteBusy;
  if (isBusy)
    return new Refusal(503, "BUSY", "another program is writing to the data file", { headers: { "retry-after": "1" } });
  return new Refusal(500, "INTERNAL", "the local rules service failed; its own output says why");
}

const sqliteBusy = 5;
