import { beats } from "../evaluate/decide.ts";
import type { Semantics } from "../language/schema.ts";
import type { Box } from "../proof/box.ts";
import { cover, type Owned } from "../proof/cover.ts";
import { Space } from "../proof/space.ts";
import type { Witness } from "../proof/witness.ts";
import { covered, fromNowOn, untoldFields, withoutSpare } from "./claims.ts";
import type { LintFinding } from "./finding.ts";
import { type Examined, evaluated, type Subject, showing } from "./shown.ts";
import { fieldsOfUnknownCase, holdsHoweverCased } from "./worlds.ts";

/** Of one rule no more pieces than this are examined. */
const mostPieces = 1000;
/** Of more earlier rules than this nobody asks which of them are enough. */
const mostPruned = 20;

/**
 * Decides whether a rule decides no payment, because to each payment that it surely applies to, a rule that is asked before it surely
 * applies: one rule, or several together.
 * @returns the finding; undefined where the rule is not shadowed; where that is unknown, the rest of a sentence that says why
 */
export function shadowOf(examined: Examined, subject: Subject): LintFinding | string | undefined {
  const { index, candidate, rule } = examined;
  const { semantics, at, space, around, certain } = subject;
  const { wins } = semantics;
  if (wins.by === "all") return undefined;
  const boxes = certain.get(index);
  if (boxes === undefined) return "its conditions have too many parts";
  if (boxes.length === 0) return undefined;
  const earlier = (point: (variable: number) => number): Owned<Examined> | undefined => {
    for (const found of around.around(point))
      if (found.owner.index !== index && beats(found.owner.candidate, candidate, wins)) return found;
    return undefined;
  };
  const found = cover(boxes, earlier, space, mostPieces);
  if (found.kind === "limit") return "too many rules before it meet it";
  if (found.kind === "open") return undefined;
  const by = [...pruned([...found.by], boxes, subject)].sort((one, other) => one.index - other.index);
  const concerned = [rule, ...by.map((each) => each.rule)];
  if (concerned.some((each) => fieldsOfUnknownCase(each).length > 0)) {
    const isCovered = holdsHoweverCased(concerned, subject, ([own, ...others], small) => {
      const hidden = own === undefined ? undefined : fromNowOn(own, at, small);
      const before = others.flatMap((each) => fromNowOn(each, at, small) ?? []);
      return hidden !== undefined && covered(hidden, before, small).kind === "covered";
    });
    // The evaluator takes each rule by itself: what holds only because one of two must apply, it does not know.
    const own = new Space(concerned, semantics, [at]);
    const [sure = [], ...before] = concerned.map((each) => fromNowOn(each, at, own) ?? []);
    if (!isCovered || covered(sure, before.flat(), own).kind !== "covered") return undefined;
  }
  const witness = showing([rule], subject, (made) => isHidden(made, examined, by, semantics));
  if (witness === undefined) return "no payment that it applies to could be made";
  const { kind, others } = { kind: "shadowed" as const, others: by.map((each) => each.index) };
  return { kind, rule: index, others, witness, because: [], untold: untoldFields(rule, semantics) };
}

/** Returns the rules that together cover the boxes, without those that the others do not need. */
function pruned(by: readonly Examined[], boxes: readonly Box[], { certain, space }: Subject): readonly Examined[] {
  if (by.length > mostPruned) return by;
  return withoutSpare(by, (some) => {
    const own = some.flatMap(({ index }) => certain.get(index) ?? []);
    return covered(boxes, own, space).kind === "covered";
  });
}

/** Returns whether a rule surely applies to a payment, and another one decides it. */
function isHidden(made: Witness, examined: Examined, by: readonly Examined[], semantics: Semantics): boolean {
  // The evaluator takes the order of the list for the service's.
  const listed = [examined, ...by].sort((one, other) => one.index - other.index);
  const unlisted = new Map(
    listed.flatMap(({ candidate }, index): [number, number][] =>
      candidate.unlisted === undefined ? [] : [[index, candidate.unlisted]],
    ),
  );
  const place = listed.indexOf(examined);
  const rules = listed.map(({ rule }) => rule);
  const { decision, rules: traces } = evaluated(made, rules, semantics, unlisted);
  const deciding = decision.kind === "decided" ? decision.by : decision.because;
  return traces[place]?.applies === "true" && !deciding.includes(place);
}
