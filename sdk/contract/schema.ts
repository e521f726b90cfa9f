import { z } from "zod";
import {
  fieldName,
  fixed,
  headerName,
  headerValue,
  identifyBy,
  orNull,
  path,
  patterns,
  pointer,
  pointerOrNull,
  reading,
  says,
  statuses,
  strict,
} from "./schema-parts.ts";

const bodyAt = pointer
  .default("")
  .meta(says('Where in the request body the definition stands. "": the definition is the whole body.', "/rule"));

// Documented by the seed, section 4.
const create = strict({
  method: z.enum(["POST", "PUT"]).default("POST").meta(says("The HTTP method.", "PUT")),
  path: path.default("/api/v1/merchants/rules").meta({ examples: ["/v2/merchants/{merchantId}/rules"] }),
  ...fixed,
  bodyAt,
  success: statuses.default([201]),
});

// Documented by the seed, section 4.
const get = strict({
  ...reading,
  path: path
    .default("/api/v1/merchants/rules/{ruleId}")
    .meta({ examples: ["/v2/merchants/{merchantId}/rules/{ruleId}"] }),
});

// Documented by the seed, section 4, but for identifyBy.
const remove = strict({
  method: z.enum(["DELETE", "POST"]).default("DELETE").meta(says("The HTTP method.", "POST")),
  path: path.default("/api/v1/merchants/rules").meta({ examples: ["/v2/merchants/{merchantId}/rules"] }),
  ...fixed,
  identifyBy: orNull(identifyBy).meta(
    says(
      "How the request names the rule. The specification does not say it, and it is never guessed. null: nothing can be deleted or replaced.",
      { in: "query", name: "ruleId" },
    ),
  ),
  readAfter: z
    .boolean()
    .default(false)
    .meta(says("Whether to read the rule once more after a delete. false: an answer with success is believed.", true)),
  success: statuses.default([200]),
});

const update = strict({
  method: z.enum(["PUT", "PATCH", "POST"]).default("PUT").meta(says("The HTTP method.", "PATCH")),
  path: path.meta({ examples: ["/api/v1/merchants/rules/{ruleId}"] }),
  ...fixed,
  identifyBy: identifyBy
    .default({ in: "path", name: "ruleId" })
    .meta(says("How the request names the rule.", { in: "body", name: "id" })),
  body: z
    .enum(["declared", "changes", "merged"])
    .default("declared")
    .meta(
      says(
        "What the request sends. declared: the definition; the service may erase fields that it does not declare. changes: the top-level fields that differ, objects laid over the live ones. merged: the live rule with the definition laid over it, in depth.",
        "merged",
      ),
    ),
  omit: z
    .array(pointer)
    .default([])
    .meta(
      says(
        "What of the live rule the request does not send back, where body is changes or merged. Services differ: some refuse what they set themselves, others want their version back. Without it nothing is left out.",
        ["/createdAt", "/updatedAt"],
      ),
    ),
  bodyAt,
  success: statuses.default([200]),
});

const limit = orNull(fieldName).meta(
  says("The query parameter for the page size (limits.pageSize). null: none is sent.", "limit"),
);
const more = pointerOrNull.meta(
  says("Where the response says true while there is more. null: the first empty page ends the list.", "/hasMore"),
);
const typeOfPages = "How the list comes in pages.";

