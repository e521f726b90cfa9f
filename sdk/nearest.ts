import { distance } from "fastest-levenshtein";

/** Returns the name that somebody may have meant, of which at most a third of the letters differ; undefined where none is that near. */
export function nearest<Name extends string>(name: string, names: readonly Name[]): Name | undefined {
  const [first] = names
    .map((each) => ({ each, far: farness(name.toLowerCase(), each.toLowerCase()) }))
    .filter(({ each, far }) => far <= each.length / 3)
    .sort((a, b) => a.far - b.far);
  return first?.each;
}

/** Returns how many slips of the finger make a name of another: two swapped letters are one. */
function farness(name: string, other: string): number {
  return isOneSlip(name, other) ? 1 : distance(name, other);
}

/** Returns ` (did you mean X?)` for the nearest name; "" where none is near. */
export function meant(name: string, names: readonly string[]): string {
  const found = nearest(name, names);
  return found === undefined ? "" : ` (did you mean ${found}?)`;
}

/**
 * Decides whether one slip of the finger makes a name of another: a letter more, less or different, or two swapped letters.
 * It says no for names under four letters, and for those that differ in digits alone.
 */
export function isOneSlip(name: string, other: string): boolean {
  if (Math.abs(name.length - other.length) > 1 || Math.min(name.length, other.length) < 4) return false;
  if (name.replace(/\d/g, "") === other.replace(/\d/g, "")) return false;
  if (distance(name, other) === 1) return true;
  const at = [...name].findIndex((letter, index) => letter !== other[index]);
  const swapped = `${name.slice(0, at)}${name.charAt(at + 1)}${name.charAt(at)}${name.slice(at + 2)}`;
  return swapped === other;
}
