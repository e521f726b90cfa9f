import type { ResourceValidationPolicy } from "@pulumi/policy";
import { isJsonObject, segmentsOf } from "../../sdk/json/index.ts";
import { pointers } from "./configuration.ts";
import type { PlacedValue } from "./places.ts";
import { rulePolicy } from "./rule-policy.ts";

/** A piece of a string that may not be in a rule. */
export interface TextSpot extends Span {
  /** What it is, in words that contain nothing of it. */
  readonly what: string;
}

interface TextPolicyOptions {
  readonly name: string;
  readonly description: string;
  /** The words that stand in messages for such a piece: of a key, or of the name of a field. */
  readonly hidden: string;
  /** Returns the pieces of a string that may not be there; they may overlap. */
  readonly spots: (text: string) => Iterable<TextSpot>;
  /** Returns what is forbidden in a field with a name, in words that contain nothing of it; undefined where nothing is. */
  readonly inField?: (text: string, name: () => string) => string | undefined;
}

/**
 * Returns a policy about every string of a rule: its key, the names of its fields, its values, and its integers. No message
 * contains what was found.
 */
export function textPolicy({
  name,
  description,
  hidden,
  spots,
  inField = () => undefined,
}: TextPolicyOptions): ResourceValidationPolicy {
  const foundIn = (text: string): string | undefined => [...spots(text)][0]?.what;
  const foundAt = (place: PlacedValue): string | undefined => {
    const { value } = place;
    if (typeof value === "string") return foundIn(value) ?? inField(value, () => nameOf(place.pointer));
    // Digits behind the point of a number are no identifier.
    return typeof value === "number" && Number.isInteger(value) ? foundIn(String(value)) : undefined;
  };
  return rulePolicy({
    name,
    description,
    config: {
      except: pointers.default([]).describe("Pointers to values that are not looked at, with all that is in them"),
    },
    redact: (name) => hide(name, spots(name), hidden),
    *check(rule, { except }) {
      const inKey = foundIn(rule.key ?? "");
      if (inKey !== undefined) yield { pointer: "", found: `${inKey} in its key`, allowed: "none" };
      for (const place of rule.everywhere(except)) {
        const found = foundAt(place);
        if (found !== undefined) yield { pointer: place.pointer, found, allowed: "none" };
        for (const field of isJsonObject(place.value) ? Object.keys(place.value) : []) {
          const inName = foundIn(field);
          if (inName !== undefined)
            yield { pointer: place.pointer, found: `${inName} in the name of a field`, allowed: "none" };
        }
      }
    },
  });
}

/** Returns the name of the field that holds a value; for an element, that of the field with the array. */
function nameOf(pointer: string): string {
  return segmentsOf(pointer).findLast((segment) => !/^\d+$/.test(segment)) ?? "";
}

/** Returns the string with each spot, and each run of overlapping spots, replaced. */
function hide(text: string, spots: Iterable<TextSpot>, hidden: string): string {
  let [shown, reached] = ["", 0];
  for (const { start, end } of [...spots].sort((a, b) => a.start - b.start)) {
    if (start >= reached) shown += text.slice(reached, start) + hidden;
    reached = Math.max(reached, end);
  }
  return shown + text.slice(reached);
}

/**
 * Characters that people and programs put between the groups of a number, also ` - ` and a line break: blanks, marks, dashes. Of
 * what has no width nothing is left by then.
 */
const separator = "[\\s.,/_\\p{Pd}]{0,3}";

/** Returns how numbers look whose characters are of a class such as `\\d`, and how many characters they have. */
export function grouping(character: string, shortest: number, longest: number) {
  const run = new RegExp(`${character}(?:${separator}${character}){${shortest - 1},}`, "gu");
  return { run, group: new RegExp(`${character}+`, "gu"), shortest, longest };
}

/** A place in a string. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Yields every number of the right length that whole groups make, without the separators between them; a group that is
 * longer is none. The search is in the string as people read it: full-width characters count as the usual ones, and
 * characters without width do not count.
 */
export function* grouped(
  text: string,
  { run, group, shortest, longest }: ReturnType<typeof grouping>,
): Generator<Span & { readonly joined: string }> {
  if (text.length < shortest) return;
  const { plain, placeOf } = asRead(text);
  for (const { 0: found, index: begin } of plain.matchAll(run)) {
    const groups = [...found.matchAll(group)];
    for (const [from, { index: start }] of groups.entries()) {
      let joined = "";
      for (const { 0: piece, index } of groups.slice(from, from + longest)) {
        joined += piece;
        if (joined.length > longest) break;
        if (joined.length >= shortest)
          yield { start: placeOf(begin + start).start, end: placeOf(begin + index + piece.length - 1).end, joined };
      }
    }
  }
}

/**
 * Returns a string as people read it (`plain`): compatibility forms (NFKC), without marks and characters that have no width; and
 * `placeOf`, which returns the place in the original string of a character of `plain`.
 */
function asRead(text: string): { readonly plain: string; readonly placeOf: (index: number) => Span } {
  // Most strings of a rule are ASCII.
  if (/^[\x20-\x7e]*$/.test(text)) return { plain: text, placeOf: (index) => ({ start: index, end: index + 1 }) };
  const places: Span[] = [];
  let plain = "";
  let end = 0;
  for (const character of text) {
    const start = end;
    end += character.length;
    const read = character.normalize("NFKC").replace(/[\p{Cf}\p{Mn}\p{Me}]/gu, "");
    plain += read;
    for (let unit = 0; unit < read.length; unit += 1) places.push({ start, end });
  }
  return { plain, placeOf: (index) => places[index] ?? { start: text.length, end: text.length } };
}
