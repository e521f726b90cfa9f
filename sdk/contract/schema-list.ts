import { z } from "zod";
import {
  fieldName,
  headerName,
  orNull,
  path,
  pointer,
  pointerOrNull,
  reading,
  says,
  sending,
  strict,
} from "./schema-parts.ts";

const limit = orNull(fieldName).meta(
  says("The query parameter for the page size (limits.pageSize). null: none is sent.", "limit"),
);
const more = pointerOrNull.meta(
  says("Where the response says true while there is more. null: the first empty page ends the list.", "/hasMore"),
);
const total = pointerOrNull.meta(
  says(
    "Where the response says how many rules the list has in all. Nothing is asked past them. null: it does not say.",
    "/meta/total",
  ),
);
const shortPage = z
  .boolean()
  .default(false)
  .meta(
    says(
      "Whether a page with fewer rules than limits.pageSize is the last one. false: the service may give fewer than it is asked for.",
      true,
    ),
  );
const typeOfPages = "How the list comes in pages.";

const pagination = z.discriminatedUnion("type", [
  strict({
    type: z.literal("none").meta(says(`${typeOfPages} none: all rules in one response.`, "none")),
    complete: z
      .boolean()
      .default(false)
      .meta(
        says(
          "Whether a response holds all rules whatever else it says. false: one that counts more rules, or names a next page, is refused.",
          true,
        ),
      ),
  }),
  strict({
    type: z
      .literal("cursor")
      .meta(says(`${typeOfPages} cursor: each response has the cursor of the next page.`, "cursor")),
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
  }),
  strict({
    type: z.literal("page").meta(says(`${typeOfPages} page: pages have numbers.`, "page")),
    limit,
    page: fieldName.default("page").meta(says("The query parameter that carries the page's number.", "pageNumber")),
    first: z.int().min(0).max(1).default(1).meta(says("The number of the first page.", 0)),
    more,
    total,
    shortPage,
  }),
  strict({
    type: z
      .literal("offset")
      .meta(says(`${typeOfPages} offset: each request says how many rules to pass over.`, "offset")),
    limit,
    offset: fieldName
      .default("offset")
      .meta(says("The query parameter that carries how many rules to pass over.", "skip")),
    more,
    total,
    shortPage,
  }),
  strict({
    type: z
      .literal("lastId")
      .meta(says(`${typeOfPages} lastId: each request has the id of the last rule of the page before it.`, "lastId")),
    limit,
    cursor: fieldName
      .default("starting_after")
      .meta(says("The query parameter that carries the id of the last rule.", "after")),
    more,
    total,
    shortPage,
  }),
  strict({
    type: z
      .literal("link")
      .meta(
        says(
          `${typeOfPages} link: each response has the URL of the next page in its header Link, with rel="next" (RFC 8288).`,
          "link",
        ),
      ),
    limit,
  }),
  strict({
    type: z
      .literal("header")
      .meta(
        says(`${typeOfPages} header: each response has the URL of the next page in a header of its own.`, "header"),
      ),
    limit,
    header: headerName.meta(
      says(
        "The response header that has the URL of the next page. Where it is absent or empty, the list ends.",
        "Next-Page",
      ),
    ),
  }),
  strict({
    type: z
      .literal("url")
      .meta(says(`${typeOfPages} url: each response has the URL of the next page in its body.`, "url")),
    limit,
    url: pointer.meta(
      says(
        'Where the response has the URL of the next page. Where it is absent, null or "", the list ends.',
        "/links/next",
      ),
    ),
  }),
]);

/** The reading of all rules. The seed names the operation, without a path. */
export const list = strict({
  ...reading,
  method: z
    .enum(["GET", "POST"])
    .default("GET")
    .meta(says("The HTTP method. POST: what asks for a page is a field of the body, not a query parameter.", "POST")),
  ...sending,
  path: path.meta({ examples: ["/api/v1/merchants/rules"] }),
  items: pointer.meta(
    says('Where the response has the array of rules. "": the response itself is the array.', "/rules"),
  ),
  envelope: pointer
    .default("")
    .meta(says('Where an item of that array has the rule. "": the item itself is the rule.', "/rule")),
  summaries: z
    .boolean()
    .default(false)
    .meta(
      says("Whether the items lack fields of the rule. true: each rule of the list is read by a GET of its own.", true),
    ),
  pagination: pagination
    .default({ type: "none", complete: false })
    .meta(says("How the list comes in pages. By default all rules come in one response.", { type: "page" })),
  lagMs: orNull(z.int().min(0).max(600_000)).meta(
    says(
      "How long after a write the list may still show what was before, in milliseconds. 0: not at all. A look-up for a create waits for it. null: not known, so a look-up that finds nothing proves nothing.",
      2000,
    ),
  ),
});
