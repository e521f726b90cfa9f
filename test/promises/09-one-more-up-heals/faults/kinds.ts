import type { FaultInput, ServedOperation } from "../../../../local/service/index.ts";
import { tooLateMs } from "./scenarios.ts";

/** A fault, but for the request that it hits. */
export interface FaultKind {
  readonly name: string;
  readonly fault: FaultInput;
  /** The operations whose requests it can hit. */
  readonly operations: readonly Exclude<ServedOperation, "unknown">[];
  /** It hits pages after the first alone. */
  readonly isOfLaterPages?: true;
  /** To the client it is the same as another kind: it is tried with the full contract alone. */
  readonly isLikeAnother?: true;
}

const any = ["token", "identity", "create", "get", "update", "delete", "list", "transition"] as const;
const lists = ["list"] as const;
const writes = ["create", "update", "delete", "transition"] as const;
/** All statuses from 500 on are one to the client; 503 stands for them. */
function likeAnother(status: number): Pick<FaultKind, "isLikeAnother"> {
  return [500, 502, 504].includes(status) ? { isLikeAnother: true } : {};
}

/** Later than a look-up just after the answer. */
const laterMs = 300;

export const kinds: readonly FaultKind[] = [
  { name: "latency", fault: { kind: "latency", ms: 60 }, operations: any },
  { name: "latency beyond the timeout, before the write", fault: { kind: "latency", ms: tooLateMs }, operations: any },
  {
    name: "latency beyond the timeout, after the write",
    fault: { kind: "latency", ms: tooLateMs, at: "after" },
    operations: any,
  },
  { name: "closed before the write", fault: { kind: "close" }, operations: any },
  { name: "closed after the write", fault: { kind: "close", at: "after" }, operations: any },
  { name: "closed in mid-answer", fault: { kind: "close", at: "mid-answer" }, operations: any },
  ...[500, 502, 503, 504].flatMap((status): FaultKind[] => [
    { name: `${status} before the write`, fault: { kind: "status", status }, operations: any, ...likeAnother(status) },
    {
      name: `${status} after the write`,
      fault: { kind: "status", status, at: "after" },
      operations: any,
      ...likeAnother(status),
    },
  ]),
  { name: "closed, carried out later", fault: { kind: "close", at: "later", laterMs }, operations: writes },
  ...[408, 503, 504].map(
    (status): FaultKind => ({
      name: `${status}, carried out later`,
      fault: { kind: "status", status, at: "later", laterMs },
      operations: writes,
      ...likeAnother(status),
    }),
  ),
  { name: "429", fault: { kind: "status", status: 429 }, operations: any },
  {
    name: "429, Retry-After in seconds",
    fault: { kind: "status", status: 429, retryAfterSeconds: 0 },
    operations: any,
  },
  {
    name: "429, Retry-After as a date",
    fault: { kind: "status", status: 429, retryAfterSeconds: 1, retryAfterAs: "date" },
    operations: any,
  },
  { name: "401", fault: { kind: "status", status: 401 }, operations: any },
  { name: "403", fault: { kind: "status", status: 403 }, operations: any },
  { name: "body cut by the connection", fault: { kind: "cut-body" }, operations: any },
  { name: "body cut within its JSON", fault: { kind: "cut-body", how: "json" }, operations: any },
  { name: "not JSON", fault: { kind: "not-json" }, operations: any },
  { name: "another shape", fault: { kind: "other-shape" }, operations: any },
  {
    name: "without an id",
    fault: { kind: "without-id" },
    operations: ["create", "get", "update", "list"],
  },
  { name: "body of 100 MB", fault: { kind: "huge-body" }, operations: any },
  { name: "stale list", fault: { kind: "stale-list" }, operations: lists },
  {
    name: "empty list",
    fault: { kind: "other-shape", json: { rules: [], nextCursor: null, hasMore: false } },
    operations: lists,
  },
  { name: "cursor repeated for ever", fault: { kind: "repeat-cursor" }, operations: lists },
  { name: "rule twice on a page", fault: { kind: "double-rule" }, operations: lists },
  {
    name: "rule on two pages",
    fault: { kind: "double-rule", on: "two-pages" },
    operations: lists,
    isOfLaterPages: true,
  },
  {
    name: "list grows while read",
    fault: { kind: "shifting-list", change: "insert" },
    operations: lists,
    isOfLaterPages: true,
  },
  { name: "list shrinks while read", fault: { kind: "shifting-list" }, operations: lists, isOfLaterPages: true },
  { name: "404 just after a create", fault: { kind: "late-get" }, operations: ["get"] },
  { name: "redirect to the same host", fault: { kind: "redirect", status: 302 }, operations: any },
  { name: "redirect with the body, same host", fault: { kind: "redirect", status: 307 }, operations: any },
  {
    name: "permanent redirect",
    fault: { kind: "redirect", status: 308 },
    operations: any,
    isLikeAnother: true,
  },
  {
    name: "redirect to another host",
    fault: { kind: "redirect", status: 301, location: "http://localhost:9/elsewhere" },
    operations: any,
  },
];
