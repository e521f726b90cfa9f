/**
 * Makes a string that a pattern of letters, classes, groups, alternatives and counts may match. The caller has to check it.
 * @returns one string; none for a pattern with anything else
 */
export function sampleOfPattern(source: string): readonly string[] {
  const reader = new Reader(source);
  const text = reader.alternatives();
  return text === undefined || !reader.isAtEnd ? [] : [text];
}

class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#source.length;
  }

  /** Returns a string for the first alternative; reads over the others. */
  alternatives(): string | undefined {
    const first = this.#sequence();
    while (first !== undefined && this.#take("|")) if (this.#sequence() === undefined) return undefined;
    return first;
  }

  #sequence(): string | undefined {
    let text = "";
    while (!this.isAtEnd && !"|)".includes(this.#next())) {
      const one = this.#one();
      if (one === undefined) return undefined;
      text += one.repeat(this.#count());
    }
    return text;
  }

  #one(): string | undefined {
    if (this.#take("^") || this.#take("$")) return "";
    if (this.#take("(")) {
      if (this.#take("?:") || this.#next() !== "?") {
        const inside = this.alternatives();
        return this.#take(")") ? inside : undefined;
      }
      return undefined;
    }
    if (this.#take("[")) return this.#class();
    if (this.#take("\\")) return this.#escaped();
    if ("*+?{}".includes(this.#next())) return undefined;
    return this.#take(".") ? "x" : this.#skip();
  }

  /** Returns the least number that a count allows; 1 where there is no count. */
  #count(): number {
    const match = /^(?:[*+?]|\{(\d{1,3})(?:,\d{0,3})?\})\??/.exec(this.#source.slice(this.#at));
    if (match === null) return 1;
    this.#at += match[0].length;
    if (match[1] !== undefined) return Number(match[1]);
    return match[0].startsWith("+") ? 1 : 0;
  }

  #escaped(): string | undefined {
    const sign = this.#skip();
    const samples: Readonly<Record<string, string>> = { d: "0", w: "x", s: " ", D: "x", W: " ", S: "x" };
    return samples[sign] ?? (/^[A-Za-z0-9]?$/.test(sign) ? undefined : sign);
  }

  #class(): string | undefined {
    const isOpposite = this.#take("^");
    const end = this.#source.slice(this.#at).search(/(?<!\\)\]/);
    if (end < 1) return undefined;
    const inside = this.#source.slice(this.#at, this.#at + end);
    if (!isOpposite) {
      const first = this.#take("\\") ? this.#escaped() : this.#skip();
      this.#at += inside.length + 1 - (inside.startsWith("\\") ? 2 : 1);
      return first;
    }
    this.#at += end + 1;
    return ["x", "0", " ", "-", "X"].find((sign) => !inside.includes(sign));
  }

  #next(): string {
    return this.#source.charAt(this.#at);
  }

  #skip(): string {
    const sign = this.#next();
    this.#at += 1;
    return sign;
  }

  #take(text: string): boolean {
    const is = this.#source.startsWith(text, this.#at);
    if (is) this.#at += text.length;
    return is;
  }
}
