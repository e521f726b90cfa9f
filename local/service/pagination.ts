import type { Contract, Pagination } from "../../sdk/contract/index.ts";
import { badRequest } from "./refusal.ts";

/** The part of the list that a request asks for. */
export type PageRequest =
  | { readonly kind: "all" }
  | { readonly kind: "after"; readonly sequence: number; readonly limit: number }
  | { readonly kind: "from"; readonly offset: number; readonly limit: number };

/** Rules in a page when the client asks for no size, as with services of this family. */
const defaultLimit = 20;

/** The query parameters that ask for a page. */
export function pageParameters(pagination: Pagination): string[] {
  if (pagination.type === "none") return [];
  const own =
    pagination.type === "cursor" ? pagination.cursor : pagination.type === "page" ? pagination.page : pagination.offset;
  return pagination.limit === null ? [own] : [pagination.limit, own];
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
    case "cursor": {
      const cursor = query.get(pagination.cursor);
      return { kind: "after", sequence: cursor === null ? 0 : sequenceOf(cursor, pagination.cursor), limit };
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
