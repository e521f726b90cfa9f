import { z } from "zod";
import { isPointer } from "../rules/pointer.ts";

/** An object whose fields are all known; of a misspelt one, the error lists them. */
function strict<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const known = `allowed: ${Object.keys(shape).join(", ")}`;
  return z.strictObject(shape, { error: ({ code }) => (code === "unrecognized_keys" ? known : undefined) });
}

/** What a deployment may not have, or does not tell. */
function orNull<Type extends z.ZodType>(type: Type) {
  return type.nullable().default(null);
}

const pointer = z
  .string()
  .refine(isPointer, { error: 'allowed: a JSON Pointer (RFC 6901), such as /data/id, or "" for the whole' })
  .describe('JSON Pointer (RFC 6901); "" names the whole value');
const pointerOrNull = orNull(pointer);
const patterns = z.array(pointer.describe("JSON Pointer in which a segment * stands for every element or field"));

const path = z
  .string()
  .regex(/^\/[^\s?#\\]*$/, { error: "allowed: a path that begins with / and has no blank, ?, # or backslash" })
  .refine((text) => !text.split("/").some((segment) => segment === "." || segment === ".."), {
    error: "allowed: a path without . and .. segments",
  })
  .describe("Appended to baseUrl. {ruleId} and {parameter} are replaced, URL-encoded");

/** What may stand before the colon of an HTTP header (RFC 9110). */
export const headerNamePattern = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

const headerName = z.string().regex(headerNamePattern, { error: "allowed: the name of an HTTP header" });
const headerValue = z.string().regex(/^[\t\x20-\x7e]*$/, { error: "allowed: printable ASCII without line breaks" });
const fieldName = z.string().min(1);

const statuses = z.array(z.int().min(200).max(299)).min(1);
const success = (documented: number) =>
  statuses.default([documented]).describe("Statuses that mean success; any other is an error");

/** What every operation may fix: headers and query, whose values may name parameters. */
const fixed = {
  headers: z.record(headerName, headerValue).default({}).describe("Fixed headers; values may name {parameter}"),
  query: z.record(fieldName, z.string()).default({}).describe("Fixed query; values may name {parameter}"),
};

/** What every operation that reads has. */
const reading = { method: z.literal("GET").default("GET"), path, ...fixed, success: success(200) };

const bodyAt = pointer.default("").describe('Where in the request body the definition stands; "" is the whole body');

const identifyBy = strict({
  in: z.enum(["query", "body", "path", "header"]).describe("Which part of the request names the rule"),
  name: fieldName.default("ruleId").describe("The query parameter, body field or header; for path always ruleId"),
}).describe("How an operation names the rule it means");

const create = strict({
  method: z.enum(["POST", "PUT"]).default("POST"),
  path: path.default("/api/v1/merchants/rules"),
  ...fixed,
  bodyAt,
  success: success(201),
});

const get = strict({ ...reading, path: path.default("/api/v1/merchants/rules/{ruleId}") });

const remove = strict({
  method: z.enum(["DELETE", "POST"]).default("DELETE"),
  path: path.default("/api/v1/merchants/rules"),
  ...fixed,
  identifyBy: orNull(identifyBy).describe("Gap (seed, section 4). Never guessed. null: nothing can be deleted"),
  readAfter: z.boolean().default(false).describe("Read the rule once more after a delete, to see that it is gone"),
  success: success(200),
});

const update = strict({
  method: z.enum(["PUT", "PATCH", "POST"]).default("PUT"),
  path,
  ...fixed,
  identifyBy: identifyBy.default({ in: "path", name: "ruleId" }),
  body: z
    .enum(["declared", "changes", "merged"])
    .default("declared")
    .describe(
      "declared: the definition, which may erase fields that it does not declare; changes: its top-level fields that differ, objects laid over the live ones; merged: the live rule with the definition laid over it, in depth",
    ),
  bodyAt,
  success: success(200),
});

const limit = orNull(fieldName).describe("Query parameter for the page size; null: none is sent");
const more = pointerOrNull.describe("Where the response says true while there is more");

const pagination = z.discriminatedUnion("type", [
  strict({ type: z.literal("none") }),
  strict({
    type: z.literal("cursor"),
    limit,
    cursor: fieldName.default("cursor").describe("Query parameter that carries the cursor"),
    next: pointer.describe('Where the response has the next cursor; absent, null or "" ends the list'),
    more,
  }),
  strict({
    type: z.literal("page"),
    limit,
    page: fieldName.default("page").describe("Query parameter that carries the page's number"),
    first: z.int().min(0).max(1).default(1),
    more,
  }),
  strict({
    type: z.literal("offset"),
    limit,
    offset: fieldName.default("offset").describe("Query parameter that carries how many rules to pass over"),
    more,
  }),
]);

const list = strict({
  ...reading,
  items: pointer.describe("Where the response has the array of rules"),
  envelope: pointer.default("").describe("Where an item of that array has the rule"),
  pagination: pagination.default({ type: "none" }),
  lagMs: orNull(z.int().min(0).max(600_000)).describe(
    "How long after a write the list may still show what was before, in milliseconds; 0: not at all. Waited for before a look-up decides about a create. null: not known, so a look-up that finds nothing proves nothing",
  ),
});

const operations = strict({
  create: create.prefault({}).describe("Documented (seed, section 4)"),
  get: get.prefault({}).describe("Documented (seed, section 4)"),
  delete: remove.prefault({}).describe("Documented (seed, section 4), except identifyBy"),
  update: orNull(update).describe("Gap: named PUT, path not given. null: a change replaces the rule"),
  list: orNull(list).describe("Gap: named GET, path not given. null: one GET per rule"),
});

const values = z.array(z.union([z.string(), z.number(), z.boolean()])).min(1);
const marked = strict({
  at: pointer.describe("Where a rule says so"),
  is: values.describe("The values that say so"),
});
const markedRules = z.array(marked).default([]);

const owner = strict({
  at: pointer.describe("Where a rule holds the mark, a text of at most 200 bytes; not a field of the definition"),
});

const rule = strict({
  id: z
    .array(pointer)
    .min(1)
    .default(["/ruleId", "/id"])
    .describe("Where a response has the rule's id, in the envelope or else in the whole; the first present wins"),
  envelope: pointer.default("").describe("Where a response has the rule"),
  schema: orNull(z.record(z.string(), z.json())).describe(
    "JSON Schema of a definition, when known (2020-12, or draft-07 where $schema says so)",
  ),
  naturalKey: pointerOrNull.describe(
    "What is unique among a merchant's rules, e.g. /name; finds a rule whose id was lost",
  ),
  owner: orNull(owner).describe("Gap. Every create and update writes there whose the rule is. null: not written"),
  gone: markedRules.describe("Gap. Rules that the service still answers after they were deleted: they count as absent"),
  foreign: markedRules.describe("Gap. The service's own rules: never adopted, changed, deleted or called unmanaged"),
  readOnly: z
    .array(pointer)
    .default(["/createdAt", "/updatedAt"])
    .describe("What the service adds to a rule, beside its id: not counted where a whole rule is compared"),
  immutable: patterns.default([]).describe("A change there replaces the rule"),
  unordered: patterns.default([]).describe("Arrays whose order means nothing"),
  secret: patterns.default([]).describe("Never printed, and never stored unless encrypted"),
});

const token = strict({
  method: z.literal("POST").default("POST").describe("Documented (seed, section 5)"),
  path,
  baseUrl: orNull(z.url({ protocol: /^https?$/ })).describe("Where the token operation is, if not at baseUrl"),
  ...fixed,
  encoding: z.enum(["json", "form"]).default("json"),
  fields: z
    .record(fieldName, z.string())
    .describe("The body; values may name {clientId}, {clientSecret} and {parameter}"),
  accessToken: pointer.default("/access_token"),
  expiresIn: pointer
    .nullable()
    .default("/expires_in")
    .describe("Where the response has the token's life, in seconds; null or absent: until the service refuses it"),
  success: statuses.default([200, 201]),
});

const identity = strict({
  ...reading,
  at: pointer.describe("Where the answer says who the credentials are: a text or a number that does not change"),
});

const tokenFormat = headerValue.refine((text) => text.includes("{token}"), {
  error: 'allowed: a text that contains {token}, such as "Bearer {token}"',
});

const present = strict({
  in: z.literal("header").default("header"),
  name: headerName.default("Authorization"),
  format: tokenFormat.default("Bearer {token}"),
});

const auth = strict({
  present: present
    .nullable()
    .prefault({})
    .describe("How a token is presented (gap; seed, section 5). null: requests carry no credentials"),
  token: orNull(token).describe("The token operation. null: the token itself is a setting"),
  identity: orNull(identity).describe('Gap. The operation "who am I"; it notices the credentials of another merchant'),
});

const errors = strict({
  code: pointer.default("/error/code"),
  message: pointer.default("/error/message"),
  details: pointer.default("/error/details"),
  requestId: strict({ header: headerName }).prefault({ header: "x-request-id" }),
});

const limits = strict({
  concurrency: z.int().min(1).max(256).default(16).describe("Requests under way at once, per connection"),
  requestsPerSecond: orNull(z.number().positive()),
  pageSize: z.int().min(1).max(10_000).default(200),
  maxPages: z.int().min(1).default(1000),
  maxBodyBytes: z.int().min(1024).default(1_048_576).describe("The largest response that is read, in bytes"),
  attemptTimeoutMs: z.int().min(1).default(30_000).describe("For one attempt, connect to last byte"),
  totalTimeoutMs: z.int().min(1).default(120_000).describe("For one call with all its attempts and waits"),
  maxAttempts: z.int().min(1).max(20).default(5).describe("Of one call; a 429 with Retry-After does not count"),
  maxRetryAfterMs: z.int().min(0).default(60_000).describe("A longer Retry-After ends the call at once"),
});

const parameterName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9]*$/, { error: "allowed: letters and digits, a letter first" });
const parameter = strict({ description: z.string().optional(), default: z.string().optional() });

