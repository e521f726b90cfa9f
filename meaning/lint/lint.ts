import { beats } from "../evaluate/decide.ts";
import type { Condition, Rule } from "../language/normal-form.ts";
import type { Semantics } from "../language/schema.ts";
import { compareValues, type Value } from "../language/values.ts";
import type { Box } from "../proof/box.ts";
import type { RulesOfSide } from "../proof/changes.ts";
import { BoxIndex, type Owned } from "../proof/cover.ts";
import { Space } from "../proof/space.ts";
import { fromNowOn, matchesAll, neverMatches, sameText, untoldFields, withoutSpare } from "./claims.ts";
import { conflictsOf } from "./conflicts.ts";
import type { LintFinding, LintResult } from "./finding.ts";
import { shadowOf } from "./shadow.ts";
import { type Examined, evaluated, type Subject, showing, showingAll } from "./shown.ts";
import { fieldsOfUnknownCase, holdsHoweverCased, withCases } from "./worlds.ts";

export interface LintOptions {
  /** The present. */
  readonly at: Value;
  /** A rule that ends until then ends soon. Default: no rule does. */
  readonly soon?: Value | undefined;
}

/**
 * Finds the faults of rules that can be proven of all payments, from the present on.
 * @param side the rules, in the order in which the service lists them
 */
export function lint({ rules, unlisted }: RulesOfSide, semantics: Semantics, { at, soon }: LintOptions): LintResult {
  const findings: LintFinding[] = [];
  const notExamined: { rule: number; why: string }[] = [];
  const disabled: number[] = [];
  const all: Examined[] = [];
  for (const [index, reading] of rules.entries()) {
    if (reading.kind === "unknown") continue;
    const { rule } = reading;
    const candidate = { index, outcome: rule.outcome, order: rule.order, unlisted: unlisted?.get(index) };
    if (rule.force.isEnabled) all.push({ index, rule, candidate });
    else disabled.push(index);
  }
  const subject = subjectOf(all, semantics, at);
  const add = (finding: LintFinding | undefined): void => {
    if (finding !== undefined) findings.push(finding);
  };
  for (const examined of all) {
    if (subject.certain.get(examined.index) === undefined)
      notExamined.push({ rule: examined.index, why: "its conditions have too many parts" });
    add(neverOf(examined, subject) ?? endOf(examined, subject, soon));
  }
  const gone = new Set(findings.filter(({ kind }) => kind !== "ends-soon").map(({ rule }) => rule));
  const live = all.filter(({ index }) => !gone.has(index) && subject.certain.get(index) !== undefined);
  const inForce = { ...subject, ...ordered(live, subject) };
  const duplicates = duplicatesIn(inForce);
  findings.push(...duplicates);
  const alike = new Set(duplicates.map(({ rule }) => rule));
  for (const examined of inForce.rules) {
    add(catchAllOf(examined, inForce));
    if (alike.has(examined.index)) continue;
    const shadow = shadowOf(examined, inForce);
    if (typeof shadow === "string") notExamined.push({ rule: examined.index, why: shadow });
    else add(shadow);
  }
  const conflicts = conflictsOf({ ...inForce, rules: inForce.rules.filter(({ index }) => !alike.has(index)) });
  findings.push(...conflicts.findings);
  notExamined.push(...conflicts.notExamined);
  return { findings, notExamined, disabled };
}

function subjectOf(all: readonly Examined[], semantics: Semantics, at: Value): Subject {
  const plain = new Map(all.map(({ index, rule }) => [index, withCases(rule, () => false)]));
  const space = new Space([...plain.values()], semantics, [at]);
  const certain = new Map<number, readonly Box[]>();
  for (const [index, rule] of plain) {
    const boxes = fromNowOn(rule, at, space);
    if (boxes !== undefined) certain.set(index, boxes);
  }
  const base = { semantics, at, rules: all, space, plain, certain };
  return { ...base, around: new BoxIndex<Examined>([], space) };
}

/** Returns the rules in the order in which they are asked, and an index of their boxes. */
function ordered(live: readonly Examined[], { certain, semantics, space }: Subject): Pick<Subject, "rules" | "around"> {
  const { wins } = semantics;
  const rules = [...live].sort((one, other) => {
    if (beats(one.candidate, other.candidate, wins)) return -1;
    return beats(other.candidate, one.candidate, wins) ? 1 : one.index - other.index;
  });
  const boxes = rules.flatMap((owner) =>
    (certain.get(owner.index) ?? []).map((box): Owned<Examined> => ({ box, owner })),
  );
  return { rules, around: new BoxIndex(boxes, space) };
}

