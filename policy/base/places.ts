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
  return placed(definition, segmentsOf(pattern), []).flatMap(({ path, value }) =>
    value === undefined ? [] : [{ pointer: pointerOf(path), value }],
  );
}

/**
 * Returns the places where a pointer leads to nothing, or to null. Every element and field that `*` stands for is followed to
 * the end; where there is none, nothing is missing.
 */
export function missingAt(definition: Json, pattern: Pointer): Missing[] {
  return placed(definition, segmentsOf(pattern), []).flatMap(({ path, value }) =>
    value === undefined || value === null
      ? [{ pointer: pointerOf(path), found: value === null ? "null" : "nothing" }]
      : [],
  );
}

/** A place where a value is missing, and what is there instead, in words. */
interface Missing {
  readonly pointer: Pointer;
  readonly found: string;
}

interface Placed {
  readonly path: Path;
  /** Undefined where there is none. */
  readonly value: Json | undefined;
}

function placed(value: Json | undefined, [segment, ...rest]: readonly string[], path: Path): Placed[] {
  if (segment === undefined) return [{ path, value }];
  const steps = segment === "*" ? stepsInto(value) : [segment];
  return steps.flatMap((step) => placed(childOf(value, step), rest, [...path, step]));
}

function stepsInto(value: Json | undefined): readonly string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}

function childOf(value: Json | undefined, step: string): Json | undefined {
  if (isJsonObject(value)) return field(value, step);
  return isJsonArray(value) && /^(0|[1-9]\d*)$/.test(step) ? value[Number(step)] : undefined;
}
