import { z } from "zod";
import { pagination } from "./pagination/kinds.ts";
import { flag, orNull, path, pointer, reading, says, sending, strict } from "./schema-parts.ts";

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
  summaries: flag(
    "Whether the items lack fields of the rule. true: each rule of the list is read by a GET of its own.",
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
