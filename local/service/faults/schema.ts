import { z } from "zod";

const anyOperation = ["create", "get", "update", "delete", "list", "transition", "token", "identity"] as const;
const aboutRules = ["create", "get", "update", "delete", "list"] as const;

/** Makes the fields that select the requests of a fault, the same for every kind, with the operations that the kind can hit. */
const selection = <const Operations extends readonly [string, ...string[]]>(operations: Operations) => ({
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

const at = z
  .enum(["before", "after"])
  .default("before")
  .describe("before: the request has not been carried out; after: it has, a write with its idempotency record");

/** When a request is carried out whose response says that it failed, or does not come. */
const atOrLater = ["before", "after", "later"] as const;
const laterMs = z
  .int()
  .min(1)
  .max(3_600_000)
  .optional()
  .describe("With later: milliseconds from the answer until the request is carried out; default: 1000");
const onlyLater = { path: ["laterMs"], error: 'allowed: nothing, but with at "later"' };

function hasLaterMsInPlace(fault: { at: string; laterMs?: number | undefined }): boolean {
  return fault.at === "later" || fault.laterMs === undefined;
}

const latency = z
  .strictObject({
    kind: z.literal("latency"),
    ms: z.int().min(0).max(3_600_000).describe("Milliseconds that the answer comes later"),
    at: at.describe("before: waits, then carries the request out; after: carries it out, then waits"),
    ...selection(anyOperation),
  })
  .describe("The answer comes late");

const close = z
  .strictObject({
    kind: z.literal("close"),
    at: z
      .enum([...atOrLater, "mid-answer"])
      .default("before")
      .describe(
        "before, after, later: without an answer. later: carried out after it is closed. mid-answer: carried out, half of the answer sent, connection reset",
      ),
    laterMs,
    ...selection(anyOperation),
  })
  .refine(hasLaterMsInPlace, onlyLater)
  .describe("The connection is closed");

const status = z
  .strictObject({
    kind: z.literal("status"),
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
    ...selection(anyOperation),
  })
  .refine(hasLaterMsInPlace, onlyLater)
  .describe("An error is answered, with code FAULT");

const cutBody = z
  .strictObject({
    kind: z.literal("cut-body"),
    how: z
      .enum(["connection", "json"])
      .default("connection")
      .describe(
        "connection: content-length promises all, half is sent and the connection ends. json: valid HTTP, half a JSON",
      ),
    ...selection(anyOperation),
  })
  .describe("The request is carried out; half of its answer's body arrives");

const notJson = z
  .strictObject({ kind: z.literal("not-json"), ...selection(anyOperation) })
  .describe("The request is carried out; its answer has the right status and an HTML page");

const otherShape = z
  .strictObject({
    kind: z.literal("other-shape"),
    json: z.json().default({ status: "ok" }).describe("The body that is answered"),
    ...selection(anyOperation),
  })
  .describe("The request is carried out; its answer has the right status and JSON of another shape");

const withoutId = z
  .strictObject({ kind: z.literal("without-id"), ...selection(aboutRules) })
  .describe("The request is carried out; the rules in its answer have no id");

const hugeBody = z
  .strictObject({
    kind: z.literal("huge-body"),
    bytes: z.int().min(1).max(10_000_000_000).default(100_000_000).describe("The size of the body"),
    declared: z.boolean().default(false).describe("Whether content-length says so at the start; else it is chunked"),
    ...selection(anyOperation),
  })
  .describe("The request is carried out; its answer is followed by blanks up to the size, so that it is valid JSON");

const staleList = z
  .strictObject({
    kind: z.literal("stale-list"),
    writesBehind: z
      .int()
      .min(1)
      .max(1000)
      .optional()
      .describe(
        "The list is as it was before the last so many writes, at the earliest when the fault was set; default: always as when the fault was set",
      ),
    lagMs: z
      .int()
      .min(1)
      .max(3_600_000)
      .optional()
      .describe("The list is as it was so many milliseconds ago, at the earliest when the fault was set"),
    ...selection(["list"]),
  })
  .refine(({ writesBehind, lagMs }) => writesBehind === undefined || lagMs === undefined, {
    path: ["lagMs"],
    error: "allowed: writesBehind or lagMs, not both",
  })
  .describe('A list that lags behind; times: "always" by default');

const repeatCursor = z
  .strictObject({ kind: z.literal("repeat-cursor"), ...selection(["list"]) })
  .describe('Every page is the first and says that another follows, with the same cursor; times: "always" by default');

const doubleRule = z
  .strictObject({
    kind: z.literal("double-rule"),
    on: z
      .enum(["one-page", "two-pages"])
      .default("one-page")
      .describe(
        "one-page: a page ends with its first rule again. two-pages: a later page begins with the rule before it",
      ),
    ...selection(["list"]),
  })
  .describe("A list gives a rule twice; two-pages matches later pages alone");

const shiftingList = z
  .strictObject({
    kind: z.literal("shifting-list"),
    change: z
      .enum(["insert", "remove"])
      .default("remove")
      .describe("What happens to the list's front after its first page: later pages begin one rule early, or one late"),
    ...selection(["list"]),
  })
  .describe(
    'A list that changes while it is read, as services page that count positions; matches later pages; times: "always" by default. The stored rules stay',
  );

const lateGet = z
  .strictObject({
    kind: z.literal("late-get"),
    gets: z.int().min(1).default(1).describe("How many gets of each new rule are answered 404"),
    withinMs: z.int().min(1).default(10_000).describe("How long a rule is new, in milliseconds since it was created"),
    ...selection(["get"]),
  })
  .describe('A get just after a create finds nothing; matches gets of new rules; times: "always" by default');

const redirect = z
  .strictObject({
    kind: z.literal("redirect"),
    at,
    status: z.literal([301, 302, 303, 307, 308]).default(307),
    location: z
      .string()
      .regex(/^[\x21-\x7e]+$/, { error: "allowed: a URL or a path, printable ASCII without blanks" })
      .optional()
      .describe("The Location, such as a URL of another host; default: the target of the request itself"),
    ...selection(anyOperation),
  })
  .describe("A redirect is answered");

const hold = z
  .strictObject({
    kind: z.literal("hold"),
    at,
    ...selection(anyOperation),
  })
  .describe("The request is held until it is released; then it goes on, whether the client is still there or not");

const silence = z
  .strictObject({ kind: z.literal("silence"), ...selection(anyOperation) })
  .describe(
    "The request is taken and never answered, nor carried out, until its client goes away; when the faults are cleared it goes on",
  );

const normalise = z
  .strictObject({ kind: z.literal("normalise"), ...selection(["create", "update"]) })
  .describe(
    'Text at the contract\'s natural key loses the blanks around it, is stored and answered so; times: "always" by default',
  );

const deleteAll = z
  .strictObject({ kind: z.literal("delete-all"), ...selection(["delete"]) })
  .describe("A delete takes every rule of the merchant, whichever it names, and is answered as a success");

/** One fault on demand: its kind, the kind's own fields, and the selection of requests that it hits. */
export const faultSchema = z.discriminatedUnion("kind", [
  latency,
  close,
  status,
  cutBody,
  notJson,
  otherShape,
  withoutId,
  hugeBody,
  staleList,
  repeatCursor,
  doubleRule,
  shiftingList,
  lateGet,
  redirect,
  hold,
  silence,
  normalise,
  deleteAll,
]);

/** A fault with its defaults. */
export type Fault = z.output<typeof faultSchema>;
/** A fault as one writes it. */
export type FaultInput = z.input<typeof faultSchema>;
export type FaultKind = Fault["kind"];
