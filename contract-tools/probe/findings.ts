import { isJsonArray, type Json, type Pointer, segmentsOf } from "../../sdk/json/index.ts";
import type { Fact } from "../draft.ts";

/** A field of the contract, or a question, that could not be measured. */
export interface Unmeasured {
  readonly at: Pointer;
  readonly why: string;
}

/** The findings of a probe, in the order in which they were made. The source of a fact is its evidence, for people. */
export class Findings {
  readonly #facts = new Map<Pointer, Fact>();
  readonly #gaps = new Map<Pointer, Unmeasured>();
  readonly #said: (line: string) => void;

  /** @param said is called with each finding, in words */
  constructor(said: (line: string) => void = () => {}) {
    this.#said = said;
  }

  get facts(): readonly Fact[] {
    return [...this.#facts.values()];
  }

  get gaps(): readonly Unmeasured[] {
    return [...this.#gaps.values()];
  }

  /** Returns the value of a field that was measured. */
  valueAt(at: Pointer): Json | undefined {
    return this.#facts.get(at)?.value;
  }

  /** Returns the pointers in a field that was measured, such as `/rule/id`; none where it was not. */
  pointersAt(at: Pointer): Pointer[] {
    const found = this.valueAt(at);
    return isJsonArray(found) ? found.filter((each) => typeof each === "string") : [];
  }

  /** The name of the field that has a rule's id. */
  get idName(): string {
    return segmentsOf(this.pointersAt("/rule/id")[0] ?? "").at(-1) ?? "id";
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
