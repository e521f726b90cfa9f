import { distance } from "fastest-levenshtein";

/** The name that somebody may have meant: at most a third of its letters are others. Undefined where none is that near. */
export function nearest<Name extends string>(name: string, names: readonly Name[]): Name | undefined {
  const [first] = names
    .map((each) => ({ each, far: distance(name.toLowerCase(), each.toLowerCase()) }))
    .filter(({ each, far }) => far <= each.length / 3)
    .sort((a, b) => a.far - b.far);
  return first?.each;
}

/** ` (did you mean X?)` for the nearest name, and nothing where none is near. */
export function meant(name: string, names: readonly string[]): string {
  const found = nearest(name, names);
  return found === undefined ? "" : ` (did you mean ${found}?)`;
}

/**
 * True of two names that one slip of the finger makes of each other: a letter more, less or another, or two that changed
 * places. Names under four letters, and those that differ in digits alone, are names of their own.
 */
export function isOneSlip(name: string, other: string): boolean {
  if (Math.abs(name.length - other.length) > 1 || Math.min(name.length, other.length) < 4) return false;
  if (name.replace(/\d/g, "") === other.replace(/\d/g, "")) return false;
  if (distance(name, other) === 1) return true;
  const at = [...name].findIndex((letter, index) => letter !== other[index]);
  const swapped = `${name.slice(0, at)}${name.charAt(at + 1)}${name.charAt(at)}${name.slice(at + 2)}`;
  return swapped === other;
}
