import { pathIn } from "../../local/stack/values/path.ts";
import { isEqual, isJsonArray, isJsonObject, type Json, type JsonObject, type Path } from "../../sdk/rules/index.ts";
import { mask } from "./preview.ts";

/** What stands for a secret that the engine calls changed. */
export const changedMask = "[secret] (changed)";

export function isMasked(value: Json | undefined): boolean {
  return value === mask || value === changedMask;
}

/**
 * The paths of a resource that the engine calls changed. It compared the secrets themselves, so they tell of a secret,
 * which is masked on both sides, whether it changes.
 */
export class ChangedPaths {
  readonly #field: string;
  readonly #paths: readonly Path[];
  /** Whether the engine said anything at all. */
  readonly areKnown: boolean;

  /** @param field the input that holds the definitions; the paths are in the engine's spelling */
  constructor(field: string, paths: readonly string[]) {
    this.#field = field;
    this.areKnown = paths.length > 0;
    this.#paths = paths.map((text) => pathIn(text) ?? []).filter(([first]) => first === field);
  }

  /** Whether something of a rule changes. */
  isChanged(key: string, isRule: boolean): boolean {
    return this.#touches(this.#start(key, isRule));
  }

  /** What is declared, in which the secrets that change are other than before. */
  marked(before: JsonObject, after: JsonObject, key: string, isRule: boolean): JsonObject {
    const result = this.#marked(before, after, this.#start(key, isRule));
    return isJsonObject(result) ? result : after;
  }

  #start(key: string, isRule: boolean): Path {
    return isRule ? [this.#field] : [this.#field, key];
  }

  #marked(before: Json | undefined, after: Json, path: Path): Json {
    if (after === mask) return before === mask && this.#touches(path) ? changedMask : after;
    if (isJsonArray(after) && isJsonArray(before))
      return after.map((child, index) => this.#marked(before[index], child, [...path, index]));
    if (!isJsonObject(after) || !isJsonObject(before)) return after;
    const fields = Object.entries(after).map(([key, child]) => [
      key,
      this.#marked(Object.hasOwn(before, key) ? before[key] : undefined, child, [...path, key]),
    ]);
    return Object.fromEntries(fields);
  }

  /** Whether a changed path is this one, leads to it, or lies inside it. */
  #touches(path: Path): boolean {
    return this.#paths.some((changed) => {
      const shared = Math.min(changed.length, path.length);
      return isEqual(changed.slice(0, shared), path.slice(0, shared));
    });
  }
}
