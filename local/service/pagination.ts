import { type ByKind, byKind, type Contract, type Pagination } from "../../sdk/contract/index.ts";
import { type Json, withValueAt } from "../../sdk/json/index.ts";
import { badRequest } from "./refusal.ts";
import type { IncomingRequest } from "./request.ts";

/** The part of the list that a request asks for. */
export type PageRequest =
  | { readonly kind: "all" }
  | { readonly kind: "after"; readonly sequence: number; readonly limit: number }
  | { readonly kind: "afterRule"; readonly ruleId: string; readonly limit: number }
  | { readonly kind: "from"; readonly offset: number; readonly limit: number };

/** What stands around a page in its list. */
interface PageContext {
  /** True where rules follow the page. */
  readonly more: boolean;
  /** The cursor that continues behind the page; undefined where no rule follows. */
  readonly cursor: string | undefined;
  /** Counts all rules of the list. */
  readonly total: () => number;
  readonly request: Pick<IncomingRequest, "path" | "query" | "header">;
}

/** A page with what names the page after it. */
export interface NextPage {
  readonly body: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How this service gives a list page by page. */
export interface ServedPages {
  /** The parameter that asks for another page than the first; undefined where there is one page alone. */
  readonly parameter: string | undefined;
  /** Reads which part of the list a query asks for. @throws Refusal 400 for a page, offset or cursor that is none */
  request(query: URLSearchParams, limit: number): PageRequest;
  /** Adds to the body of a page, or to its headers, what names the page after it. */
  withNext(body: Json, context: PageContext): NextPage;
  /** Decides whether a query asks for another page than the first. */
  isLater(query: URLSearchParams): boolean;
  /** Returns the body of the first page with what leads to that page again; undefined where a body cannot say so. */
  again(body: Json): Json | undefined;
}

const served: ByKind<ServedPages> = {
  none: () => ({
    parameter: undefined,
    request: () => ({ kind: "all" }),
    withNext: (body) => ({ body }),
    isLater: () => false,
    again: () => undefined,
  }),

  cursor: ({ cursor: name, next, more }) => ({
    ...byCursor(name),
    withNext: (body, { cursor, more: has }) => ({ body: withMore(withValueAt(body, next, cursor ?? null), more, has) }),
    again: (body) => withMore(withValueAt(body, next, cursorAfter(0)), more, true),
  }),

  page: (by) => ({
    ...counted(by),
    ...byNumber(by.page, by.first, (page, limit) => (page - by.first) * limit),
  }),

  offset: (by) => ({ ...counted(by), ...byNumber(by.offset, 0, (offset) => offset) }),

  lastId: (by) => ({
    ...counted(by),
    parameter: by.cursor,
    request: (query, limit) => {
      const ruleId = query.get(by.cursor);
      return ruleId === null ? { kind: "after", sequence: 0, limit } : { kind: "afterRule", ruleId, limit };
    },
    isLater: (query) => query.has(by.cursor),
  }),

  link: () => ({
    ...byUrl,
    withNext: (body, { cursor, request }) =>
      cursor === undefined
        ? { body }
        : { body, headers: { link: `<${queryWith(request.query, cursor)}>; rel="next"` } },
  }),

  header: ({ header }) => ({
    ...byUrl,
    withNext: (body, { cursor, request }) => {
      if (cursor === undefined) return { body };
      const url = `http://${request.header("host")}${request.path}${queryWith(request.query, cursor)}`;
      return { body, headers: { [header]: url } };
    },
  }),

  url: ({ url: pointer }) => ({
    ...byUrl,
    withNext: (body, { cursor, request }) => {
      const url = cursor === undefined ? null : request.path + queryWith(request.query, cursor);
      return { body: withValueAt(body, pointer, url) };
    },
  }),
};

type Asked = Pick<ServedPages, "parameter" | "request" | "isLater">;

/** Serves pages that a number names, from `first` on. `offsetOf` returns how many rules are before one. */
function byNumber(parameter: string, first: number, offsetOf: (number: number, limit: number) => number): Asked {
  return {
    parameter,
    request: (query, limit) => {
      const number = integer(query.get(parameter) ?? String(first), first, Number.MAX_SAFE_INTEGER);
      if (number === undefined) throw badRequest(`${parameter} must be a whole number from ${first} on`);
      return { kind: "from", offset: offsetOf(number, limit), limit };
    },
    isLater: (query) => Number(query.get(parameter) ?? first) > first,
  };
}

/** Serves pages after a cursor of this service. */
function byCursor(parameter: string): Asked {
  return {
    parameter,
    request: (query, limit) => {
      const cursor = query.get(parameter);
      return { kind: "after", sequence: cursor === null ? 0 : sequenceOf(cursor, parameter), limit };
    },
    isLater: (query) => query.has(parameter),
  };
}

/** The query parameter in the URL of a next page. Clients take the URL as it is. */
const ownCursor = "page_cursor";

/** Pages named by a URL. The URL of the page after the first one leads to the first one again. */
const byUrl = { ...byCursor(ownCursor), again: (body: Json): Json => body };

/** Serves pages whose responses may say how many rules there are, and whether there are more. */
function counted(by: Record<"more" | "total", string | null>): Pick<ServedPages, "withNext" | "again"> {
  return {
    withNext: (body, { more, total }) => ({
      body: withMore(by.total === null ? body : withValueAt(body, by.total, total()), by.more, more),
    }),
    again: (body) => (by.more === null ? undefined : withValueAt(body, by.more, true)),
  };
}

/** Rules in a page when the client asks for no size, as with services of this family. */
const defaultLimit = 20;

/** Returns the names of the parameters that ask for a page. */
export function pageParameters(pagination: Pagination): string[] {
  return [limitName(pagination), servedPages(pagination).parameter].filter((name) => name !== undefined);
}

/** Reads which part of the list a query asks for. @throws Refusal 400 for a limit, page, offset or cursor that is none */
export function pageRequest(
  pagination: Pagination,
  query: URLSearchParams,
  { pageSize }: Contract["limits"],
): PageRequest {
  const name = limitName(pagination);
  const asked = name === undefined ? null : query.get(name);
  const limit = asked === null ? Math.min(defaultLimit, pageSize) : integer(asked, 1, pageSize);
  if (limit === undefined) throw badRequest(`the page size must be a whole number from 1 to ${pageSize}`);
  return servedPages(pagination).request(query, limit);
}

/** Returns how this service gives a list with this pagination. */
export function servedPages(pagination: Pagination): ServedPages {
  return byKind(served, pagination);
}

/** Adds to the body of a page, or to its headers, what names the page after it. `sequence`: of the page's last rule. */
export function withNextPage(
  body: Json,
  { sequence, ...context }: Omit<PageContext, "cursor"> & { readonly sequence: number | undefined },
  pagination: Pagination,
): NextPage {
  const cursor = context.more && sequence !== undefined ? cursorAfter(sequence) : undefined;
  return servedPages(pagination).withNext(body, { ...context, cursor });
}

function limitName(pagination: Pagination): string | undefined {
  return ("limit" in pagination ? pagination.limit : null) ?? undefined;
}

/** Returns the cursor behind a rule. It names a place in the order of making, so deletes and inserts do not shift it. */
function cursorAfter(sequence: number): string {
  return Buffer.from(`after:${sequence}`).toString("base64url");
}

function withMore(body: Json, at: string | null, more: boolean): Json {
  return at === null ? body : withValueAt(body, at, more);
}

function queryWith(query: URLSearchParams, cursor: string): string {
  const next = new URLSearchParams(query);
  next.set(ownCursor, cursor);
  return `?${next}`;
}

function sequenceOf(cursor: string, name: string): number {
  const sequence = /^after:(\d+)$/.exec(Buffer.from(cursor, "base64url").toString("latin1"))?.[1];
  const number = Number(sequence ?? Number.NaN);
  if (!Number.isSafeInteger(number) || cursorAfter(number) !== cursor)
    throw badRequest(`${name} is not a cursor of this service`);
  return number;
}

function integer(text: string, least: number, most: number): number | undefined {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return number >= least && number <= most ? number : undefined;
}
