import {
  field,
  isJsonArray,
  isJsonObject,
  type Json,
  type Path,
  type Pointer,
  pointerOf,
  segmentsOf,
} from "../../sdk/json/index.ts";

/** A value in a definition, and where it stands. */
export interface PlacedValue {
  readonly pointer: Pointer;
  readonly value: Json;
}

/** Returns the values at a pointer, in which `*` stands for every element or field. */
export function placesAt(definition: Json, pattern: Pointer): PlacedValue[] {
  return endsAt(definition, pattern).flatMap(({ pointer, value }) => (value === undefined ? [] : [{ pointer, value }]));
}

/**
 * Returns the places to which a pointer leads, and the values there; undefined where there is none. Every element and field that
 * `*` stands for is followed to the end.
 */
export function endsAt(definition: Json, pattern: Pointer): { pointer: Pointer; value: Json | undefined }[] {
  const follow = (
    value: Json | undefined,
    path: Path,
    [segment, ...rest]: readonly string[],
  ): ReturnType<typeof endsAt> => {
    if (segment === undefined) return [{ pointer: pointerOf(path), value }];
    const steps = segment === "*" ? stepsInto(value) : [segment];
    return steps.flatMap((step) => follow(childOf(value, step), [...path, step], rest));
  };
  return follow(definition, [], segmentsOf(pattern));
}

function stepsInto(value: Json | undefined): readonly string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}

function childOf(value: Json | undefined, step: string): Json | undefined {
  if (isJsonObject(value)) return field(value, step);
  return isJsonArray(value) && /^(0|[1-9]\d*)$/.test(step) ? value[Number(step)] : undefined;
}
