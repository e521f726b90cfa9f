import { field, isJsonObject, type Json, type JsonObject, laidOver } from "../../sdk/rules/index.ts";
import type { KnownRule } from "./plan.ts";

/** The fields that a definition has and the one before it had not, in depth; what they hold is left out. */
export function fieldsAdded(before: JsonObject, after: JsonObject): JsonObject {
  const added = Object.entries(after).flatMap(([name, value]): [string, Json][] => {
    // A text stands for whatever is there, a null for nothing.
    if (!Object.hasOwn(before, name)) return [[name, ""]];
    const old = field(before, name);
    const below = isJsonObject(old) && isJsonObject(value) ? fieldsAdded(old, value) : {};
    return Object.keys(below).length === 0 ? [] : [[name, below]];
  });
  return Object.fromEntries(added);
}

/** The definition by which a rule is looked at: as it is known, with what a write of no known outcome may have added. */
export function lookedAtBy({ definition, doubt }: Pick<KnownRule, "definition" | "doubt">): JsonObject {
  return doubt === undefined ? definition : laidOver(doubt, definition);
}
