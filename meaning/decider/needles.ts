/** Finds which of many strings are in a string, in one pass over it (Aho and Corasick). */
export class Needles {
  /** The class of each UTF-16 unit; 0 of those that are in no needle. */
  readonly #classes = new Uint16Array(65_536);
  #width = 1;
  /** The node after each node and class. */
  readonly #next: Int32Array;
  /** The needle that ends at each node, and the next shorter node at which one does; -1 where there is none. */
  readonly #ends: Int32Array;
  readonly #shorter: Int32Array;

  /** @param needles each once */
  constructor(needles: readonly string[]) {
    for (const needle of needles)
      for (let at = 0; at < needle.length; at += 1) {
        const unit = needle.charCodeAt(at);
        if (this.#classes[unit] !== 0) continue;
        this.#classes[unit] = this.#width;
        this.#width += 1;
      }
    const nodes = needles.reduce((sum, { length }) => sum + length, 1);
    this.#next = new Int32Array(nodes * this.#width).fill(-1);
    this.#ends = new Int32Array(nodes).fill(-1);
    this.#shorter = new Int32Array(nodes).fill(-1);
    this.#grow(needles);
    this.#link(nodes);
  }

  /** Calls `found` with the number of each needle in a string, once for each place. */
  find(text: string, found: (needle: number) => void): void {
    let node = 0;
    this.#report(node, found);
    for (let at = 0; at < text.length; at += 1) {
      node = this.#after(node, this.#classes[text.charCodeAt(at)] ?? 0);
      if (node !== 0) this.#report(node, found);
    }
  }

  #report(node: number, found: (needle: number) => void): void {
    for (let each = node; each >= 0; each = this.#shorter[each] ?? -1) {
      const needle = this.#ends[each] ?? -1;
      if (needle >= 0) found(needle);
    }
  }

  #after(node: number, unit: number): number {
    return this.#next[node * this.#width + unit] ?? 0;
  }

  #grow(needles: readonly string[]): void {
    let nodes = 1;
    for (const [index, needle] of needles.entries()) {
      let node = 0;
      for (let at = 0; at < needle.length; at += 1) {
        const place = node * this.#width + (this.#classes[needle.charCodeAt(at)] ?? 0);
        if (this.#next[place] === -1) {
          this.#next[place] = nodes;
          nodes += 1;
        }
        node = this.#next[place] ?? 0;
      }
      this.#ends[node] = index;
    }
  }

  /** Fills in the next node for units that do not continue a needle: the one of the longest end that begins another needle. */
  #link(nodes: number): void {
    const fallback = new Int32Array(nodes);
    const queue = [0];
    for (let at = 0; at < queue.length; at += 1) {
      const node = queue[at] ?? 0;
      const back = fallback[node] ?? 0;
      if (node !== 0) this.#shorter[node] = (this.#ends[back] ?? -1) >= 0 ? back : (this.#shorter[back] ?? -1);
      for (let unit = 0; unit < this.#width; unit += 1) {
        const place = node * this.#width + unit;
        const onward = node === 0 ? 0 : this.#after(back, unit);
        const child = this.#next[place] ?? -1;
        if (child === -1) this.#next[place] = onward;
        else {
          fallback[child] = onward;
          queue.push(child);
        }
      }
    }
    // The empty string, at the root, is reported before the first unit.
    for (let node = 1; node < nodes; node += 1) if (this.#shorter[node] === 0) this.#shorter[node] = -1;
  }
}

/** Finds which of many strings a string begins with, or ends with. */
export class Affixes {
  readonly #numbers = new Map<string, number>();
  readonly #lengths: readonly number[];
  readonly #isAtEnd: boolean;

  /** @param affixes each once */
  constructor(affixes: readonly string[], isAtEnd: boolean) {
    for (const [index, affix] of affixes.entries()) this.#numbers.set(affix, index);
    this.#lengths = [...new Set(affixes.map(({ length }) => length))].sort((a, b) => a - b);
    this.#isAtEnd = isAtEnd;
  }

  find(text: string, found: (affix: number) => void): void {
    for (const length of this.#lengths) {
      if (length > text.length) return;
      const part = this.#isAtEnd ? text.slice(text.length - length) : text.slice(0, length);
      const affix = this.#numbers.get(part);
      if (affix !== undefined) found(affix);
    }
  }
}