const nothing = { others: [], because: [], untold: [], witness: undefined };

function neverOf({ index, rule }: Examined, subject: Subject): LintFinding | undefined {
  const { semantics, plain, space } = subject;
  const { from, until } = rule.force;
  if (from !== undefined && until !== undefined) {
    const order = compareValues(from.instant, until.instant);
    if (order > 0 || (order === 0 && !(from.counts && until.counts)))
      return { ...nothing, kind: "never-matches", rule: index };
  }
  // The time of force is no part of this: a rule that has ended is another fault.
  const always = { ...(plain.get(index) ?? rule), force: { isEnabled: true, from: undefined, until: undefined } };
  if (!neverMatches(always, space)) return undefined;
  const own = { ...rule, force: always.force };
  const isNever = (of: Condition): boolean =>
    holdsHoweverCased(
      [{ ...own, when: of }],
      subject,
      ([only], small) => only !== undefined && neverMatches(only, small),
    );
  if (!isNever(rule.when)) return undefined;
  // The parts that contradict each other.
  const because = withoutSpare(conjunctsOf(rule.when), (of) => isNever({ kind: "all", at: rule.when.at, of }));
  return { ...nothing, kind: "never-matches", rule: index, because, untold: untoldFields(rule, semantics) };
}

function endOf(examined: Examined, subject: Subject, soon: Value | undefined): LintFinding | undefined {
  const { index, rule } = examined;
  const { until } = rule.force;
  if (until === undefined) return undefined;
  const isBy = (instant: Value): boolean => {
    const order = compareValues(until.instant, instant);
    return order < 0 || (order === 0 && !until.counts);
  };
  const { at, semantics } = subject;
  if (isBy(at)) {
    const open: Rule = { ...rule, force: { isEnabled: true, from: undefined, until: undefined } };
    const witness = showing(
      [open],
      subject,
      (made) => {
        const [whenOpen, now] = evaluated(made, [open, rule], semantics).rules;
        return whenOpen?.applies === "true" && now?.applies === "false";
      },
      true,
    );
    return witness && { ...nothing, kind: "ended", rule: index, witness };
  }
  if (soon === undefined || !isBy(soon)) return undefined;
  const witness = showingAll([rule], subject);
  return witness && { ...nothing, kind: "ends-soon", rule: index, witness };
}

function catchAllOf({ index, rule }: Examined, subject: Subject): LintFinding | undefined {
  const { certain, at, space } = subject;
  if (!matchesAll(certain.get(index) ?? [], at, space)) return undefined;
  const isAll = holdsHoweverCased([rule], subject, ([only], small) => {
    const boxes = only === undefined ? undefined : fromNowOn(only, at, small);
    return boxes !== undefined && matchesAll(boxes, at, small);
  });
  if (!isAll) return undefined;
  const witness = showingAll([rule], subject);
  return witness && { ...nothing, kind: "catch-all", rule: index, witness };
}

/** Finds rules that apply to the same payments and have the same outcome: of two of them, the one that is asked later. */
function duplicatesIn(subject: Subject): LintFinding[] {
  const { rules, plain, space } = subject;
  const groups = Map.groupBy(rules, ({ index, rule: { outcome } }) => {
    const rule = plain.get(index);
    const text = rule === undefined ? undefined : sameText(rule, space);
    return text === undefined ? index : `${outcome} ${text}`;
  });
  return [...groups.values()].flatMap(([first, ...others]) =>
    others.flatMap((other): LintFinding[] => {
      if (first === undefined) return [];
      const both = [first.rule, other.rule];
      const isSame =
        both.every((rule) => fieldsOfUnknownCase(rule).length === 0) ||
        holdsHoweverCased(both, subject, (cased, small) => {
          const texts = cased.map((rule) => sameText(rule, small));
          return texts[0] !== undefined && texts[0] === texts[1];
        });
      const witness = isSame ? showingAll(both, subject) : undefined;
      return witness === undefined
        ? []
        : [{ ...nothing, kind: "duplicate", rule: other.index, others: [first.index], witness }];
    }),
  );
}

/** Returns the conditions that must all hold, also those inside nested groups of the kind `all`. */
function conjunctsOf(condition: Condition): readonly Condition[] {
  return condition.kind === "all" ? condition.of.flatMap(conjunctsOf) : [condition];
}
