import { type Json, type JsonObject, type Pointer, valueAt, withFieldAt } from "../../sdk/json/index.ts";
import { leavesOf, shows } from "./response-parts.ts";
import type { Named } from "./sandbox.ts";

/** Makes definitions out of the one that is given, each with a name of its own where it has one. */
export class Names {
  /** Where a definition has its name; undefined where it has none that is known. */
  readonly at: Pointer | undefined;
  readonly #definition: JsonObject;
  readonly #run: string;
  #count = 0;

  /** @param run a few letters that no other run has */
  constructor(definition: JsonObject, at: Pointer | undefined, run: string) {
    this.#definition = definition;
    this.at = at;
    this.#run = run;
  }

  /** Returns a definition, by default the given one, with the next name in place of its own. */
  next(definition = this.#definition): Named {
    this.#count += 1;
    const { at } = this;
    if (at === undefined) return { definition, name: undefined };
    const name = `${String(valueAt(this.#definition, at))}-${this.#run}${this.#count}`;
    return { definition: withFieldAt(definition, at, name), name };
  }

  /** Decides whether a response has the name of a rule that a probe of this definition made, in this run or another. */
  areIn(answer: Json): boolean {
    const { at } = this;
    if (at === undefined) return shows(answer, this.#definition, undefined);
    const start = `${String(valueAt(this.#definition, at))}-`.toLowerCase();
    return leavesOf(answer).some(({ value }) => {
      const text = String(value).trim().toLowerCase();
      return text.startsWith(start) && /^[0-9a-f]{6}\d+$/.test(text.slice(start.length));
    });
  }

  /** Returns a definition with its first number one higher, and where that stands; undefined where it has none. */
  changed(definition: JsonObject): { definition: JsonObject; at: Pointer } | undefined {
    const first = leavesOf(definition).find(({ at, value }) => typeof value === "number" && at !== this.at);
    if (typeof first?.value !== "number") return undefined;
    return { definition: withFieldAt(definition, first.at, first.value + 1), at: first.at };
  }
}

/** Returns the pointer to a definition's name: what the contract says, else the field `name`. */
export function nameAt(definition: JsonObject, told: Pointer | null | undefined): Pointer | undefined {
  const isName = (value: Json | undefined): boolean => typeof value === "string" && value !== "";
  return [told, "/name"].find((at): at is Pointer => typeof at === "string" && isName(valueAt(definition, at)));
}
