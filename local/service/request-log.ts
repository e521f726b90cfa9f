import type { FaultKind } from "./faults/schema.ts";

/** The name of an operation in a contract; `unknown`: no operation has this path, or not this method. */
export type ServedOperation =
  | "create"
  | "get"
  | "update"
  | "delete"
  | "list"
  | "transition"
  | "token"
  | "identity"
  | "unknown";

/** One request that was served. Never a body, a header or a credential. */
export interface ServedRequest {
  readonly operation: ServedOperation;
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The status that was sent; 0 when the connection was closed without one. */
  readonly status: number;
  readonly idempotencyKey?: string;
  /** The response is the stored one of an earlier request with the same idempotency key. */
  readonly replayed?: boolean;
  /** The fault that was injected. */
  readonly fault?: FaultKind;
}

const kept = 100_000;

/** The last 100,000 requests, and how many there were in all. */
export class RequestLog {
  #requests: ServedRequest[] = [];
  #counts = new Map<ServedOperation, number>();

  add(request: ServedRequest): void {
    this.#requests.push(request);
    if (this.#requests.length >= 2 * kept) this.#requests = this.#requests.slice(-kept);
    this.#counts.set(request.operation, (this.#counts.get(request.operation) ?? 0) + 1);
  }

  get requests(): readonly ServedRequest[] {
    return this.#requests.length > kept ? this.#requests.slice(-kept) : this.#requests;
  }

  count(operation?: ServedOperation): number {
    if (operation !== undefined) return this.#counts.get(operation) ?? 0;
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  reset(): void {
    this.#requests = [];
    this.#counts = new Map();
  }
}
