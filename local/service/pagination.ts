import type { Contract, Pagination } from "../../sdk/contract/index.ts";
import { type Json, withValueAt } from "../../sdk/json/index.ts";
import { badRequest } from "./refusal.ts";
import type { IncomingRequest } from "./request.ts";

/** The part of the list that a request asks for. */
export type PageRequest =
  | { readonly kind: "all" }
  | { readonly kind: "after"; readonly sequence: number; readonly limit: number }
  | { readonly kind: "afterRule"; readonly ruleId: string; readonly limit: number }
  | { readonly kind: "from"; readonly offset: number; readonly limit: number };

/** Rules in a page when the client asks for no size, as with services of this family. */
const defaultLimit = 20;

/** The query parameter in the URL of a next page. Clients take the URL as it is. */
export const ownCursor = "page_cursor";

/** The query parameters that ask for a page. */
export function pageParameters(pagination: Pagination): string[] {
  if (pagination.type === "none") return [];
  const own = pageParameter(pagination);
  return pagination.limit === null ? [own] : [pagination.limit, own];
}

function pageParameter(pagination: Exclude<Pagination, { type: "none" }>): string {
  switch (pagination.type) {
    case "cursor":
    case "lastId":
      return pagination.cursor;
    case "page":
      return pagination.page;
    case "offset":
      return pagination.offset;
    case "link":
    case "header":
    case "url":
      return ownCursor;
  }
}

/** @throws Refusal 400 for a limit, page, offset or cursor that is none. */
export function pageRequest(
  pagination: Pagination,
  query: URLSearchParams,
  { pageSize }: Contract["limits"],
): PageRequest {
  if (pagination.type === "none") return { kind: "all" };
  const limit = limitOf(pagination.limit === null ? null : query.get(pagination.limit), pageSize);
  switch (pagination.type) {
    case "lastId": {
      const ruleId = query.get(pagination.cursor);
      return ruleId === null ? { kind: "after", sequence: 0, limit } : { kind: "afterRule", ruleId, limit };
    }
    case "cursor":
    case "link":
    case "header":
    case "url": {
      const name = pageParameter(pagination);
      const cursor = query.get(name);
      return { kind: "after", sequence: cursor === null ? 0 : sequenceOf(cursor, name), limit };
    }
    case "page": {
      const { page: name, first } = pagination;
      const page = wholeNumber(query.get(name) ?? String(first), first, Number.MAX_SAFE_INTEGER);
      if (page === undefined) throw badRequest(`${name} must be a whole number from ${first} on`);
      return { kind: "from", offset: (page - first) * limit, limit };
    }
    case "offset": {
      const offset = wholeNumber(query.get(pagination.offset) ?? "0", 0, Number.MAX_SAFE_INTEGER);
      if (offset === undefined) throw badRequest(`${pagination.offset} must be a whole number from 0 on`);
      return { kind: "from", offset, limit };
    }
  }
}

/** The cursor that continues after a rule. It names a place in the order of making, so deletes and inserts do not shift it. */
export function cursorAfter(sequence: number): string {
  return Buffer.from(`after:${sequence}`).toString("base64url");
}

/** The parts of an answer that name the next page. */
export interface NextPage {
  readonly body: Json;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A page with what the contract says of the page after it.
 * @param place the sequence of the page's last rule, whether there is more after it, and what counts all rules
 */
export function withNextPage(
  body: Json,
  {
    sequence,
    more,
    total,
  }: { readonly sequence: number | undefined; readonly more: boolean; readonly total: () => number },
  pagination: Pagination,
  request: Pick<IncomingRequest, "path" | "query" | "header">,
): NextPage {
  if (pagination.type === "none") return { body, headers: {} };
  const cursor = more && sequence !== undefined ? cursorAfter(sequence) : undefined;
  switch (pagination.type) {
    case "page":
    case "offset":
    case "lastId": {
      const counted = pagination.total === null ? body : withValueAt(body, pagination.total, total());
      return { body: withMore(counted, pagination.more, more), headers: {} };
    }
    case "cursor":
      return {
        body: withMore(withValueAt(body, pagination.next, cursor ?? null), pagination.more, more),
        headers: {},
      };
    case "url": {
      const url = cursor === undefined ? null : request.path + queryWith(request.query, cursor);
      return { body: withValueAt(body, pagination.url, url), headers: {} };
    }
    case "link":
      return {
        body,
        headers: cursor === undefined ? {} : { link: `<${queryWith(request.query, cursor)}>; rel="next"` },
      };
    case "header": {
      const url =
        cursor === undefined
          ? ""
          : `http://${request.header("host")}${request.path}${queryWith(request.query, cursor)}`;
      return { body, headers: url === "" ? {} : { [pagination.header]: url } };
    }
  }
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

function limitOf(text: string | null, largest: number): number {
  if (text === null) return Math.min(defaultLimit, largest);
  const limit = wholeNumber(text, 1, largest);
  if (limit === undefined) throw badRequest(`the page size must be a whole number from 1 to ${largest}`);
  return limit;
}

function wholeNumber(text: string, least: number, most: number): number | undefined {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return number >= least && number <= most ? number : undefined;
}
