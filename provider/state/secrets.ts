import {
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  type Path,
  type Pointer,
  pointerOf,
  segmentsOf,
} from "../../sdk/json/index.ts";
import { isUnknown, type Properties, secret, withinSecret } from "../host/wire.ts";
import { patternsField, secretsField } from "./names.ts";
import type { ResourceShape } from "./shape.ts";

/**
 * Puts the engine's mark around what a contract calls secret, so that the engine encrypts and masks it, also where the
 * program did not say so or does not declare it. Null, and a value that is not known yet, stays as it is.
 * @param patterns as `rule.secret` has them; where they overlap, the outermost value is marked, once
 */
export function withSecretsMarked(definition: Json, patterns: readonly Pointer[]): Json {
  const paths = patterns.map(segmentsOf).sort((a, b) => a.length - b.length);
  return paths.reduce(markedAt, definition);
}

function markedAt(value: Json, [segment, ...rest]: readonly string[]): Json {
  // Within a secret there is nothing left to mark.
  if (withinSecret(value) !== undefined) return value;
  if (segment === undefined) return value === null || isUnknown(value) ? value : secret(value);
  const isMeant = (key: string): boolean => segment === "*" || segment === key;
  if (isJsonArray(value)) return value.map((child, index) => (isMeant(String(index)) ? markedAt(child, rest) : child));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, isMeant(key) ? markedAt(child, rest) : child]),
  );
}

/**
 * Returns the pointers, in the field of definitions, of what is secret by the inputs and the contract and was not when the outputs
 * were written.
 * @param patterns as `rule.secret` of the contract has them
 */
export function secretsAdded(
  { isRule, field }: ResourceShape,
  outputs: Properties,
  inputs: Properties,
  patterns: readonly Pointer[],
): Pointer[] {
  const secretBy = (properties: Properties, own: readonly Pointer[]): Set<Pointer> => {
    const inField = isRule ? own : own.map((pattern) => `/*${pattern}`);
    const marked = own.length === 0 ? null : withSecretsMarked(inputs[field] ?? null, inField);
    const paths = revealed({ [field]: marked }).secrets.map(([, ...path]) => pointerOf(path));
    return new Set([...textsIn(properties[secretsField]), ...paths]);
  };
  const before = secretBy(outputs, textsIn(outputs[patternsField]));
  const isNew = (pointer: Pointer): boolean =>
    !before.has(pointer) && (pointer === "" || isNew(pointer.slice(0, pointer.lastIndexOf("/"))));
  return [...secretBy(inputs, patterns)].sort().filter(isNew);
}

function textsIn(value: Json = null): string[] {
  return isJsonArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** Properties in plain, and where in them secrets are. */
export interface Revealed {
  readonly plain: Properties;
  /** The places of all secrets. */
  readonly secrets: readonly Path[];
  /**
   * Those of them whose value is not known here, because nothing could decrypt it. The field is not in `plain`; an
   * element of an array is null there.
   */
  readonly unreadable: readonly Path[];
}

/** Takes the marks off that the engine puts around secrets. */
export function revealed(properties: Properties): Revealed {
  const secrets: Path[] = [];
  const unreadable: Path[] = [];
  // One array for the whole walk: most values are no secrets, and need no path.
  const path: (string | number)[] = [];

  function at(key: string | number, value: Json): Json | undefined {
    if (typeof value !== "object" || value === null) return value;
    path.push(key);
    const plain = step(value);
    path.pop();
    return plain;
  }

  function step(value: Json): Json | undefined {
    const inside = withinSecret(value);
    if (inside !== undefined) {
      secrets.push([...path]);
      if (!isUnknown(inside)) return step(inside);
      unreadable.push([...path]);
      return undefined;
    }
    if (isJsonArray(value)) return value.map((element, index) => at(index, element) ?? null);
    return isJsonObject(value) ? fields(value) : value;
  }

  function fields(object: JsonObject): JsonObject {
    const plain: [string, Json][] = [];
    for (const [key, value] of Object.entries(object)) {
      const shown = at(key, value);
      if (shown !== undefined) plain.push([key, shown]);
    }
    return Object.fromEntries(plain);
  }

  return { plain: fields(properties), secrets, unreadable };
}
