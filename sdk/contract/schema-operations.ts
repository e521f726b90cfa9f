import { z } from "zod";
import { pagination } from "./pagination/kinds.ts";
import {
  fieldName,
  fixed,
  flag,
  identifyBy,
  listOf,
  oneOf,
  orNull,
  path,
  pointer,
  pointerOrRoot,
  reading,
  says,
  sending,
  statuses,
  strict,
} from "./schema-parts.ts";

const bodyAt = pointerOrRoot.meta(
  says('Where in the request body the definition stands. "": the definition is the whole body.', "/rule"),
);

const sentAs = z
  .record(fieldName, fieldName)
  .default({})
  .meta(
    says(
      "Fields at the top of a definition that the request has under another name: the name that a reading has, and the one that is sent. Programs, files and reports have the former.",
      { algorithm_data: "algorithm" },
    ),
  );

// Documented by the seed, section 4.
const create = strict({
  method: oneOf(["POST", "PUT"]).meta(says("The HTTP method.", "PUT")),
  path: path.default("/api/v1/merchants/rules").meta({ examples: ["/v2/merchants/{merchantId}/rules"] }),
  ...fixed,
  ...sending,
  identifyBy: orNull(identifyBy).meta(
    says(
      "How the request gives the rule the id that the client chooses. The id comes from the stack, the resource and the key, so a create may be sent again, and one GET finds what a killed run has made. null: the service chooses ids.",
      { in: "body", name: "id" },
    ),
  ),
  idFormat: z
    .string()
    .regex(/^[\w.~-]*\{(uuid|hex)\}[\w.~-]*$/, {
      error: "allowed: {uuid} or {hex}, with letters, digits, -, ., _ and ~ around it",
    })
    .default("{uuid}")
    .meta(
      says(
        "The form of such an id. {uuid}: a UUID of version 5. {hex}: 32 hexadecimal digits. Text around it stays as it is.",
        "rule-{hex}",
      ),
    ),
  bodyAt,
  sentAs,
  success: statuses.default([201]),
});

// Documented by the seed, section 4.
const get = strict({
  ...reading,
  path: path
    .default("/api/v1/merchants/rules/{ruleId}")
    .meta({ examples: ["/v2/merchants/{merchantId}/rules/{ruleId}"] }),
  lagMs: orNull(z.int().min(0).max(600_000)).meta(
    says(
      "How long after a write a read may still show what was before, in milliseconds. 0: not at all. What does not show a write is read once more after it. null: that of the list, or a second.",
      500,
    ),
  ),
});

// Documented by the seed, section 4, but for identifyBy.
const remove = strict({
  method: oneOf(["DELETE", "POST"]).meta(says("The HTTP method.", "POST")),
  path: path.default("/api/v1/merchants/rules").meta({ examples: ["/v2/merchants/{merchantId}/rules"] }),
  ...fixed,
  ...sending,
  identifyBy: orNull(identifyBy).meta(
    says(
      "How the request names the rule. The specification does not say it, and it is never guessed. null: nothing can be deleted or replaced.",
      { in: "query", name: "ruleId" },
    ),
  ),
  readAfter: flag("Whether to read the rule once more after a delete. false: an answer with success is believed."),
  success: statuses.default([200]),
});

const version = z.union([
  strict({
    etag: z
      .literal(true)
      .meta(
        says(
          "The answer to a GET has the version in its header ETag, and the update sends it in If-Match (RFC 9110). A weak one (W/) is not sent, for it matches nothing: the GET just before the update is all that guards it then.",
          true,
        ),
      ),
  }),
  strict({
    at: pointer.meta(
      says(
        "The rule has its version in a field, which the update sends back. List it in rule.readOnly, too.",
        "/version",
      ),
    ),
  }),
]);

const update = strict({
  method: oneOf(["PUT", "PATCH", "POST"]).meta(says("The HTTP method.", "PATCH")),
  path: path.meta({ examples: ["/api/v1/merchants/rules/{ruleId}"] }),
  ...fixed,
  ...sending,
  identifyBy: identifyBy
    .default({ in: "path", name: "ruleId" })
    .meta(says("How the request names the rule.", { in: "body", name: "id" })),
  body: orNull(z.enum(["declared", "changes", "merged"])).meta(
    says(
      "What the request sends. declared: the definition; the service may erase fields that it does not declare. changes: the top-level fields that differ, objects laid over the live ones. merged: the live rule, less what the service sets and what is declared no more, with the definition laid over it, in depth. null: changes by PATCH, else merged; and declared where no operation reads one rule.",
      "declared",
    ),
  ),
  omit: listOf(pointer).meta(
    says(
      "What of the live rule the request does not send back, where body is changes or merged, beside its id and what rule.readOnly names.",
      ["/statistics"],
    ),
  ),
  removal: z
    .literal(["omit", null, "none"])
    .default("omit")
    .meta(
      says(
        "How an update removes a field that was declared before and is no more. omit: the body does not have it. null: the body has it as null, at any depth (JSON Merge Patch, RFC 7396). none: no update removes a field, and the rule is replaced.",
        null,
      ),
    ),
  id: oneOf(["kept", "new"]).meta(
    says(
      "Whether a rule keeps its id when it is updated. new: the answer has the id that the rule has from then on, and the rule with the id before is gone, or dead by rule.gone. A service that gives a new id for some changes alone is new, too.",
      "new",
    ),
  ),
  version: orNull(version).describe(
    "How the update says which version of the rule it changes. The rule is read before, and compared with the state: what somebody changed meanwhile is never overwritten unseen. null: the last write wins.",
  ),
  bodyAt,
  sentAs,
  success: statuses.default([200]),
});

// The seed names the operation, without a path.
const list = strict({
  ...reading,
  method: oneOf(["GET", "POST"]).meta(
    says("The HTTP method. POST: what asks for a page is a field of the body, not a query parameter.", "POST"),
  ),
  ...sending,
  path: path.meta({ examples: ["/api/v1/merchants/rules"] }),
  items: pointer.meta(
    says('Where the response has the array of rules. "": the response itself is the array.', "/rules"),
  ),
  empty: listOf(z.literal([null, "absent", "noContent"])).meta(
    says(
      "What the service answers in place of an array without rules. null: null stands there. absent: nothing does. noContent: 204 without a body. Without it such an answer is an error.",
      [null],
    ),
  ),
  envelope: pointerOrRoot.meta(
    says('Where an item of that array has the rule. "": the item itself is the rule.', "/rule"),
  ),
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

/** The operations of the service. Defaults are what the seed documents. */
export const operations = strict({
  create: create.prefault({}).describe("Makes a rule. The specification documents it."),
  get: get
    .nullable()
    .prefault({})
    .describe(
      "Reads one rule. The specification documents it. null: the service has no such operation, and a rule is looked for in the list.",
    ),
  delete: remove
    .prefault({})
    .describe("Deletes a rule. The specification documents it, but not how the request names the rule."),
  update: orNull(update).describe(
    "Changes a rule in place. The specification names it as PUT, without a path. null: a change replaces the rule.",
  ),
  list: orNull(list).describe(
    "Reads all rules. The specification names it as GET, without a path. null: each rule is read by a GET of its own; a rule whose id was lost is not found; unmanaged rules cannot be listed.",
  ),
});
