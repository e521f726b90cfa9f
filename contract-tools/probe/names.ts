import { isJsonObject, type Json, type JsonObject, type Pointer, valueAt, withValueAt } from "../../sdk/json/index.ts";
import { leavesOf, shows } from "./response-parts.ts";

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

  /** Returns the given definition with the next name. */
  next(): { definition: JsonObject; name: string | undefined } {
    this.#count += 1;
    return this.#renamed(this.#definition);
  }

  /** Returns a definition with the next name in place of its own. */
  again(definition: JsonObject): { definition: JsonObject; name: string | undefined } {
    this.#count += 1;
    return this.#renamed(definition);
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

  #renamed(definition: JsonObject): { definition: JsonObject; name: string | undefined } {
    const { at } = this;
    if (at === undefined) return { definition, name: undefined };
    const name = `${String(valueAt(this.#definition, at))}-${this.#run}${this.#count}`;
    return { definition: objectOf(withValueAt(definition, at, name), definition), name };
  }

  /**
   * Returns a definition with its first number one higher, and where that stands; undefined where it has no number.
   * The name stays.
   */
  changed(definition: JsonObject): { definition: JsonObject; at: Pointer } | undefined {
    const numbers = leavesOf(definition).filter(({ at, value }) => typeof value === "number" && at !== this.at);
    const [first] = numbers;
    if (first === undefined || typeof first.value !== "number") return undefined;
    return { definition: objectOf(withValueAt(definition, first.at, first.value + 1), definition), at: first.at };
  }
}

/** Returns the pointer to a definition's name: what the contract says, else the field `name`. */
export function nameAt(definition: JsonObject, told: Pointer | null | undefined): Pointer | undefined {
  return [told, "/name"].find((at): at is Pointer => typeof at === "string" && isName(valueAt(definition, at)));
}

function isName(value: Json | undefined): boolean {
  return typeof value === "string" && value !== "";
}

function objectOf(value: Json, fallback: JsonObject): JsonObject {
  return isJsonObject(value) ? value : fallback;
}
