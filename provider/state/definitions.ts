import {
  asWritten,
  contains,
  exactDefinitionOf,
  isEqual,
  isExactNumber,
  type Json,
  type JsonObject,
  type Pointer,
} from "../../sdk/json/index.ts";
import { secret, withinSecret } from "../host/wire.ts";
import { withSecretsMarked } from "./secrets.ts";
import type { ResourceShape } from "./shape.ts";

/**
 * Returns the definitions in the field of a resource by key, whichever form a rule has. Any other value stays as it is: one
 * that is not known yet, or that `check` is to refuse.
 */
export function definitionsIn(shape: ResourceShape, value: Json | undefined): Map<string, Json> {
  const definitions = shape.entries(value ?? {});
  for (const [key, rule] of definitions) if (typeof rule === "string") definitions.set(key, exactDefinitionOf(rule));
  return definitions;
}

/**
 * Returns a definition in the form of a rule that was given: as an object, or as its JSON, which is the given string where
 * that means the same; and where an object would round a number. What the contract calls secret is marked, which only an object
 * can be at one path; else all of it.
 */
export function inFormOf(given: Json | undefined, definition: JsonObject, secrets: readonly Pointer[]): Json {
  const isExact = contains(definition, isExactNumber);
  const marked = secrets.length === 0 ? definition : withSecretsMarked(definition, secrets);
  if (typeof given !== "string" && !isExact) return marked;
  const text = JSON.stringify(definition);
  if (hasMark(marked)) return isExact ? secret(text) : marked;
  return given !== undefined && isEqual(exactDefinitionOf(given), definition, asWritten) ? given : text;
}

/** Decides whether a definition has a mark of a secret anywhere. */
export function hasMark(definition: Json): boolean {
  return contains(definition, (value) => withinSecret(value) !== undefined);
}
