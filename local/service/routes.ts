import type { FixedParts } from "../../sdk/client/request-template.ts";
import { type Contract, type IdentifyBy, identityOperation, type Transition } from "../../sdk/contract/index.ts";
import type { SentBody } from "./body.ts";
import { pageParameters } from "./pagination.ts";
import { badRequest, type RefusalDetail } from "./refusal.ts";
import type { IncomingRequest } from "./request.ts";
import type { ServedOperation } from "./request-log.ts";
import { canonicalPath, type TemplateMatcher, templateMatcher } from "./template.ts";

/** An operation of the contract, ready to be compared with a request. */
export interface Route {
  readonly operation: Exclude<ServedOperation, "unknown">;
  readonly method: string;
  readonly path: TemplateMatcher;
  readonly headers: readonly (readonly [string, TemplateMatcher])[];
  readonly query: readonly (readonly [string, TemplateMatcher])[];
  /** The place where the request names its rule, when that is not the path alone. */
  readonly place: IdentifyBy | null;
  /** Query parameters beside the fixed ones. */
  readonly freeQuery: readonly string[];
  /** How bodies are written, and what they hold besides. */
  readonly body: SentBody;
  /** Of a request that gives one field one value. */
  readonly transition?: Transition;
}

/** Returns the routes of every operation that a contract has. `values`: of its parameters. */
export function routesOf({ operations, rule, auth }: Contract, values: Readonly<Record<string, string>>): Route[] {
  const { create, get, update, list } = operations;
  const route = (
    operation: Route["operation"],
    spec: FixedParts | null,
    place: IdentifyBy | null = null,
    freeQuery: readonly string[] = [],
  ): Route[] => {
    if (spec === null) return [];
    const type = Object.entries(spec.headers).find(([name]) => name.toLowerCase() === "content-type");
    const { method, encoding = "json", fields: all = {} } = spec;
    // The token operation's own are judged with the credentials.
    const fields = operation === "token" ? {} : all;
    const fixed = (texts: Readonly<Record<string, string>>): [string, TemplateMatcher][] =>
      Object.entries(texts).map(([name, text]) => [name, templateMatcher(text, { values, place: "value" })]);
    return [
      {
        operation,
        method,
        path: templateMatcher(spec.path, { values, place: "path" }),
        headers: fixed(spec.headers),
        query: fixed(spec.query),
        place,
        freeQuery: place?.in === "query" ? [place.name, ...freeQuery] : freeQuery,
        body: { encoding, hasOwnType: type !== undefined, fields, values },
      },
    ];
  };
  return [
    ...route("create", create, create.identifyBy),
    ...route("get", get, { in: "path", name: "ruleId" }),
    ...route("list", list, null, list?.method !== "GET" ? [] : pageParameters(list.pagination)),
    ...route("update", update, update?.identifyBy ?? null),
    ...route("delete", operations.delete, operations.delete.identifyBy),
    ...rule.transitions.flatMap((transition) =>
      route("transition", transition).map((each) => ({ ...each, transition })),
    ),
    ...route("token", auth.token),
    ...route("identity", identityOperation(auth)),
  ];
}

/** A route that a request is on, and what its path names. */
export interface Match {
  readonly route: Route;
  readonly names: Readonly<Record<string, string>>;
}

/** Finds the route of a request; or else the methods that its path has, none when no operation has such a path. */
export function routeOf(
  routes: readonly Route[],
  request: IncomingRequest,
): { match: Match } | { allow: readonly string[] } {
  const path = canonicalPath(request.path);
  if (path === undefined) return { allow: [] };
  const matches = routes.flatMap((route): Match[] => {
    const names = route.path.match(path);
    return names === undefined ? [] : [{ route, names }];
  });
  const candidates = matches.filter(({ route }) => route.method === request.method);
  const [first, ...others] = candidates;
  if (first === undefined) return { allow: [...new Set(matches.map(({ route }) => route.method))] };
  if (others.length === 0) return { match: first };
  // Several operations on one method and path: the path that says more, then what else tells them apart.
  const better = (best: Match, next: Match): Match =>
    isBetter(fitness(next, request), fitness(best, request)) ? next : best;
  return { match: others.reduce(better, first) };
}

/** Rates how well a route fits a request: fixed characters of its path, whether the rest fits, how much of it there is. */
function fitness({ route }: Match, request: IncomingRequest): [number, number, number] {
  const { place } = route;
  const rest = [
    ...route.headers.map(([name, value]) => value.match(request.header(name) ?? "") !== undefined),
    ...route.query.map(([name, value]) => value.match(request.query.get(name) ?? "") !== undefined),
    ...(place === null ? [] : [isPlaced(place, request)]),
  ];
  return [route.path.literal, rest.every(Boolean) ? 1 : 0, rest.length];
}

function isPlaced({ in: part, name }: IdentifyBy, request: IncomingRequest): boolean {
  if (part === "path") return true;
  if (part === "query") return request.query.has(name);
  if (part === "header") return request.header(name) !== undefined;
  // Good enough to choose a route by; the body is judged when the route is known.
  const bytes = "bytes" in request.body ? request.body.bytes : Buffer.alloc(0);
  return [JSON.stringify(name), `${encodeURIComponent(name)}=`].some((each) => bytes.includes(each));
}

function isBetter(a: readonly number[], b: readonly number[]): boolean {
  const differs = a.findIndex((value, index) => value !== b[index]);
  return differs !== -1 && (a[differs] ?? 0) > (b[differs] ?? 0);
}

/** Refuses headers and a query that are not as the contract says. @throws Refusal 400, which names all faults */
export function demandFixedParts({ route }: Match, request: IncomingRequest): void {
  const faults = [
    ...route.headers.flatMap(([name, value]) => faultOf(`header ${name}`, request.header(name), value)),
    ...route.query.flatMap(([name, value]) => faultOf(`query ${name}`, request.query.get(name) ?? undefined, value)),
    ...queryFaults(route, request.query),
  ];
  if (faults.length === 0) return;
  throw badRequest(faults.map(({ path, reason }) => `${path}: ${reason}`).join("; "), faults);
}

function faultOf(path: string, found: string | undefined, allowed: TemplateMatcher): RefusalDetail[] {
  if (found !== undefined && allowed.match(found) !== undefined) return [];
  const shown = found === undefined ? "nothing" : JSON.stringify(found);
  return [{ path, reason: `found ${shown}; allowed: ${allowed.template}` }];
}

function queryFaults({ query, freeQuery }: Route, sent: URLSearchParams): RefusalDetail[] {
  const known = [...query.map(([name]) => name), ...freeQuery];
  const allowed = known.length === 0 ? "" : `; allowed: ${known.join(", ")}`;
  return [...new Set(sent.keys())].flatMap((name) => {
    const path = `query ${name}`;
    if (!known.includes(name)) return [{ path, reason: `this operation has no such parameter${allowed}` }];
    return sent.getAll(name).length > 1 ? [{ path, reason: "sent more than once" }] : [];
  });
}
