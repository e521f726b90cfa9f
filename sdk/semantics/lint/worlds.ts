import type { Comparison, Condition, Rule } from "../normal-form.ts";
import { comparisonsIn } from "../proof/comparisons.ts";
import { Space } from "../proof/space.ts";
import type { Semantics } from "../schema.ts";
import type { Value } from "../values.ts";

/** Of more fields than this no claim is made that would have to hold however their letters are compared. */
const mostFields = 3;

/**
 * Whether a claim about rules holds in every way in which the service may compare letters, where the semantics do not say: field by
 * field, as A to Z and a to z are alike in a field, or not.
 * @param claim of the rules, with the case of all letters decided
 */
export function holdsHoweverCased(
  rules: readonly Rule[],
  semantics: Semantics,
  instants: readonly Value[],
  claim: (rules: readonly Rule[], space: Space) => boolean,
): boolean {
  const fields = [...new Set(rules.flatMap(fieldsOfUnknownCase))];
  if (fields.length > mostFields) return false;
  return subsetsOf(fields).every((ignoring) => {
    const cased = rules.map((rule) => withCases(rule, (field) => ignoring.includes(field)));
    return claim(cased, new Space(cased, semantics, instants));
  });
}

export function fieldsOfUnknownCase({ when }: Rule): readonly string[] {
  return comparisonsIn(when)
    .filter(({ ignoresCase }) => ignoresCase === null)
    .map(({ field }) => field);
}

/** The rule, with the case of letters decided where it was not known. */
export function withCases(rule: Rule, ignores: (field: string) => boolean): Rule {
  const decided = (condition: Condition): Condition => {
    if (condition.kind === "comparison") return casedComparison(condition, ignores);
    if (condition.kind === "not") return { ...condition, of: decided(condition.of) };
    if (condition.kind === "all" || condition.kind === "any") return { ...condition, of: condition.of.map(decided) };
    return condition;
  };
  return fieldsOfUnknownCase(rule).length === 0 ? rule : { ...rule, when: decided(rule.when) };
}

function casedComparison(comparison: Comparison, ignores: (field: string) => boolean): Comparison {
  return comparison.ignoresCase === null ? { ...comparison, ignoresCase: ignores(comparison.field) } : comparison;
}

function subsetsOf(names: readonly string[]): string[][] {
  return names.reduce<string[][]>((subsets, name) => subsets.flatMap((subset) => [subset, [...subset, name]]), [[]]);
}
