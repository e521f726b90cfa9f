import type { Condition } from "../language/normal-form.ts";

/** A part of a rule's conditions, or its opposite. */
export interface Literal {
  readonly condition: Condition;
  readonly isFlipped: boolean;
}

/** Literals that must all hold. */
export type Term = readonly Literal[];

/** A rule with more terms keeps a part of its conditions whole. */
const mostTerms = 64;

/**
 * Returns terms of which one is enough for a condition to hold (its disjunctive normal form). "Surely" and "possibly" both distribute
 * over all and any once negation has moved to the leaves, so the terms are exact for both.
 */
export function termsOf(condition: Condition, isFlipped = false): readonly Term[] {
  switch (condition.kind) {
    case "always":
    case "never":
      return (condition.kind === "always") === isFlipped ? [] : [[]];
    case "not":
      return termsOf(condition.of, !isFlipped);
    case "comparison":
      return [[{ condition, isFlipped }]];
    case "all":
    case "any": {
      const parts = condition.of.map((each) => termsOf(each, isFlipped));
      const terms = (condition.kind === "all") === isFlipped ? parts.flat() : productOf(parts);
      return terms === undefined || terms.length > mostTerms ? [[{ condition, isFlipped }]] : terms;
    }
  }
}

/** Returns every way to join one term of each part; undefined where these are more than {@link mostTerms}. */
function productOf(parts: readonly (readonly Term[])[]): readonly Term[] | undefined {
  let terms: readonly Term[] = [[]];
  for (const part of parts) {
    if (terms.length * part.length > mostTerms) return undefined;
    terms = terms.flatMap((term) => part.map((other) => [...term, ...other]));
  }
  return terms;
}
