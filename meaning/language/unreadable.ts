import { isJsonArray, isJsonObject, type Json } from "../../sdk/json/json.ts";
import { withoutMasks } from "../../sdk/json/mask.ts";
import { isAtOrBelow, type Pointer, pointerOf, segmentsOf } from "../../sdk/json/pointer.ts";
import { printableJson } from "../../sdk/json/printable.ts";
import type { Path } from "../../sdk/json/walk.ts";
import type { Unreadable } from "./normal-form.ts";

/** A part of a rule, or the places in which it is not explained. */
export type Read<Part> = { readonly value: Part } | { readonly faults: readonly Unreadable[] };

export function unreadable(at: Pointer, why: string): { readonly faults: readonly Unreadable[] } {
  return { faults: [{ at, why }] };
}

/** Returns the faults of all parts that could not be read, in their order. */
export function faultsOf(...parts: readonly Read<unknown>[]): Unreadable[] {
  return parts.flatMap((part) => ("faults" in part ? part.faults : []));
}

const mostCharacters = 80;

/** Returns a value for a sentence: JSON of at most 80 characters, with `[secret]` in the place of masks. */
export function shown(value: Json): string {
  const text = printableJson(withoutMasks(value));
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters - 3)}...` : text;
}

/** Returns whether a value is one of a few plain values. Nothing is converted: 1 is not true, and "1" is not 1. */
export function isOneOf(value: Json, few: readonly Json[]): boolean {
  return few.some((each) => each === value);
}

/** Returns the outermost fields that no pointer explains. A field that is null needs no explanation. */
export function unexplained(root: Json, pointers: readonly Pointer[]): Unreadable[] {
  const found: Unreadable[] = [];
  const step = (value: Json, path: Path): void => {
    if (value === null || pointers.some((pointer) => isAtOrBelow(path, pointer))) return;
    const isOnTheWay = pointers.some((pointer) => {
      const segments = segmentsOf(pointer);
      return (
        segments.length > path.length && path.every((key, index) => ["*", String(key)].includes(segments[index] ?? ""))
      );
    });
    const inside = isJsonObject(value) || isJsonArray(value) ? Object.entries(value) : undefined;
    if (!isOnTheWay || inside === undefined)
      found.push({ at: pointerOf(path), why: "is a field that the semantics do not explain" });
    else for (const [key, child] of inside) step(child, [...path, key]);
  };
  step(root, []);
  return found;
}
