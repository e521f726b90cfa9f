import type { Json, Pointer } from "../../sdk/json/index.ts";

/** A field of the contract that was measured, and by what. */
export interface Fact {
  readonly at: Pointer;
  readonly value: Json;
  /** The evidence, for people: requests, statuses, what was seen. */
  readonly source: string;
}

/** A field of the contract, or a question, that could not be measured. */
export interface Gap {
  readonly at: Pointer;
  readonly why: string;
}

/** What the probe found, in the order in which it did. */
export class Findings {
  readonly #facts = new Map<Pointer, Fact>();
  readonly #gaps = new Map<Pointer, Gap>();
  readonly #said: (line: string) => void;

  /** @param said is called with each finding, in words */
  constructor(said: (line: string) => void = () => {}) {
    this.#said = said;
  }

  get facts(): readonly Fact[] {
    return [...this.#facts.values()];
  }

  get gaps(): readonly Gap[] {
    return [...this.#gaps.values()];
  }

  /** The value of a field that was measured. */
  valueAt(at: Pointer): Json | undefined {
    return this.#facts.get(at)?.value;
  }

  fact(at: Pointer, value: Json, source: string): void {
    this.#gaps.delete(at);
    this.#facts.set(at, { at, value, source });
    this.#said(`found ${named(at)}: ${JSON.stringify(value)} (${source})`);
  }

  /** Takes back what was found at a place and below it. */
  retract(at: Pointer, why: string): void {
    for (const found of this.#facts.keys()) if (found.startsWith(`${at}/`)) this.#facts.delete(found);
    this.gap(at, why);
  }

  gap(at: Pointer, why: string): void {
    if (this.#facts.has(at)) return;
    this.#gaps.set(at, { at, why });
    this.#said(`not found: ${named(at)}: ${why}`);
  }
}

function named(at: Pointer): string {
  return at.slice(1).replaceAll("/", ".");
}
