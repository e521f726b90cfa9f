import { z } from "zod";

const anyOperation = ["create", "get", "update", "delete", "list", "transition", "token", "identity"] as const;
const aboutRules = ["create", "get", "update", "delete", "list"] as const;

const at = z
  .enum(["before", "after"])
  .default("before")
  .describe("before: the request has not been carried out; after: it has, a write with its idempotency record");

/** When a request is carried out whose response says that it failed, or does not come. */
const atOrLater = ["before", "after", "later"] as const;
const lag = z.int().min(1).max(3_600_000);
const laterMs = lag
  .optional()
  .describe("With later: milliseconds from the answer until the request is carried out; default: 1000");
const onlyLater = { path: ["laterMs"], error: 'allowed: nothing, but with at "later"' };

function hasLaterMsInPlace(fault: { at: string; laterMs?: number | undefined }): boolean {
  return fault.at === "later" || fault.laterMs === undefined;
}

/** Makes the schema of a kind of faults: its own fields, and those that select requests, of the operations that it can hit. */
const fault = <
  const Kind extends string,
  const Operations extends readonly [string, ...string[]],
  Own extends z.ZodRawShape,
>(
  kind: Kind,
  operations: Operations,
  own: Own,
) =>
  z.strictObject({
    kind: z.literal(kind),
    ...own,
    operations: z
      .array(z.enum(operations))
      .min(1)
      .default([...operations])
      .describe("Operations whose requests match; default: all that the kind can hit"),
    request: z
      .int()
      .min(1)
      .default(1)
      .describe("The number of the first matching request that is hit, counted from 1 since the fault was set"),
    times: z
      .union([z.int().min(1), z.literal("always")], { error: 'allowed: a whole number from 1 on, or "always"' })
      .optional()
      .describe('How many requests are hit; default: 1, with probability "always", unless the kind says otherwise'),
    probability: z
      .number()
      .gt(0)
      .max(1)
      .optional()
      .describe("Of the matching requests from `request` on, the part that is hit; drawn from the seed"),
    seed: z.int().default(1).describe("The same seed hits the same numbers of requests"),
  });

const pointer = z
  .string()
  .regex(/^(\/([^~/]|~[01])*)+$/, { error: "allowed: a JSON Pointer (RFC 6901) such as /status" })
  .describe("A JSON Pointer into the rule");

/** Makes the schema of a kind that answers a write as a success, and does something else. The stored rules tell the truth. */
const lie = <
  const Kind extends string,
  const Operations extends readonly [string, ...string[]],
  Own extends z.ZodRawShape,
>(
  kind: Kind,
  operations: Operations,
  own: Own,
) =>
  fault(kind, operations, {
    ...own,
    answer: z
      .enum(["usual", "id", "echo", "empty-object", "empty", "error"])
      .default("usual")
      .describe(
        'usual: as if it had been done right; id: the id alone; echo: the request\'s own body; empty-object: {}; empty: no body; error: {"status":"error"}',
      ),
  });

