import type { Visit } from "./visit.ts";

/** A request that is held. */
export interface HeldRequest {
  readonly operation: Visit["operation"];
  readonly method: string;
  readonly path: string;
  /** `before`: the request has not been carried out yet; `after`: it has. */
  readonly at: "before" | "after";
  /** Lets it go on; a second call does nothing. */
  release(): void;
}

/** The requests that `hold` faults keep waiting. */
export class Holds {
  readonly #held = new Map<HeldRequest, (reason: Error) => void>();
  #untold: HeldRequest[] = [];
  #waiters: PromiseWithResolvers<HeldRequest>[] = [];

  get held(): readonly HeldRequest[] {
    return [...this.#held.keys()];
  }

  /** Resolves when the request is released; rejects when the service closes before that. */
  hold({ operation, request: { method, path } }: Visit, at: HeldRequest["at"]): Promise<void> {
    return new Promise((resolve, reject) => {
      const held: HeldRequest = {
        operation,
        method,
        path,
        at,
        release: () => {
          this.#held.delete(held);
          this.#untold = this.#untold.filter((other) => other !== held);
          resolve();
        },
      };
      this.#held.set(held, reject);
      const waiter = this.#waiters.shift();
      if (waiter === undefined) this.#untold.push(held);
      else waiter.resolve(held);
    });
  }

  next(): Promise<HeldRequest> {
    const held = this.#untold.shift();
    if (held !== undefined) return Promise.resolve(held);
    const waiter = Promise.withResolvers<HeldRequest>();
    this.#waiters.push(waiter);
    return waiter.promise;
  }

  /** Lets all go on; returns how many there were. */
  release(): number {
    const all = this.held;
    for (const held of all) held.release();
    return all.length;
  }

  close(): void {
    const closed = new Error("the service was closed");
    for (const reject of this.#held.values()) reject(closed);
    for (const { reject } of this.#waiters) reject(closed);
    this.#held.clear();
    this.#untold = [];
    this.#waiters = [];
  }
}
