import { type Condition, comparisonsIn, type Rule, textsIn } from "../language/normal-form.ts";
import type { Semantics } from "../language/schema.ts";
import { isEquality } from "../language/schema-words.ts";
import { cased } from "../language/values.ts";
import { Space } from "../proof/space.ts";
import type { Subject } from "./shown.ts";

/** With more fields of unknown case than this, no claim is made: each of them doubles the work. */
const mostFields = 3;

/**
 * Decides whether a claim about rules holds in every way in which the service may compare letters, where the semantics do not say how:
 * field by field, A to Z and a to z are alike, or not.
 * @param claim of the rules, with the case of all letters decided
 */
export function holdsHoweverCased(
  rules: readonly Rule[],
  { semantics, at }: Pick<Subject, "semantics" | "at">,
  claim: (rules: readonly Rule[], space: Space) => boolean,
): boolean {
  const fields = fieldsWhereCaseCounts(rules, semantics);
  if (fields.length > mostFields) return false;
  return subsetsOf(fields).every((ignoring) => {
    const cased = rules.map((rule) => withCases(rule, (field) => ignoring.includes(field)));
    return claim(cased, new Space(cased, semantics, [at]));
  });
}

/**
 * Returns the fields of unknown case in which the case can make a difference to rules. It makes none where texts are compared by equality
 * alone, and no two of them differ in case alone: then the texts split the payments in the same way, with or without case.
 */
function fieldsWhereCaseCounts(rules: readonly Rule[], semantics: Semantics): readonly string[] {
  const comparisons = Map.groupBy(
    rules.flatMap(({ when }) => comparisonsIn(when)).filter(({ operand }) => operand.kind !== "none"),
    ({ field }) => field,
  );
  return [...comparisons].flatMap(([field, own]) => {
    if (own.every(({ ignoresCase }) => ignoresCase !== null)) return [];
    const isPlain = own.every(({ ignoresCase, operator }) => ignoresCase === null && isEquality(operator));
    const so = semantics.payment.fields[field]?.missing ?? semantics.missing;
    const given = typeof so === "object" ? [String(so.value)] : [];
    const texts = new Set([...given, ...own.flatMap(({ operand }) => textsIn(operand))]);
    const spelled = new Set([...texts].map((text) => cased(text, { ignoresCase: true })));
    return isPlain && spelled.size === texts.size ? [] : [field];
  });
}

export function fieldsOfUnknownCase({ when }: Rule): readonly string[] {
  return comparisonsIn(when)
    .filter(({ ignoresCase }) => ignoresCase === null)
    .map(({ field }) => field);
}

/** Returns the rule, with the case of letters decided by `ignores` where it was unknown. */
export function withCases(rule: Rule, ignores: (field: string) => boolean): Rule {
  const decided = (condition: Condition): Condition => {
    if (condition.kind === "comparison")
      return { ...condition, ignoresCase: condition.ignoresCase ?? ignores(condition.field) };
    if (condition.kind === "not") return { ...condition, of: decided(condition.of) };
    if (condition.kind === "all" || condition.kind === "any") return { ...condition, of: condition.of.map(decided) };
    return condition;
  };
  return fieldsOfUnknownCase(rule).length === 0 ? rule : { ...rule, when: decided(rule.when) };
}

function subsetsOf(names: readonly string[]): string[][] {
  return names.reduce<string[][]>((subsets, name) => subsets.flatMap((subset) => [subset, [...subset, name]]), [[]]);
}