const pagination = z.discriminatedUnion("type", [
  strict({ type: z.literal("none").meta(says(`${typeOfPages} none: all rules in one response.`, "none")) }),
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

const list = strict({
  ...reading,
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
    .default({ type: "none" })
    .meta(says("How the list comes in pages. By default all rules come in one response.", { type: "page" })),
  lagMs: orNull(z.int().min(0).max(600_000)).meta(
    says(
      "How long after a write the list may still show what was before, in milliseconds. 0: not at all. A look-up for a create waits for it. null: not known, so a look-up that finds nothing proves nothing.",
      2000,
    ),
  ),
});

const operations = strict({
  create: create.prefault({}).describe("Makes a rule. The specification documents it."),
  get: get.prefault({}).describe("Reads one rule. The specification documents it."),
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

const marked = strict({
  at: pointer.meta(says("Where a rule says so.", "/status")),
  is: z
    .array(z.union([z.string(), z.number(), z.boolean()]))
    .min(1)
    .meta(says("The values that say so.", ["deleted"])),
});
const markedRules = z.array(marked).default([]);

const owner = strict({
  at: pointer.meta(
    says(
      "Where a rule holds the mark: a text of at most 200 bytes. It must not be a field of the definition.",
      "/metadata/managedBy",
    ),
  ),
});

const rule = strict({
  id: z
    .array(pointer)
    .min(1)
    .default(["/ruleId", "/id"])
    .meta(
      says(
        "Where a response has the rule's id. It is looked for inside the envelope first, then in the whole response. The first pointer that finds something wins.",
        ["/data/id"],
      ),
    ),
  envelope: pointer
    .default("")
    .meta(says('Where a response has the rule. "": the whole response is the rule.', "/data")),
  schema: orNull(z.record(z.string(), z.json())).meta(
    says(
      "JSON Schema of a definition (2020-12, or draft-07 where its $schema says so). A preview names each path that it refuses. null: definitions are not checked.",
      { type: "object", required: ["name"] },
    ),
  ),
  naturalKey: pointerOrNull.meta(
    says(
      "Where a rule has what is unique among a merchant's rules. By it a rule is found whose id was lost. null: such a rule is not found, and adopt needs a ruleId.",
      "/name",
    ),
  ),
  owner: orNull(owner).describe(
    "Where the service can keep whose a rule is. Every create and update writes a mark there. null: none is written, and the service cannot tell owners apart.",
  ),
  gone: markedRules.meta(
    says(
      "Rules that the service still answers after they were deleted. They count as absent. Without it they count as present.",
      [{ at: "/status", is: ["deleted"] }],
    ),
  ),
  foreign: markedRules.meta(
    says(
      "The service's own rules. They are never adopted, changed, deleted or reported as unmanaged. Without it they are like any other rule.",
      [{ at: "/origin", is: ["system"] }],
    ),
  ),
  readOnly: z
    .array(pointer)
    .default(["/createdAt", "/updatedAt"])
    .meta(
      says(
        "What the service itself adds to a rule, beside its id. It does not count where a whole rule is compared (recover), and export leaves it out.",
        ["/createdAt", "/version"],
      ),
    ),
  immutable: patterns
    .default([])
    .meta(
      says(
        "Paths at which a change replaces the rule. A segment * stands for every element or field. Without it a change is an update.",
        ["/name"],
      ),
    ),
  unordered: patterns
    .default([])
    .meta(
      says(
        "Paths of arrays whose order means nothing. A segment * stands for every element or field. Without it another order is a change.",
        ["/conditions"],
      ),
    ),
  secret: patterns
    .default([])
    .meta(
      says(
        "Paths whose values are secrets: never printed, and encrypted in the state. A segment * stands for every element or field. Without it only those values are secrets that the program marks with pulumi.secret.",
        ["/actions/*/apiKey"],
      ),
    ),
});

// Documented by the seed, section 5, as far as its method.
const token = strict({
  method: z.literal("POST").default("POST").meta(says("The HTTP method. No other is allowed.", "POST")),
  path: path.meta({ examples: ["/api/v1/auth/token"] }),
  baseUrl: orNull(z.url({ protocol: /^https?$/ })).meta(
    says(
      "The address of the token operation, where it has one of its own. null: the setting baseUrl.",
      "https://login.example.com",
    ),
  ),
  ...fixed,
  encoding: z.enum(["json", "form"]).default("json").meta(says("How the body is written.", "form")),
  fields: z.record(fieldName, z.string()).meta(
    says("The fields of the body. Values may name {clientId}, {clientSecret} and a {parameter}.", {
      client_id: "{clientId}",
      client_secret: "{clientSecret}",
    }),
  ),
  accessToken: pointer.default("/access_token").meta(says("Where the response has the token.", "/data/token")),
  expiresIn: pointer
    .nullable()
    .default("/expires_in")
    .meta(
      says(
        "Where the response has the token's life, in seconds. null, or nothing there: the token is used until the service refuses it.",
        "/data/expiresIn",
      ),
    ),
  success: statuses.default([200, 201]),
});

const operationOfIdentity = strict({
  ...reading,
  path: path.meta({ examples: ["/api/v1/merchants/me"] }),
  at: pointer.meta(
    says("Where the response says who the credentials are: a text or a whole number that does not change.", "/id"),
  ),
});

const identityClaim = strict({
  claim: pointer.meta(
    says(
      "Where the token itself says who it is for: a pointer into the claims of a JSON Web Token. No request is sent.",
      "/merchant_id",
    ),
  ),
});

const identityClientId = strict({
  clientId: z
    .literal(true)
    .meta(
      says(
        "The client id stands for the merchant. Only where each merchant has one client id that stays: clients are rotated, and may differ by job.",
        true,
      ),
    ),
});

const identity = z.union([operationOfIdentity, identityClaim, identityClientId]);

const tokenFormat = headerValue.refine((text) => text.includes("{token}"), {
  error: 'allowed: a text that contains {token}, such as "Bearer {token}"',
});

const present = strict({
  in: z.literal("header").default("header").meta(says("Where the token goes. Nothing else is allowed.", "header")),
  name: headerName.default("Authorization").meta(says("The name of the header.", "X-Api-Key")),
  format: tokenFormat
    .default("Bearer {token}")
    .meta(says("The value of the header. {token} stands for the token. It may name a {parameter}.", "Token {token}")),
});

const auth = strict({
  // A gap of the seed, section 5.
  present: present
    .nullable()
    .prefault({})
    .describe("How a request carries the token. null: requests carry no credentials."),
  token: orNull(token).describe(
    "The operation that gives a token for client credentials. null: the token itself is a setting.",
  ),
  identity: orNull(identity).describe(
    'Who the credentials are: the operation "who am I", a claim of the token, or the client id. By it the credentials of another merchant are refused before anything is written. null: only rules that are known can show that this is the right place.',
  ),
});

const errors = strict({
  code: pointer
    .default("/error/code")
    .meta(says("Where an error response has the service's own code. Messages show it.", "/code")),
  message: z
    .union([pointer, z.array(pointer).min(1)])
    .default("/error/message")
    .meta(
      says(
        "Where an error response has the service's own message. Messages show it. A list: of several places each that has a text is shown.",
        "/detail",
        ["/errors/0/title", "/errors/0/detail"],
      ),
    ),
  details: pointer
    .default("/error/details")
    .meta(
      says(
        "Where an error response has details: a list, an object or a text. Messages show the first five, up to 200 characters of each, masked as the message is.",
        "/errors",
      ),
    ),
  requestId: strict({
    header: headerName.meta(
      says(
        "The response header that has the id of the request. Messages show it, for the service's operators.",
        "x-trace-id",
      ),
    ),
  })
    .prefault({ header: "x-request-id" })
    .describe("Where a response has the id of its request."),
});

const limits = strict({
  concurrency: z
    .int()
    .min(1)
    .max(256)
    .default(16)
    .meta(says("How many requests of a connection are under way at once, at most.", 4)),
  requestsPerSecond: orNull(z.number().positive()).meta(
    says("How many requests of a connection start in a second, at most. null: as many as concurrency allows.", 20),
  ),
  pageSize: z
    .int()
    .min(1)
    .max(10_000)
    .default(200)
    .meta(says("How many rules a page of the list is asked for. Sent where pagination.limit has a name.", 100)),
  maxPages: z.int().min(1).default(1000).meta(says("How many pages a list has at most. A longer one is an error.", 50)),
  maxBodyBytes: z
    .int()
    .min(1024)
    .default(1_048_576)
    .meta(says("The largest response that is read, in bytes. A larger one is an error.", 4_194_304)),
  attemptTimeoutMs: z
    .int()
    .min(1)
    .default(30_000)
    .meta(says("The time for one attempt, from connecting to the last byte, in milliseconds.", 10_000)),
  totalTimeoutMs: z
    .int()
    .min(1)
    .default(120_000)
    .meta(says("The time for one call with all its attempts and waits, in milliseconds.", 300_000)),
  maxAttempts: z
    .int()
    .min(1)
    .max(20)
    .default(5)
    .meta(says("How often one call is tried at most. An answer 429 with Retry-After does not count.", 3)),
  maxRetryAfterMs: z
    .int()
    .min(0)
    .default(60_000)
    .meta(says("The longest Retry-After that is waited for, in milliseconds. A longer one ends the call.", 10_000)),
});

const parameterName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9]*$/, { error: "allowed: letters and digits, a letter first" });
const parameter = strict({
  description: z.string().optional().meta(says("A note for readers. Nothing else uses it.", "The account of the shop")),
  default: z
    .string()
    .optional()
    .meta(says("The value where settings give none. Without it: settings must give one.", "main")),
});

/**
 * The contract: the language of one deployment of the service. Defaults are what the seed documents (create, get,
 * delete); every gap of the seed is a field, and nothing destructive has a default.
 */
export const contractSchema = strict({
  $schema: z
    .string()
    .optional()
    .meta(
      says(
        "The JSON Schema by which an editor checks this file. Nothing else uses it.",
        "./node_modules/pulumi-merchant-rules/sdk/contract/contract.schema.json",
      ),
    ),
  version: z.literal(1).meta(says("The version of this format.", 1)),
  description: z.string().optional().meta(says("A note for readers. Nothing else uses it.", "Rules of the EU service")),
  parameters: z
    .record(parameterName, parameter)
    .default({})
    .meta(
      says(
        "Values that differ by merchant or environment. Paths, headers and queries use them as {name}; settings give the values. Without it no {name} of your own can be used.",
        { merchantId: {} },
      ),
    ),
  operations: operations.prefault({}).describe("What the service can do, and how it is asked."),
  rule: rule.prefault({}).describe("What the service's rules are like."),
  auth: auth.prefault({}).describe("How requests show who sends them."),
  errors: errors.prefault({}).describe("Where an error response says what went wrong."),
  idempotency: orNull(
    strict({
      header: headerName.default("Idempotency-Key").meta(says("The name of the header.", "X-Idempotency-Key")),
    }),
  ).describe(
    "The header by which the service recognises a request that is sent twice. null: a create whose answer was lost is not sent again.",
  ),
  limits: limits.prefault({}).describe("How much is sent, how fast, and how long it may take."),
}).meta({
  title: "merchant-rules contract",
  description: "How one deployment of a merchant payment-rules service speaks",
});

/** A contract with all defaults filled in. docs/reference/contract.md says what each field means. */
export interface Contract extends z.output<typeof contractSchema> {}
/** A contract as written: what has a default may be left out. */
export interface ContractInput extends z.input<typeof contractSchema> {}
export type Operations = Contract["operations"];
export type Pagination = NonNullable<Operations["list"]>["pagination"];
/** The operation by which the service says who the credentials are; null where the contract has none. */
export function identityOperation({ identity: told }: Pick<Contract["auth"], "identity">): IdentityOperation | null {
  return told !== null && "path" in told ? told : null;
}

export type IdentityOperation = z.output<typeof operationOfIdentity>;
export type IdentifyBy = z.output<typeof identifyBy>;

/** The text of `contract.schema.json`: what a contract file may hold, as JSON Schema 2020-12. */
export function publishedSchema(): string {
  const schema = { $id: "urn:pulumi-merchant-rules:contract:1", ...z.toJSONSchema(contractSchema, { io: "input" }) };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
