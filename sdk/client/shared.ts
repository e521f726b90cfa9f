/** Work that callers share, each with a run that begins after its call: what it asked for may be the newest there is. */
export class Shared<T> {
  readonly #work: () => Promise<T>;
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(work: () => Promise<T>) {
    this.#work = work;
  }

  /** Runs the work, or joins a run that has not begun yet. */
  next(): Promise<T> {
    this.#next ??= Promise.allSettled([this.#running]).then(() => {
      this.#next = undefined;
      this.#running = this.#work();
      return this.#running;
    });
    return this.#next;
  }
}