/** One fault on demand: its kind, the kind's own fields, and the selection of requests that it hits. */
export const faultSchema = z.discriminatedUnion("kind", [
  fault("latency", anyOperation, {
    ms: z.int().min(0).max(3_600_000).describe("Milliseconds that the answer comes later"),
    at: at.describe("before: waits, then carries the request out; after: carries it out, then waits"),
  }).describe("The answer comes late"),
  fault("close", anyOperation, {
    at: z
      .enum([...atOrLater, "mid-answer"])
      .default("before")
      .describe(
        "before, after, later: without an answer. later: carried out after it is closed. mid-answer: carried out, half of the answer sent, connection reset",
      ),
    laterMs,
  })
    .refine(hasLaterMsInPlace, onlyLater)
    .describe("The connection is closed"),
  fault("status", anyOperation, {
    status: z.int().min(400).max(599).describe("The HTTP status that is answered, such as 401, 403, 429, 500, 503"),
    at: z
      .enum(atOrLater)
      .default("before")
      .describe(`${at.description}; later: it is carried out after the answer, as behind a gateway that does not wait`),
    laterMs,
    retryAfterSeconds: z
      .int()
      .min(0)
      .optional()
      .describe("Answered as Retry-After; default: the answer has no Retry-After"),
    retryAfterAs: z.enum(["seconds", "date"]).default("seconds").describe("How Retry-After says it"),
  })
    .refine(hasLaterMsInPlace, onlyLater)
    .describe("An error is answered, with code FAULT"),
  fault("cut-body", anyOperation, {
    how: z
      .enum(["connection", "json"])
      .default("connection")
      .describe(
        "connection: content-length promises all, half is sent and the connection ends. json: valid HTTP, half a JSON",
      ),
  }).describe("The request is carried out; half of its answer's body arrives"),
  fault("not-json", anyOperation, {}).describe(
    "The request is carried out; its answer has the right status and an HTML page",
  ),
  fault("other-shape", anyOperation, {
    json: z.json().default({ status: "ok" }).describe("The body that is answered"),
  }).describe("The request is carried out; its answer has the right status and JSON of another shape"),
  fault("without-id", aboutRules, {
    movedTo: pointer.optional().describe("Where the id stands instead; default: nowhere"),
  }).describe("The request is carried out; the rules in its answer have no id where the contract says"),
  fault("huge-body", anyOperation, {
    bytes: z.int().min(1).max(10_000_000_000).default(100_000_000).describe("The size of the body"),
    declared: z.boolean().default(false).describe("Whether content-length says so at the start; else it is chunked"),
  }).describe("The request is carried out; its answer is followed by blanks up to the size, so that it is valid JSON"),
  fault("stale-list", ["list"], {
    writesBehind: z
      .int()
      .min(1)
      .max(1000)
      .optional()
      .describe(
        "The list is as it was before the last so many writes, at the earliest when the fault was set; default: always as when the fault was set",
      ),
    lagMs: lag
      .optional()
      .describe("The list is as it was so many milliseconds ago, at the earliest when the fault was set"),
  })
    .refine(({ writesBehind, lagMs }) => writesBehind === undefined || lagMs === undefined, {
      path: ["lagMs"],
      error: "allowed: writesBehind or lagMs, not both",
    })
    .describe('A list that lags behind; times: "always" by default'),
  fault("repeat-cursor", ["list"], {}).describe(
    'Every page is the first and says that another follows, with the same cursor; times: "always" by default',
  ),
  fault("double-rule", ["list"], {
    on: z
      .enum(["one-page", "two-pages"])
      .default("one-page")
      .describe(
        "one-page: a page ends with its first rule again. two-pages: a later page begins with the rule before it",
      ),
  }).describe("A list gives a rule twice; two-pages matches later pages alone"),
  fault("shifting-list", ["list"], {
    change: z
      .enum(["insert", "remove"])
      .default("remove")
      .describe("What happens to the list's front after its first page: later pages begin one rule early, or one late"),
  }).describe(
    'A list that changes while it is read, as services page that count positions; matches later pages; times: "always" by default. The stored rules stay',
  ),
  fault("late-get", ["get"], {
    gets: z.int().min(1).default(1).describe("How many gets of each new rule are answered 404"),
    withinMs: z.int().min(1).default(10_000).describe("How long a rule is new, in milliseconds since it was created"),
  }).describe('A get just after a create finds nothing; matches gets of new rules; times: "always" by default'),
  fault("redirect", anyOperation, {
    at,
    status: z.literal([301, 302, 303, 307, 308]).default(307),
    location: z
      .string()
      .regex(/^[\x21-\x7e]+$/, { error: "allowed: a URL or a path, printable ASCII without blanks" })
      .optional()
      .describe("The Location, such as a URL of another host; default: the target of the request itself"),
  }).describe("A redirect is answered"),
  fault("hold", anyOperation, { at }).describe(
    "The request is held until it is released; then it goes on, whether the client is still there or not",
  ),
  fault("silence", anyOperation, {}).describe(
    "The request is taken and never answered, nor carried out, until its client goes away; when the faults are cleared it goes on",
  ),
  fault("normalise", ["create", "update"], {}).describe(
    'Text at the contract\'s natural key loses the blanks around it, is stored and answered so; times: "always" by default',
  ),
  lie("write-nothing", ["create", "update", "delete", "transition"], {}).describe("Nothing is done"),
  lie("write-others", ["update", "delete", "transition"], {
    others: z.enum(["one", "all"]).default("one").describe("one: the oldest other rule; all: every one"),
  }).describe("What is done to the rule is done to other rules of the merchant, too"),
  lie("create-twice", ["create"], {}).describe("A create makes two rules"),
  lie("drop-fields", ["create", "update"], {
    at: pointer.optional().describe("The field that is dropped; default: every field that the request does not send"),
  }).describe("The rule loses a field"),
  lie("store-otherwise", ["create", "update"], {
    at: pointer.describe("The field that has another value"),
    value: z.json().describe("The value that is stored"),
  }).describe("The rule is stored with another value of a field"),
  fault("delete-all", ["delete"], {}).describe(
    "A delete takes every rule of the merchant, whichever it names, and is answered as a success",
  ),
]);

/** A fault with its defaults. */
export type Fault = z.output<typeof faultSchema>;
/** A fault as one writes it. */
export type FaultInput = z.input<typeof faultSchema>;
export type FaultKind = Fault["kind"];
