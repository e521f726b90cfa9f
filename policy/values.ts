import { asWritten, canonical, isEqual, type Json, type Pointer, segmentsOf } from "../sdk/json/index.ts";
import type { AnalyzedRule } from "./base/analyzed-rule.ts";
import { noPointerIn, pointer, pointers, valuesByPointer } from "./base/configuration.ts";
import { endsAt } from "./base/places.ts";
import { type PolicyFinding, type RuleFinding, rulePolicy, shown, stackPolicy } from "./base/rule-policy.ts";

/**
 * A rule has a value at each configured pointer; null is none. Where the pointer has a `*`, every element needs one, and
 * a rule without elements passes: name the array itself, too, where it must be there.
 */
export const requiredValues = rulePolicy({
  name: "required-values",
  description: "A rule has a value at each configured pointer.",
  config: {
    pointers: pointers.default([]).describe('Where a value must be: ["/owner", "/actions/*/type"]'),
  },
  idle: ({ pointers }) => noPointerIn(pointers),
  *check(rule, { pointers }) {
    for (const pattern of pointers) {
      // Where the elements themselves are not known, nothing is missing, and yet nothing was checked.
      rule.isUnknown(pattern, "shallow");
      for (const { pointer, value } of endsAt(rule.definition, pattern)) {
        if ((value ?? null) === null && !rule.isUnknown(pointer))
          yield { pointer, found: value === null ? "null" : "nothing", allowed: "a value" };
      }
    }
  },
});

/** Some fields stay away, null included, and others do not have certain values. */
export const forbiddenValues = rulePolicy({
  name: "forbidden-values",
  description: "A rule has no value that a team forbids.",
  config: {
    pointers: pointers.default([]).describe('Where nothing may be: ["/internalNote"]'),
    values: valuesByPointer.describe('Forbidden values by pointer: { "/actions/*/type": ["accept"] }'),
  },
  idle: ({ pointers, values }) => noPointerIn(pointers, values),
  *check(rule, { pointers, values }) {
    for (const pattern of pointers) {
      for (const place of rule.at(pattern, "shallow")) yield { ...place, allowed: "nothing" };
    }
    yield* misfits(rule, values, "shallow", (forbidden, value) =>
      isAmong(value, forbidden) ? `anything but ${forbidden.map(shown).join(", ")}` : undefined,
    );
  },
});

/** The values at a pointer are among those that a team allows. A rule without a value there passes; see `required-values`. */
export const allowedValues = rulePolicy({
  name: "allowed-values",
  description: "A rule has only allowed values at the configured pointers.",
  config: {
    values: valuesByPointer.describe('Allowed values by pointer: { "/currency": ["EUR", "USD"] }'),
  },
  idle: ({ values }) => noPointerIn(values),
  check: (rule, { values }) =>
    misfits(rule, values, "deep", (allowed, value) =>
      isAmong(value, allowed) ? undefined : allowed.map(shown).join(", "),
    ),
});

/**
 * Yields the values at the pointers of a table that its entries do not allow.
 * @param instead returns the allowed values in words; undefined where the value is one of them
 */
export function* misfits<Entry>(
  rule: AnalyzedRule,
  table: Readonly<Record<Pointer, Entry>>,
  depth: "deep" | "shallow",
  instead: (entry: Entry, value: Json, pointer: Pointer) => string | undefined,
): Generator<RuleFinding> {
  for (const [pattern, entry] of Object.entries(table)) {
    for (const place of rule.at(pattern, depth)) {
      const allowed = instead(entry, place.value, place.pointer);
      if (allowed !== undefined) yield { ...place, allowed };
    }
  }
}

/** Returns whether a value equals one of a few, as JSON. */
export function isAmong(value: Json, few: readonly Json[]): boolean {
  return few.some((each) => isEqual(each, value, asWritten));
}

const naturalKey = pointer.refine((text) => !segmentsOf(text).includes("*"), {
  error: "allowed: a JSON Pointer (RFC 6901) without *, because a rule has one natural key",
});

/**
 * No two rules of one connection have the same natural key, whichever resources declare them: the service would see one
 * rule, and the resources would fight over it. A rule without a natural key passes; see `required-values`.
 */
export const uniqueNaturalKeys = stackPolicy({
  name: "unique-natural-keys",
  description: "No two rules of one connection have the same natural key.",
  config: {
    naturalKey: naturalKey
      .nullable()
      .default(null)
      .describe('Where the natural key stands, as rule.naturalKey in the contract: "/name"'),
  },
  idle: ({ naturalKey }) => (naturalKey === null ? "no natural key is configured" : undefined),
  check: (rules, { naturalKey }) => (naturalKey === null ? [] : repeatedValues(rules, naturalKey)),
});

/** Each rule of a connection has a value of its own at the configured pointers; say a priority. Rules without one pass. */
export const uniqueValues = stackPolicy({
  name: "unique-values",
  description: "No two rules of one connection have the same value at a configured pointer.",
  config: {
    pointers: pointers.default([]).describe('Where no two rules may have the same value: ["/priority"]'),
  },
  idle: ({ pointers }) => noPointerIn(pointers),
  check: (rules, { pointers }) => pointers.flatMap((pattern) => [...repeatedValues(rules, pattern)]),
});

/**
 * Yields the values at a pointer that an earlier rule of the same connection has, too. Values are equal as JSON: 1 and
 * 1.0 are, 1 and "1" are not. null is no value. Within one rule a value may be repeated.
 */
function* repeatedValues(rules: readonly AnalyzedRule[], pattern: Pointer): Iterable<PolicyFinding> {
  for (const ofConnection of Map.groupBy(rules, (rule) => rule.connection).values()) {
    const first = new Map<string, AnalyzedRule>();
    for (const rule of ofConnection) {
      for (const place of rule.at(pattern)) {
        if (place.value === null || rule.isUnknown(place.pointer)) continue;
        const value = canonical(place.value, asWritten);
        const other = first.get(value);
        if (other === undefined) first.set(value, rule);
        else if (other !== rule)
          yield { rule, ...place, remark: `which rule ${nameOf(other)} has too`, allowed: "a value of its own" };
      }
    }
  }
}

/** Returns the name of a rule, with its set where it is in one. */
function nameOf({ key, label, resource }: AnalyzedRule): string {
  return key === resource.name ? shown(label) : `${shown(label)} of ${shown(resource.name)}`;
}