/**
 * How one deployment of the service speaks. Defaults are what the seed documents (create, get, delete); every gap of
 * the seed is a field, and nothing destructive has a default.
 */
export const contractSchema = strict({
  $schema: z.string().optional(),
  version: z.literal(1).describe("The version of this format"),
  description: z.string().optional(),
  parameters: z
    .record(parameterName, parameter)
    .default({})
    .describe("Names that paths, headers and queries may use as {name}; each connection sets their values"),
  operations: operations.prefault({}),
  rule: rule.prefault({}),
  auth: auth.prefault({}),
  errors: errors.prefault({}),
  idempotency: orNull(strict({ header: headerName.default("Idempotency-Key") })).describe(
    "The only thing that makes a create safe to send twice",
  ),
  limits: limits.prefault({}),
}).meta({
  title: "merchant-rules contract",
  description: "How one deployment of a merchant payment-rules service speaks",
});

/** A contract with all defaults filled in. */
export type Contract = z.output<typeof contractSchema>;
/** A contract as written. */
export type ContractInput = z.input<typeof contractSchema>;
export type Operations = Contract["operations"];
export type Pagination = NonNullable<Operations["list"]>["pagination"];
export type IdentifyBy = z.output<typeof identifyBy>;

/** The text of `contract.schema.json`: what a contract file may hold, as JSON Schema 2020-12. */
export function publishedSchema(): string {
  return `${JSON.stringify(z.toJSONSchema(contractSchema, { io: "input" }), null, 2)}\n`;
}
