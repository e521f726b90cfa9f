import { z } from "zod";
import { UnusableResponse } from "../../unusable-response.ts";
import { fieldName, flag, headerName, integer, orNull, pointer, pointerOrNull, says } from "../schema-parts.ts";
import { linksIn } from "./link-header.ts";
import { byUrl, cursorAt, headerIn, type Paging, pagingKind, targetOf, unnamed, urlAt } from "./paging.ts";

const limit = orNull(fieldName).meta(
  says("The query parameter for the page size (limits.pageSize). null: none is sent.", "limit"),
);
/** What ends a list whose responses do not name the next page. */
const end = {
  more: pointerOrNull.meta(
    says("Where the response says true while there is more. null: the first empty page ends the list.", "/hasMore"),
  ),
  total: pointerOrNull.meta(
    says(
      "Where the response says how many rules the list has in all. Nothing is asked past them. null: it does not say.",
      "/meta/total",
    ),
  ),
  shortPage: flag(
    "Whether a page with fewer rules than limits.pageSize is the last one. false: the service may give fewer than it is asked for.",
  ),
};

/** The kinds of pagination, in the order of the published JSON Schema. What a client knows of a kind stands in its entry here alone. */
const kinds = {
  none: pagingKind(
    "none",
    "all rules in one response.",
    {
      complete: flag(
        "Whether a response holds all rules whatever else it says. false: one that counts more rules, or names a next page, is refused.",
      ),
    },
    () => ({ ...unnamed, parameters: {}, endsWith: "its only page", canShift: false, ask: () => ({}) }),
  ),
  cursor: pagingKind(
    "cursor",
    "each response has the cursor of the next page.",
    {
      limit,
      cursor: fieldName.default("cursor").meta(says("The query parameter that carries the cursor.", "after")),
      next: pointer.meta(
        says('Where the response has the next cursor. Where it is absent, null or "", the list ends.', "/nextCursor"),
      ),
      more: pointerOrNull.meta(
        says(
          "Where the response says true while there is more. null: a response without a cursor ends the list.",
          "/more",
        ),
      ),
    },
    ({ limit, cursor, next: pointer }) => ({
      parameters: { limit, cursor },
      namedBy: { pointer },
      isByUrl: false,
      endsWith: "a page that names no other",
      canShift: false,
      ask: ({ following }) => (following === undefined ? {} : { parameters: [[cursor, following]] }),
      next: ({ json }) => cursorAt(json, pointer),
    }),
  ),
  page: pagingKind(
    "page",
    "pages have numbers.",
    {
      limit,
      page: fieldName.default("page").meta(says("The query parameter that carries the page's number.", "pageNumber")),
      first: integer({ min: 0, max: 1, default: 1 }).meta(says("The number of the first page.", 0)),
      ...end,
    },
    ({ limit, page, first }) => ({
      parameters: { limit, page },
      ...unnamed,
      endsWith: "an empty page",
      canShift: true,
      ask: ({ number }) => ({ parameters: [[page, first + number - 1]] }),
    }),
  ),
  offset: pagingKind(
    "offset",
    "each request says how many rules to pass over.",
    {
      limit,
      offset: fieldName
        .default("offset")
        .meta(says("The query parameter that carries how many rules to pass over.", "skip")),
      ...end,
    },
    ({ limit, offset }) => ({
      parameters: { limit, offset },
      ...unnamed,
      endsWith: "an empty page",
      canShift: true,
      ask: ({ passed }) => ({ parameters: [[offset, passed]] }),
    }),
  ),
  lastId: pagingKind(
    "lastId",
    "each request has the id of the last rule of the page before it.",
    {
      limit,
      cursor: fieldName
        .default("starting_after")
        .meta(says("The query parameter that carries the id of the last rule.", "after")),
      ...end,
    },
    ({ limit, cursor }) => ({
      parameters: { limit, cursor },
      ...unnamed,
      endsWith: "an empty page",
      canShift: false,
      ask: ({ following }) => (following === undefined ? {} : { parameters: [[cursor, following]] }),
      next: ({ lastRuleId }) => lastRuleId,
    }),
  ),
  link: pagingKind(
    "link",
    'each response has the URL of the next page in its header Link, with rel="next" (RFC 8288).',
    { limit },
    ({ limit }) => ({
      ...byUrl,
      parameters: { limit },
      namedBy: { header: "link" },
      next: ({ headers, here }) => {
        const links = linksIn(headerIn(headers, "link"));
        if (links === undefined) throw new UnusableResponse("the header Link is none (RFC 8288)");
        return targetOf(links.find(({ isNext }) => isNext)?.url, "of the header Link", here);
      },
    }),
  ),
  header: pagingKind(
    "header",
    "each response has the URL of the next page in a header of its own.",
    {
      limit,
      header: headerName.meta(
        says(
          "The response header that has the URL of the next page. Where it is absent or empty, the list ends.",
          "Next-Page",
        ),
      ),
    },
    ({ limit, header }) => ({
      ...byUrl,
      parameters: { limit },
      namedBy: { header: header.toLowerCase() },
      next: ({ headers, here }) => targetOf(headerIn(headers, header), `in the header ${header}`, here),
    }),
  ),
  url: pagingKind(
    "url",
    "each response has the URL of the next page in its body.",
    {
      limit,
      url: pointer.meta(
        says(
          'Where the response has the URL of the next page. Where it is absent, null or "", the list ends.',
          "/links/next",
        ),
      ),
    },
    ({ limit, url: pointer }) => ({
      ...byUrl,
      parameters: { limit },
      namedBy: { pointer },
      next: ({ json, here }) => targetOf(urlAt(json, pointer), `at ${pointer}`, here),
    }),
  ),
};

const { none, ...paged } = kinds;
const schemas = Object.values(paged).map(({ schema }) => schema);

/** The schema of `operations.list.pagination`: how a list comes in pages. */
export const pagination = z.discriminatedUnion("type", [none.schema, ...schemas]);

/** How a list comes in pages, by its contract. */
export type Pagination = z.output<typeof pagination>;

type OfKind = { readonly [Kind in Pagination["type"]]: Extract<Pagination, { type: Kind }> };

/** A table with one function for each kind of pagination. The compiler refuses a table that lacks a kind. */
export type ByKind<Result> = { readonly [Kind in keyof OfKind]: (by: OfKind[Kind]) => Result };

/** Calls the function of `table` for the kind of a pagination. */
export function byKind<Result>(table: ByKind<Result>, by: Pagination): Result {
  return call(by.type, by);

  function call<Kind extends keyof OfKind>(kind: Kind, of: OfKind[Kind]): Result {
    return table[kind](of);
  }
}

/** Returns how a client reads a list with this pagination. */
export function pagingOf(by: Pagination): Paging {
  return byKind(kinds, by);
}
