import { z } from "zod";
import { integer, orNull, says, strict } from "./schema-parts.ts";

/** The bounds of requests: their number, their rate, their time, their size. */
export const limits = strict({
  concurrency: integer({ min: 1, max: 256, default: 16 }).meta(
    says("How many requests of a connection are under way at once, at most.", 4),
  ),
  requestsPerSecond: orNull(z.number().positive()).meta(
    says("How many requests of a connection start in a second, at most. null: as many as concurrency allows.", 20),
  ),
  pageSize: integer({ min: 1, max: 10_000, default: 200 }).meta(
    says("How many rules a page of the list is asked for. Sent where pagination.limit has a name.", 100),
  ),
  maxPages: integer({ min: 1, default: 1000 }).meta(
    says("How many pages a list has at most. A longer one is an error.", 50),
  ),
  maxBodyBytes: integer({ min: 1024, default: 1_048_576 }).meta(
    says("The largest response about one rule that is read, in bytes. A larger one is an error.", 4_194_304),
  ),
  maxListBytes: integer({ min: 1024, default: 67_108_864 }).meta(
    says("The largest page of a list that is read, in bytes. A larger one is an error.", 268_435_456),
  ),
  attemptTimeoutMs: integer({ min: 1, default: 30_000 }).meta(
    says("The time for one attempt, from connecting to the last byte, in milliseconds.", 10_000),
  ),
  totalTimeoutMs: integer({ min: 1, default: 120_000 }).meta(
    says("The time for one call with all its attempts and waits, in milliseconds.", 300_000),
  ),
  maxAttempts: integer({ min: 1, max: 20, default: 5 }).meta(
    says("How often one call is tried at most. An answer 429 with Retry-After does not count.", 3),
  ),
  maxRetryAfterMs: integer({ min: 0, default: 60_000 }).meta(
    says("The longest Retry-After that is waited for, in milliseconds. A longer one ends the call.", 10_000),
  ),
});
