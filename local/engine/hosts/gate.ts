/** Lets at most so many in at once; the others wait in line, in the order they came. */
export class Gate {
  readonly #limit: number;
  readonly #line: (() => void)[] = [];
  #inside = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inside >= this.#limit) await new Promise<void>((resolve) => this.#line.push(resolve));
    else this.#inside++;
    try {
      return await work();
    } finally {
      // Whoever is next takes over the place; it never counts as free in between.
      const next = this.#line.shift();
      if (next === undefined) this.#inside--;
      else next();
    }
  }
}
