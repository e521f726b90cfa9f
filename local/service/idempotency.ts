import { hash } from "node:crypto";
import { badRequest, Refusal } from "./refusal.ts";
import type { IncomingRequest } from "./request.ts";
import type { RuleStore, StoredResponse } from "./store.ts";

const dayMs = 24 * 60 * 60 * 1000;
const maxKeyLength = 255;

/** Returns the idempotency key of a request, if it has one. @throws Refusal 400 for an empty key or one of more than 255 characters */
export function idempotencyKey(request: IncomingRequest, header: string): string | undefined {
  const key = request.header(header);
  if (key !== undefined && (key === "" || key.length > maxKeyLength))
    throw badRequest(`${header} must have 1 to ${maxKeyLength} characters`);
  return key;
}

/**
 * Responses to writes under the keys of their requests, for 24 hours. Only successes are kept: a refused request has
 * changed nothing, and may be corrected and sent again under the same key.
 */
export class Replays {
  readonly #store: RuleStore;
  readonly #now: () => number;
  #forgottenAt = 0;

  constructor(store: RuleStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Finds the response kept for a request, within its transaction. @throws Refusal 422 when the key is of another one */
  find(key: string, fingerprint: string): StoredResponse | undefined {
    const kept = this.#store.responseOf(key, this.#now() - dayMs);
    if (kept === undefined || kept.fingerprint === fingerprint) return kept;
    throw new Refusal(422, "IDEMPOTENCY_CONFLICT", "this idempotency key was used for another request");
  }

  keep(key: string, response: StoredResponse): void {
    const now = this.#now();
    this.#store.keepResponse(key, response, now);
    if (now - this.#forgottenAt < dayMs / 24) return;
    this.#forgottenAt = now;
    this.#store.forgetResponses(now - dayMs);
  }
}

/** Returns a string that two requests share only when they are the same: method, target and body to the byte. */
export function fingerprintOf({ method, path, query, body }: IncomingRequest): string {
  const bytes = "bytes" in body ? body.bytes : Buffer.alloc(0);
  return hash("sha256", Buffer.concat([Buffer.from(`${method} ${path}?${query}\n`), bytes]), "base64");
}
