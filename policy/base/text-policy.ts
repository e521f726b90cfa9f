import type { ResourceValidationPolicy } from "@pulumi/policy";
import { isJsonObject, segmentsOf } from "../../sdk/rules/index.ts";
import { pointers } from "./configuration.ts";
import type { Place } from "./places.ts";
import { rulePolicy } from "./rule-policy.ts";

/** A piece of a text that may not be in a rule. */
export interface Spot {
  readonly start: number;
  readonly end: number;
  /** In words that hold nothing of it. */
  readonly what: string;
}

interface TextPolicyOptions {
  readonly name: string;
  readonly description: string;
  /** The words that stand in messages for such a piece: of a key, or of the name of a field. */
  readonly hidden: string;
  /** The pieces of a text that may not be there; they may overlap. */
  readonly spots: (text: string) => Iterable<Spot>;
  /** The forbidden content of a field of a name, in words that hold nothing of it. */
  readonly inField?: (text: string, name: () => string) => string | undefined;
}

/**
 * A policy about every text of a rule: its key, the names of its fields, its strings and its whole numbers. No message
 * holds what was found.
 */
export function textPolicy({
  name,
  description,
  hidden,
  spots,
  inField = () => undefined,
}: TextPolicyOptions): ResourceValidationPolicy {
  const foundIn = (text: string): string | undefined => {
    for (const { what } of spots(text)) return what;
    return undefined;
  };
  const foundAt = (place: Place): string | undefined => {
    const { value } = place;
    if (typeof value === "string") return foundIn(value) ?? inField(value, () => nameOf(place.pointer));
    // What stands behind the point of a number is no identifier.
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

/** The name of the field that holds a value; of an element, that of the field with the list. */
function nameOf(pointer: string): string {
  return segmentsOf(pointer).findLast((segment) => !/^\d+$/.test(segment)) ?? "";
}

/** The text with each spot, and each run of spots that overlap, replaced. */
function hide(text: string, spots: Iterable<Spot>, hidden: string): string {
  let [shown, reached] = ["", 0];
  for (const { start, end } of [...spots].sort((a, b) => a.start - b.start)) {
    if (start >= reached) shown += text.slice(reached, start) + hidden;
    reached = Math.max(reached, end);
  }
  return shown + text.slice(reached);
}

/** Blanks, points, hyphens and dashes: people put one of them between the groups of a number. */
const separator = "[\\p{Zs}\\t.\\p{Pd}]";

/** The characters and the length of a number. */
export interface Grouping {
  readonly run: RegExp;
  readonly group: RegExp;
  readonly shortest: number;
  readonly longest: number;
}

/** Numbers of the characters that a class such as `\\d` stands for. */
export function grouping(character: string, shortest: number, longest: number): Grouping {
  const run = new RegExp(`${character}(?:${separator}?${character}){${shortest - 1},}`, "gu");
  return { run, group: new RegExp(`${character}+`, "gu"), shortest, longest };
}

/**
 * Every text of the right length that whole groups make without the single separators between them. So what is glued to
 * more of its kind is none.
 */
export function* grouped(
  text: string,
  { run, group, shortest, longest }: Grouping,
): Generator<{ readonly start: number; readonly end: number; readonly joined: string }> {
  if (text.length < shortest) return;
  for (const { 0: found, index: begin } of text.matchAll(run)) {
    const groups = [...found.matchAll(group)];
    for (const [from, { index: start }] of groups.entries()) {
      let joined = "";
      for (const { 0: piece, index } of groups.slice(from, from + longest)) {
        joined += piece;
        if (joined.length > longest) break;
        if (joined.length >= shortest) yield { start: begin + start, end: begin + index + piece.length, joined };
      }
    }
  }
}
