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
 * Conditions as terms of which one is enough. Both of what a rule surely and possibly applies to are all and any of the same of its
 * parts, without negation once that has moved to the leaves; so what is told of the terms is exact.
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

/** One term of each part, joined, in every way; undefined of too many. */
function productOf(parts: readonly (readonly Term[])[]): readonly Term[] | undefined {
  let terms: readonly Term[] = [[]];
  for (const part of parts) {
    if (terms.length * part.length > mostTerms) return undefined;
    terms = terms.flatMap((term) => part.map((other) => [...term, ...other]));
  }
  return terms;
}
